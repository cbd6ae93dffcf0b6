// Package output has what runs share that write files into a folder: the folder
// itself, the JSON document that says what was done, and the metadata of tables.
//
//	folder, err := output.OpenFolder("out", j.Out)
//	if err != nil {
//		return err // a *job.Error of the field out
//	}
//	defer folder.Close()
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

// A Folder is a folder that files are written to. It is opened once: if its path
// leads elsewhere later, the files still get into the folder that was opened.
type Folder struct {
	root    *os.Root
	path    string
	created bool // by OpenFolder
}

// OpenFolder creates the folder, and those it lies in, where they are missing,
// opens it and checks that files can be written there. An error is a *job.Error of
// the field that names the folder. The caller closes it.
func OpenFolder(field, path string) (*Folder, error) {
	_, err := os.Lstat(path) // a link that leads nowhere was there before
	f := &Folder{path: path, created: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder cannot be made (%v); choose another", err), Err: err}
	}
	if f.root, err = os.OpenRoot(path); err != nil {
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder cannot be opened (%v); choose another", err), Err: err}
	}
	if err := arrowio.CheckWritable(f.root); err != nil {
		f.Discard()
		f.Close()
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder %s cannot be written to (%v); choose another", path, err), Err: err}
	}
	return f, nil
}

// Path is that of a file in the folder, for people and for readers.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Root is the open folder, for the writers of package arrowio. It is closed with
// the Folder.
func (f *Folder) Root() *os.Root { return f.root }

// Close closes the folder. f may be nil.
func (f *Folder) Close() {
	if f != nil {
		f.root.Close()
	}
}

// Discard removes the folder if OpenFolder has created it and it is empty. A run
// calls it that fails before it has written anything. f may be nil.
func (f *Folder) Discard() {
	if f == nil || !f.created {
		return
	}
	// What lies at the path by now may be another's.
	is, err := f.root.Stat(".")
	there, missing := os.Lstat(f.path)
	if err == nil && missing == nil && os.SameFile(is, there) {
		os.Remove(f.path) // fails if it is not empty
	}
}

// WriteJSON writes v, indented, to a file of the folder, whole or not at all.
func (f *Folder) WriteJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = arrowio.ReplaceFileIn(f.root, name, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
	return err
}

// Listed is how a document lists files that were written.
func Listed(files []arrowio.Written) []job.WrittenFile {
	list := make([]job.WrittenFile, len(files))
	for i, f := range files {
		list[i] = job.WrittenFile(f)
	}
	return list
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
