package arrowio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A staged file is whole and on disk, in the folder where it belongs. It has no
// name yet, or a temporary one. Whatever becomes of the path of the folder, the
// file stays in that folder.
type staged struct {
	folder    *os.Root
	name      string
	written   Written  // what commit makes of it
	temporary string   // "" while it has no name
	file      *os.File // nil once it has one
	link      func(f *os.File, folder *os.Root, name string) error
}

// nameless is how a system makes files that have no name until they are whole.
type nameless struct {
	// create makes a file in a folder, for reading and writing, with the
	// permissions that the process's umask leaves.
	create func(folder *os.Root) (*os.File, error)
	// link gives a file its first name in a folder. Its error is fs.ErrExist
	// if there is a file of that name.
	link func(f *os.File, folder *os.Root, name string) error
}

// stage writes a file that commit will name, in a folder that stays open until
// then. On an error or a panic of write nothing is left.
func stage(folder *os.Root, name string, write func(io.Writer) error) (*staged, error) {
	return stageWith(namelessFiles(), folder, name, write)
}

func stageWith(by nameless, folder *os.Root, name string, write func(io.Writer) error) (_ *staged, err error) {
	s := &staged{folder: folder, name: name, link: by.link}
	// Not every file system has them, nor every system. Where the reason is
	// another one, the other way fails too and says it better.
	if s.file, err = by.create(folder); err != nil {
		if err := s.createBeside(); err != nil {
			return nil, err
		}
	}
	done := false
	defer func() {
		if !done {
			s.discard()
		}
	}()
	sum := newSummer(s.file)
	w := bufio.NewWriterSize(sum, 256<<10)
	if err := write(w); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if err := s.file.Sync(); err != nil {
		return nil, err
	}
	if s.temporary != "" {
		if err := s.close(); err != nil {
			return nil, err
		}
	}
	s.written = sum.written(name)
	done = true
	return s, nil
}

// createBeside creates a hidden file in the folder. Unlike
// os.CreateTemp it leaves the permissions to the process's umask: the file is
// going to stay.
func (s *staged) createBeside() error {
	return s.unused(".tmp", func(temporary string) (err error) {
		s.file, err = s.folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
}

// unused finds a temporary name with a suffix that make can use.
func (s *staged) unused(suffix string, make func(temporary string) error) error {
	for n := 0; ; n++ {
		temporary := fmt.Sprintf(".%s.%d-%d%s", s.name, os.Getpid(), n, suffix)
		err := make(temporary)
		if err == nil {
			s.temporary = temporary
		}
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// commit gives the file its name. It is called once.
func (s *staged) commit() error {
	err := s.nameIt()
	if err != nil {
		s.discard()
		return err
	}
	// The name is on disk once the folder is. Some file systems cannot sync a
	// folder; the file is whole there too.
	if d, err := s.folder.Open("."); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

func (s *staged) nameIt() error {
	if s.temporary == "" {
		// A link replaces nothing, so that only a file that is new gets its
		// name at once.
		err := s.link(s.file, s.folder, s.name)
		if err == nil {
			return s.close()
		}
		if errors.Is(err, fs.ErrExist) {
			err = s.unused(wholeSuffix, func(temporary string) error { return s.link(s.file, s.folder, temporary) })
		}
		if err != nil {
			err = s.copyBeside()
		}
		if err != nil {
			return err
		}
	}
	if err := s.folder.Rename(s.temporary, s.name); err != nil {
		return err
	}
	if s.file == nil {
		return nil
	}
	sweep(s.folder, s.name)
	return s.close()
}

// copyBeside makes a file with a temporary name of one that cannot be given any.
func (s *staged) copyBeside() error {
	from := s.file
	defer from.Close()
	s.file = nil
	if err := s.createBeside(); err != nil {
		return err
	}
	if _, err := io.Copy(s.file, io.NewSectionReader(from, 0, 1<<62)); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	return s.close()
}

func (s *staged) close() error {
	f := s.file
	s.file = nil
	return f.Close()
}

// discard leaves nothing of a file that has not been committed.
func (s *staged) discard() {
	if s.file != nil {
		s.close()
	}
	if s.temporary != "" {
		s.folder.Remove(s.temporary)
	}
}
