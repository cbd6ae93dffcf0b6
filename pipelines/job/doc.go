// Package job holds the documents that say what is to be done and what was
// done: Job, Training, Simulation and Evaluation, the Result of a job, and what
// a build says of itself. It reads, checks and writes them, and describes their
// fields for those who make flags, forms or a schema of them.
//
//	j, err := job.Read(strings.NewReader("input: expression.parquet\nout: network\n"))
//	if err != nil {
//		return err // a *job.Error names the line and the key
//	}
//
// It is light: it knows no solver, no engine, no format of files and no store,
// so that a host which only sends jobs to a service links none of them. What is
// done with a document stands in the packages beside it: recovery, training,
// simulation and evaluation.
//
// # Tags
//
// What is to be known of a field stands in its tags, and nowhere else:
//
//   - json: the key; the flag of the command line has dashes for underscores
//   - jsonschema: required, enum, default, minimum, maximum, pattern
//   - jsonschema_description: the line of help
//   - file: that the field names files: see File
//   - words: words that a Value may be besides a number
//   - flag: the flag of the command line, where it is not the key
//
// Names that only the program knows, such as those of the solvers, come in as
// Facts.
package job
