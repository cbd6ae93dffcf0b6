// Package batch holds what the two ends of a stream of Arrow batches need: a
// reader of IPC messages that trusts none of them, and the size of the batches
// that are read and sent.
//
//	records, err := batch.NewReader(next, nil) // next: a message of Flight
//	...
//	err = batch.Split(record, batch.Bytes, writer.Write)
//
// It depends on Arrow's array and ipc packages alone, so that a host that
// streams tables links no file format, no solver and no cloud.
package batch
