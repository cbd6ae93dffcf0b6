package arrowio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// waysToStage are the ways in which a file can come to its name.
func waysToStage() map[string]nameless {
	refused := errors.New("the system refuses")
	native := namelessFiles()
	return map[string]nameless{
		"native": native,
		"temporary name": {
			create: func(*os.Root) (*os.File, error) { return nil, errors.ErrUnsupported },
			link:   func(*os.File, *os.Root, string) error { panic("a file that has a name is linked") },
		},
		"no link": {
			create: func(folder *os.Root) (*os.File, error) {
				f, err := native.create(folder)
				if err != nil { // any file outside will do
					f, err = os.CreateTemp("", "nameless-*")
					os.Remove(f.Name())
				}
				return f, err
			},
			link: func(*os.File, *os.Root, string) error { return refused },
		},
	}
}

func TestWaysToStage(t *testing.T) {
	for name, way := range waysToStage() {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			root := rootOf(folder)
			defer root.Close()
			opened := arrowtest.Descriptors()
			for _, text := range []string{"first", strings.Repeat("second", 100_000), ""} {
				s, err := stageWith(way, root, "x", func(w io.Writer) error {
					_, err := io.WriteString(w, text)
					return err
				})
				if err == nil {
					err = s.commit()
				}
				if err != nil {
					t.Fatal(err)
				}
				onlyFile(t, folder, "x", text)
			}

			// Errors at every step leave what was there, and nothing open.
			if _, err := stageWith(way, root, "x", func(w io.Writer) error {
				w.Write(make([]byte, 1<<20))
				return errDisk
			}); !errors.Is(err, errDisk) {
				t.Error(err)
			}
			func() {
				defer func() { recover() }()
				stageWith(way, root, "x", func(io.Writer) error { panic("halfway") })
			}()
			s, err := stageWith(way, root, "x", func(w io.Writer) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			s.discard()
			if err := os.Mkdir(filepath.Join(folder, "no"), 0o700); err != nil {
				t.Fatal(err)
			}
			removed := rootOf(filepath.Join(folder, "no"))
			if err := os.Remove(removed.Name()); err != nil {
				t.Fatal(err)
			}
			s, err = stageWith(way, removed, "x", func(io.Writer) error { return nil })
			if err == nil {
				err = s.commit()
			}
			removed.Close()
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("without a folder: %v", err)
			}
			onlyFile(t, folder, "x", "")

			// A folder cannot be replaced.
			if err := os.MkdirAll(filepath.Join(folder, "full", "y"), 0o700); err != nil {
				t.Fatal(err)
			}
			if s, err = stageWith(way, root, "full", func(w io.Writer) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if s.commit() == nil {
				t.Error("a folder is replaced")
			}
			if left, _ := os.ReadDir(folder); len(left) != 2 {
				t.Errorf("%v are left", left)
			}
			if now := arrowtest.Descriptors(); now != opened {
				t.Errorf("%d files are open, %d before", now, opened)
			}
		})
	}
}

// A staged file is nowhere to be seen until it is committed, where the system
// can do that; what another process puts there meanwhile is replaced.
func TestStagedIsInvisible(t *testing.T) {
	folder := t.TempDir()
	skipUnlessNameless(t, folder)
	root := rootOf(folder)
	defer root.Close()
	s, err := stage(root, "x", func(w io.Writer) error { _, err := io.WriteString(w, "mine"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("the folder holds %v", left)
	}
	if err := os.WriteFile(filepath.Join(folder, "x"), []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, folder, "x", "mine")
}

// A folder whose path leads elsewhere, before the file is staged or before it gets
// its name, is still the folder that the file gets into.
func TestStagedStaysInItsFolder(t *testing.T) {
	for name, way := range waysToStage() {
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprint(name, early), func(t *testing.T) {
				parent := t.TempDir()
				path, moved, outside := filepath.Join(parent, "out"), filepath.Join(parent, "moved"), filepath.Join(parent, "outside")
				for _, folder := range []string{path, outside} {
					if err := os.Mkdir(folder, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				root := rootOf(path)
				defer root.Close()
				swap := func() {
					if err := errors.Join(os.Rename(path, moved), os.Symlink(outside, path)); err != nil {
						t.Fatal(err)
					}
				}
				for i, text := range []string{"new", "replaced"} {
					if i == 0 && early {
						swap()
					}
					s, err := stageWith(way, root, "x", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 && !early {
						swap()
					}
					if err := s.commit(); err != nil {
						t.Fatal(err)
					}
					onlyFile(t, moved, "x", text)
				}
				if left, _ := os.ReadDir(outside); len(left) != 0 {
					t.Errorf("outside are %v", left)
				}
			})
		}
	}
}

// A name that leads to another folder is no name of a file.
func TestReplaceFileWantsAName(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "in", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	root := rootOf(filepath.Join(folder, "in"))
	defer root.Close()
	for _, name := range []string{"", ".", "..", "../x", "deep/x", "deep/../x", "x/", "/x", "./x"} {
		if err := ReplaceFileIn(root, name, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("%q is written", name)
		}
	}
	if err := ReplaceFile(filepath.Join(folder, "in")+"/", func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder is written")
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*", "*")); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
}

func skipUnlessNameless(t *testing.T, folder string) {
	t.Helper()
	root := rootOf(folder)
	defer root.Close()
	f, err := namelessFiles().create(root)
	if err != nil {
		t.Skipf("files without a name cannot be made in %s: %v", folder, err)
	}
	f.Close()
}
