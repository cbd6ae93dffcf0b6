package arrowio

import (
	"io"
	"os"
)

// keep keeps the file of a name in a folder, which is about to be replaced: commit of
// what it returns puts it back, discard lets it go. nil if there is no such file, or
// none that can be kept.
func keep(folder *os.Root, name string) *staged {
	s := &staged{folder: folder, name: name}
	err := s.unused(wholeSuffix, func(temporary string) error { return folder.Link(name, temporary) })
	if err != nil { // not every file system has links
		return keepCopy(folder, name)
	}
	s.file = hold(folder, s.temporary)
	return s
}

// keepCopy is keep for what is in a file, where it can be read.
func keepCopy(folder *os.Root, name string) *staged {
	if info, err := folder.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from, err := folder.OpenFile(name, os.O_RDONLY|noWaiting, 0)
	if err != nil {
		return nil
	}
	defer from.Close()
	s, err := stage(folder, name, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
	if err != nil {
		return nil
	}
	return s
}
