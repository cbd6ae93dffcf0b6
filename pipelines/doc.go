// Package pipelines runs whole jobs: a Job says what is to be recovered from
// which table and how, and Run does it, from the file with the samples to the
// files with the network, its certificate and its score.
//
//	job := pipelines.Job{Input: "expression.parquet", Out: "network"}
//	result, err := pipelines.Run(ctx, job, pipelines.Host{})
//	if err != nil {
//		return err // a *JobError is the user's to put right
//	}
//	for _, s := range result.Solvers {
//		fmt.Println(s.Name, s.Status, s.Edges)
//	}
//
// The command line, the plugin and batches all fill the same Job, which reads
// and writes as YAML and JSON and has a JSON Schema. Evaluate scores a list of
// edges that exists already.
//
// The package joins arrowio and the solvers, which do not know each other. It
// prints nothing, logs nothing and starts no process: what happens meanwhile
// it tells the Host, what came of it is the Result.
package pipelines

// Version is the version of gladflow, as it stands in every file it writes.
const Version = "0.1.0"
