// Package arrowio reads what a recovery starts from and writes what it ends
// with: tables of samples, covariances, edge lists, reference networks and
// precision matrices, as Parquet, Arrow IPC and CSV or TSV.
//
// Samples are streamed in row-major blocks of at most about 2 MB, so that a
// table need not fit into memory:
//
//	samples, err := arrowio.OpenSamples(ctx, "expression.tsv.gz",
//		arrowio.SampleOptions{IDColumn: "condition"})
//	if err != nil {
//		return err
//	}
//	defer samples.Close()
//	for {
//		rows, n, err := samples.Next() // n×len(samples.Names())
//		if err == io.EOF {
//			break
//		}
//		...
//	}
//
// What is wrong with a file is an *InputError, which names the file, the
// column and the line or row, and advises an option as data; all other errors
// are failures of the machine.
// Files are written under a temporary name and renamed: a file that is there
// is whole.
//
// A path may be a URL where SampleOptions.Stores or ListOptions.Stores open it:
// package store has stores for clouds and web servers, and this package links
// none. EdgeFormats, PrecisionFormats and TableFormats list the ways to write
// each kind of output.
//
// The package estimates nothing and knows of no solver. Arrow's reference
// counting stays inside: nothing that it returns has to be released, except
// Samples by Close.
package arrowio
