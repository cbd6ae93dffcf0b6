// Package output has what runs share that write files into a folder: the folder
// itself, the JSON document that says what was done, and the metadata of tables.
//
//	folder, err := output.OpenFolder("out", j.Out)
//	if err != nil {
//		return err // a *job.Error of the field out
//	}
//	return folder.WriteJSON("run.json", result)
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

// A Folder is a folder that files are written to.
type Folder struct {
	path    string
	created bool // by OpenFolder
}

// OpenFolder creates the folder, and those it lies in, where they are missing, and
// checks that files can be written there. An error is a *job.Error of the field
// that names the folder.
func OpenFolder(field, path string) (*Folder, error) {
	_, err := os.Lstat(path) // a link that leads nowhere was there before
	f := &Folder{path: path, created: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder cannot be made (%v); choose another", job.Cause(err)), Err: err}
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

// Discard removes the folder if OpenFolder has created it and it is empty. A run
// calls it that fails before it has written anything. f may be nil.
func (f *Folder) Discard() {
	if f != nil && f.created {
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
	MetaSamples    = "gladflow.samples" // how many
	MetaMatrix     = "gladflow.matrix"  // which one
	MetaUnits      = "gladflow.units"   // job.UnitsStandardised or job.UnitsOriginal
	MetaSeed       = "gladflow.seed"
)

// A Table is columns with the metadata of their schema.
type Table struct {
	Columns  []arrowio.Column
	Metadata map[string]string
}

// JSON is v as text for metadata. It panics if v has no JSON form.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Number is v as text for metadata, with all its digits.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
