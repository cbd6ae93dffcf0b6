package arrowio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file under a temporary name in the folder of path, puts
// it on disk and gives it its name: whoever opens path finds what was there
// before or what write has written, whole. On an error nothing is left behind.
func ReplaceFile(path string, write func(io.Writer) error) error {
	s, err := stage(path, write)
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		return fmt.Errorf("arrowio: writing %s: %w", path, err)
	}
	return nil
}

// A staged file is whole and on disk, under a temporary name in the folder
// where it belongs.
type staged struct {
	temporary, path string
}

// stage writes a file that commit will rename to path. On an error or a panic
// of write nothing is left.
func stage(path string, write func(io.Writer) error) (_ *staged, err error) {
	f, err := createBeside(path)
	if err != nil {
		return nil, err
	}
	s := &staged{f.Name(), path}
	done := false
	defer func() {
		if !done {
			f.Close()
			s.discard()
		}
	}()
	w := bufio.NewWriterSize(f, 256<<10)
	if err := write(w); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	done = true
	return s, nil
}

// createBeside creates a hidden file in the folder of path. Unlike
// os.CreateTemp it leaves the permissions to the process's umask: the file is
// going to stay.
func createBeside(path string) (*os.File, error) {
	folder, name := filepath.Split(path)
	for n := 0; ; n++ {
		temporary := filepath.Join(folder, fmt.Sprintf(".%s.%d-%d.tmp", name, os.Getpid(), n))
		f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// commit gives the file its name.
func (s *staged) commit() error {
	if err := os.Rename(s.temporary, s.path); err != nil {
		s.discard()
		return err
	}
	// The name is on disk once the folder is. Some file systems cannot sync a
	// folder; the file is whole there too.
	if d, err := os.Open(filepath.Dir(s.path)); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

func (s *staged) discard() { os.Remove(s.temporary) }
