package arrowio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file in the folder of path that has no name yet or a
// temporary one, puts it on disk and names it path: whoever opens path finds
// what was there before or what write has written, whole. On an error nothing is
// left behind. Nor is anything half-written when the process is killed, on Linux
// and where the file system has files without a name (ext4, xfs, btrfs, tmpfs).
func ReplaceFile(path string, write func(io.Writer) error) error {
	return inFolderOf(path, func(folder *os.Root, name string) error {
		_, err := ReplaceFileIn(folder, name, write)
		return err
	})
}

// ReplaceFileIn is ReplaceFile for a name in a folder that is open. The file gets
// into that folder even if its path leads elsewhere meanwhile. It returns what was
// written.
func ReplaceFileIn(folder *os.Root, name string, write func(io.Writer) error) (Written, error) {
	err := checkName(name)
	var s *staged
	if err == nil {
		s, err = stage(folder, name, write)
	}
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		return Written{}, unwritten(folder, name, err)
	}
	return s.written, nil
}

// CheckWritable creates a file in a folder, without a name where the file system has
// such files, else with a temporary one, and removes it.
func CheckWritable(folder *os.Root) error {
	if f, err := namelessFiles().create(folder); err == nil {
		return f.Close()
	}
	s := &staged{folder: folder, name: "gladflow"}
	err := s.createBeside()
	s.discard()
	return err
}

// inFolderOf opens the folder of a path, for as long as write works with the
// last element, which is the name of a file.
func inFolderOf(path string, write func(folder *os.Root, name string) error) error {
	at, name := filepath.Split(path)
	folder, err := os.OpenRoot(cmp.Or(at, "."))
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer folder.Close()
	return write(folder, name)
}

// checkName refuses what is no name of a file in a folder, for files are staged
// in the folder in which they get their name.
func checkName(name string) error {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return fmt.Errorf("%q is not the name of a file in the folder", name)
	}
	return nil
}

// unwritten is the error of a file that could not be written, or nil: its path and
// the reason. Errors of the system name a temporary file, if any: it is left out.
func unwritten(folder *os.Root, name string, err error) error {
	if err == nil {
		return nil
	}
	path := filepath.Join(folder.Name(), name)
	var at *fs.PathError
	var between *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &between):
		err = between.Err
	}
	if there, e := folder.Lstat(name); e == nil && there.IsDir() && errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("writing %s: there is a folder of that name; move it away: %w", path, err)
	}
	return fmt.Errorf("writing %s: %w", path, err)
}
