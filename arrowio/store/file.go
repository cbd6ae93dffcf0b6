package store

import (
	"context"
	"io"

	"github.com/gladflow/gladflow/arrowio"
)

// File opens files of this machine, file:///data/samples.csv.
func File() Store { return Store{schemes: []string{"file"}, open: openFile} }

// openFile opens the file itself, so that it can be read by position.
func openFile(_ context.Context, l location) (io.ReadCloser, error) {
	path, ok := arrowio.LocalPath(l.String())
	if !ok {
		return nil, fault(l.name, "a file URL holds a whole path and nothing else, such as file:///data/samples.csv")
	}
	return arrowio.OpenFile(path, l.name)
}
