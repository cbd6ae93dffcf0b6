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
	"os"
	"path/filepath"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// A Folder is a folder that files are written to. It is opened once: if its path
// leads elsewhere later, the files still get into the folder that was opened.
type Folder struct {
	root   *os.Root
	path   string
	remove func() // of what OpenFolder has made
}

// OpenFolder creates the folder, and those it lies in, where they are missing,
// opens it and checks that files can be written there. An error is a *job.Error of
// the field that names the folder. The caller closes it.
func OpenFolder(field, path string) (*Folder, error) { return OpenFolderIn(nil, field, path) }

// OpenFolderIn is OpenFolder for a path that root opens; nil for any folder of this
// machine. A path out of root's folder is a *job.Error that wraps an
// *arrowio.OutsideError.
func OpenFolderIn(root *arrowio.Root, field, path string) (*Folder, error) {
	opened, remove, err := root.OpenFolder(path)
	if err != nil {
		reason := fmt.Sprintf("the folder cannot be made or opened (%v); choose another", job.Cause(err))
		if outside := (*arrowio.OutsideError)(nil); errors.As(err, &outside) {
			reason = arrowio.Redacted(path) + ": " + outside.Error()
		}
		return nil, &job.Error{Field: field, Reason: reason, Err: err}
	}
	f := &Folder{root: opened, path: path, remove: remove}
	if err := arrowio.CheckWritable(f.root); err != nil {
		f.Discard()
		f.Close()
		return nil, &job.Error{Field: field, Reason: fmt.Sprintf("the folder %s cannot be written to (%v); choose another", path, job.Cause(err)), Err: err}
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
	if f != nil {
		f.remove()
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
	MetaSolver     = "gladflow.solver"
	MetaDirected   = "gladflow.directed"
	MetaVariables  = "gladflow.variables"
	MetaDeviations = "gladflow.standard_deviations"
	// MetaUnitDeviations are those by which a precision matrix in original units was
	// divided, where they are not MetaDeviations: see covariance.ShrunkDeviations.
	MetaUnitDeviations = "gladflow.unit_deviations"
	MetaSamples        = "gladflow.samples" // how many
	MetaMatrix         = "gladflow.matrix"  // which one
	MetaUnits          = "gladflow.units"   // job.UnitsStandardised or job.UnitsOriginal
	MetaSeed           = "gladflow.seed"
	// MetaMetrics are job.SolverResult's Metrics, with the checksum of the reference and the
	// population (job.PopulationResult's Text) that they are of.
	MetaMetrics         = "gladflow.metrics"
	MetaReferenceSHA256 = "gladflow.reference_sha256"
	MetaPopulation      = "gladflow.population"
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
