package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// A File is a single file that a document names, in a folder that is open. It is
// opened before a run computes, and written when the run has something to write.
type File struct {
	folder *Folder
	name   string
}

// OpenFileIn opens the folder of a file as OpenFolderIn does, and checks that the file
// can be written: there may be one already, but it must be regular. An error is a
// *job.Error of the field that names the file. The caller closes the File.
func OpenFileIn(root *arrowio.Root, field, path string) (*File, error) {
	at, name := filepath.Split(path)
	if at == "" {
		at = "."
	}
	folder, err := OpenFolderIn(root, field, at)
	if err != nil {
		return nil, err
	}
	f := &File{folder, name}
	info, err := folder.Root().Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		err = fmt.Errorf("%s cannot be written (%v); choose another", path, job.Cause(err))
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is there and is not a regular file; choose another", path)
	default:
		return f, nil
	}
	f.Discard()
	f.Close()
	return nil, &job.Error{Field: field, Reason: err.Error(), Err: err}
}

// Write writes the file, whole or not at all, and returns what was written, under its
// name in the folder.
func (f *File) Write(write func(io.Writer) error) (job.WrittenFile, error) {
	written, err := arrowio.ReplaceFileIn(f.folder.Root(), f.name, write)
	return job.WrittenFile(written), err
}

// Close closes the folder. f may be nil.
func (f *File) Close() {
	if f != nil {
		f.folder.Close()
	}
}

// Discard removes the folder if OpenFileIn has made it and it is empty. f may be nil.
func (f *File) Discard() {
	if f != nil {
		f.folder.Discard()
	}
}

// Beside is how a document in a folder names a file: relative to the folder if it lies
// there, and as it is called otherwise. The folder may be empty for none.
func Beside(folder, path string) string {
	if folder != "" {
		if name, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(name) {
			return filepath.ToSlash(name)
		}
	}
	return path
}
