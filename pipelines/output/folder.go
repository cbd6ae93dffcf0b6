// Package output is what runs share that leave files in a folder: the folder
// itself, the JSON document that says what was done, and the metadata of tables.
package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// A Folder is one that files are written to.
type Folder struct {
	path string
	made bool // by OpenFolder
}

// OpenFolder makes the folder where it is missing, and tries whether files can be
// written there. An error is a *job.Error of the field that names the folder.
func OpenFolder(field, path string) (*Folder, error) {
	_, err := os.Stat(path)
	f := &Folder{path: path, made: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder cannot be made (%v); choose another", err), Err: err}
	}
	trial, err := os.CreateTemp(path, ".gladflow-*.tmp")
	if err != nil {
		f.Discard()
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder cannot be written to (%v); choose another", err), Err: err}
	}
	trial.Close()
	return f, os.Remove(trial.Name())
}

// Path is that of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Discard removes the folder if OpenFolder has made it and nothing is in it. It
// is for runs that fail before they have anything to write. f may be nil.
func (f *Folder) Discard() {
	if f != nil && f.made {
		os.Remove(f.path) // fails if it is not empty
	}
}

// WriteJSON writes v, indented, to a file of the folder, whole or not at all.
func (f *Folder) WriteJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return arrowio.ReplaceFile(f.Path(name), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// Keys of the metadata of tables that several rooms write or read.
const (
	MetaVersion    = "gladflow.version"
	MetaDirected   = "gladflow.directed"
	MetaVariables  = "gladflow.variables"
	MetaDeviations = "gladflow.standard_deviations"
)

// A Table is columns with the metadata of their schema.
type Table struct {
	Columns  []arrowio.Column
	Metadata map[string]string
}

// JSON is v as the metadata have it. It is for values that have a JSON form.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Number is v with all its digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
