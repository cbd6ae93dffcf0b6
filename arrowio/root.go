package arrowio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gladflow/gladflow/arrowio/uri"
)

// A Root opens the files that callers name. nil opens any file of this machine,
// and takes relative paths from the working folder; one that OpenRoot has made
// opens those of a folder, and takes relative paths from it. It is safe for
// concurrent use.
//
// The folder is opened once, and every file relative to it, component by
// component, as os.Root does it: neither a link nor "..", nor a link that is put
// in the place of a folder between two looks, leads out. Links in the folder must
// be relative. Hard links and file systems that are mounted in the folder belong
// to it.
type Root struct {
	folder *os.Root
	path   string // the real one
	// names are those by which absolute paths call the folder, without a
	// separator at the end.
	names []string
	// escapes is os.Root's error of a path that leads out.
	escapes error
}

// OpenRoot opens a folder whose files may be named.
func OpenRoot(folder string) (*Root, error) {
	opened, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	r := &Root{folder: opened}
	if err := r.nameBy(folder); err != nil {
		opened.Close()
		return nil, err
	}
	_, err = opened.Lstat("..")
	r.escapes = errors.Unwrap(err)
	return r, nil
}

// nameBy notes the absolute paths of the folder: its real path, and the one by
// which it was opened.
func (r *Root) nameBy(path string) error {
	is, err := r.folder.Stat(".")
	if err != nil {
		return err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if r.path, err = filepath.EvalSymlinks(path); err == nil {
		r.path, err = filepath.Abs(r.path)
	}
	if err != nil {
		return err
	}
	for _, name := range []string{r.path, absolute, path} {
		// Abs takes "link/.." for the folder that the link lies in.
		if there, err := os.Stat(name); err == nil && filepath.IsAbs(name) && os.SameFile(is, there) {
			r.names = append(r.names, strings.TrimRightFunc(name, isSeparator))
		}
	}
	return nil
}

func isSeparator(c rune) bool { return c < utf8.RuneSelf && os.IsPathSeparator(uint8(c)) }

// Name is the real path that the folder had when it was opened; empty for a nil
// Root.
func (r *Root) Name() string {
	if r == nil {
		return ""
	}
	return r.path
}

// Close closes the folder, but no file that was opened in it.
func (r *Root) Close() error {
	if r == nil {
		return nil
	}
	return r.folder.Close()
}

// An OutsideError is the error of a path that is, or leads, out of the folder of a
// Root, and of a URL.
type OutsideError struct {
	// Folder is the name of the Root.
	Folder string
}

// Error says which paths can be named.
func (e *OutsideError) Error() string {
	return "only files in " + e.Folder + " can be named here, and no URLs; links in the folder must be relative and stay in it"
}

// within is what follows the folder in a path: relative to the folder, and as it
// was given, so that ".." is taken after the links before it have been followed.
func (r *Root) within(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return path, nil
	}
	i := slices.IndexFunc(r.names, func(name string) bool {
		return strings.HasPrefix(path, name) && (len(path) == len(name) || os.IsPathSeparator(path[len(name)]))
	})
	if i < 0 {
		return "", &OutsideError{r.Name()}
	}
	rest := strings.TrimLeftFunc(path[len(r.names[i]):], isSeparator)
	if rest == "" {
		rest = "."
	}
	return rest, nil
}

// outside makes an OutsideError of os.Root's error of a path that leads out.
func (r *Root) outside(err error) error {
	if err != nil && r != nil && errors.Is(err, r.escapes) {
		return &OutsideError{r.Name()}
	}
	return err
}

// Check returns an OutsideError for a path that leads out of the folder now, and
// nil for others, whether there is a file or not. What is opened later is checked
// then.
func (r *Root) Check(path string) error {
	if r == nil {
		return nil
	}
	local, ok := LocalPath(path)
	if !ok {
		return &OutsideError{r.Name()}
	}
	rest, err := r.within(local)
	if err != nil {
		return err
	}
	_, err = r.folder.Stat(rest)
	var outside *OutsideError
	if err := r.outside(err); errors.As(err, &outside) {
		return err
	}
	return nil
}

// Open opens a file for reading: a path, or a file URL if there is a folder. A
// path out of the folder is an OutsideError; other errors are those of os.Open.
//
// In the folder only regular files and folders are opened, because a pipe or a
// device may keep whoever opens it waiting for ever: others are ErrNotRegular.
func (r *Root) Open(path string) (*os.File, error) {
	if r == nil {
		return os.Open(path)
	}
	local, ok := LocalPath(path)
	if !ok {
		return nil, &OutsideError{r.Name()}
	}
	rest, err := r.within(local)
	if err != nil {
		return nil, err
	}
	f, err := r.folder.OpenFile(rest, os.O_RDONLY|noWaiting, 0)
	if isDevice(err) {
		return nil, notRegular(path)
	}
	if err != nil {
		return nil, r.outside(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = notRegular(path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ErrNotRegular is the error of a pipe, a socket or a device in a folder whose files
// callers name.
var ErrNotRegular = errors.New("this is a pipe, a socket or a device, and only regular files are opened here")

func notRegular(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
}

// OpenFolder opens a folder to write to, which is made where it is missing, and those
// that it lies in. remove removes it again if it is empty and was made now. The
// caller closes the folder. A path out of the Root's folder, and a URL where there
// is a Root, is an OutsideError; other errors are those of os.MkdirAll and
// os.OpenRoot.
func (r *Root) OpenFolder(path string) (folder *os.Root, remove func(), err error) {
	do := ofMachine()
	if r != nil {
		if uri.Is(path) {
			return nil, nil, &OutsideError{r.Name()}
		}
		if path, err = r.within(path); err != nil {
			return nil, nil, err
		}
		do = folderCalls{r.folder.Lstat, r.folder.MkdirAll, r.folder.OpenRoot, r.folder.Remove}
	}
	_, err = do.lstat(path) // a link that leads nowhere was there before
	made := errors.Is(err, fs.ErrNotExist)
	if err := do.mkdirAll(path, 0o777); err != nil {
		return nil, nil, r.outside(err)
	}
	// The dot makes sure that it is a folder before it is opened: a pipe would
	// keep us waiting.
	folder, err = do.openRoot(path + string(os.PathSeparator) + ".")
	if err != nil {
		return nil, nil, r.outside(err)
	}
	return folder, func() {
		if !made {
			return
		}
		// What lies at the path by now may be another's.
		is, err := folder.Stat(".")
		there, missing := do.lstat(path)
		if err == nil && missing == nil && os.SameFile(is, there) {
			do.remove(path) // fails if it is not empty
		}
	}, nil
}

// folderCalls are the calls by which folders are made and opened.
type folderCalls struct {
	lstat    func(string) (fs.FileInfo, error)
	mkdirAll func(string, fs.FileMode) error
	openRoot func(string) (*os.Root, error)
	remove   func(string) error
}

func ofMachine() folderCalls {
	return folderCalls{os.Lstat, os.MkdirAll, os.OpenRoot, os.Remove}
}
