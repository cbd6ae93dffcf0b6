// Package plugin is the side of a host: it starts gladflow as a plugin, or
// attaches to one that serves, streams tables of samples to it and takes
// networks back.
//
//	client, err := plugin.Launch(ctx, plugin.Config{Path: "gladflow"})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	run, err := client.Recover(ctx, job.Job{Solvers: []string{"bcd"}}, samples)
//	if err != nil {
//		return err // a *protocol.Fault says which field or column is wrong
//	}
//	edges, err := run.Edges(ctx, "bcd")
//	if err != nil {
//		return err
//	}
//	defer edges.Release()
//	for edges.Next() {
//		fmt.Println(edges.Record())
//	}
//	return edges.Err()
//
// Samples are an array.RecordReader: rows are samples; columns are variables
// by name, or one FixedSizeList column holds whole samples. Exchange does the
// above in one call, for one solver.
//
// It is for hosts on github.com/apache/arrow/go/v15. Any other uses package
// protocol and its own Flight client: a process cannot hold the Flight packages
// of two versions of Arrow.
//
// # Errors
//
// Errors of the service are a *protocol.Fault in the chain of errors.As, with
// the field, column, solver or run at fault; they are gRPC statuses too, for
// status.Code. Where the caller's context has ended, errors.Is finds its error
// also. ErrClosed is that of calls after Close.
//
// A Restarter launches another plugin when one has died.
//
// # Lifetimes
//
// A Client and its Runs may be used by many goroutines at once; a reader, as
// usual, by one. Readers that are returned stream: whoever has one Releases it,
// which also ends its call. No call touches a reader of samples after it has
// returned, or, where a reader is returned, after that has ended or was
// released; it is the caller's to release.
package plugin
