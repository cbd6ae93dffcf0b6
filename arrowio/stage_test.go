package arrowio

import (
	"errors"
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
			create: func(string) (*os.File, error) { return nil, errors.ErrUnsupported },
			link:   func(*os.File, string) error { panic("a file that has a name is linked") },
		},
		"no link": {
			create: func(folder string) (*os.File, error) {
				f, err := native.create(folder)
				if err != nil { // any file outside will do
					f, err = os.CreateTemp("", "nameless-*")
					os.Remove(f.Name())
				}
				return f, err
			},
			link: func(*os.File, string) error { return refused },
		},
	}
}

func TestWaysToStage(t *testing.T) {
	for name, way := range waysToStage() {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "x")
			opened := arrowtest.Descriptors()
			for _, text := range []string{"first", strings.Repeat("second", 100_000), ""} {
				s, err := stageWith(way, path, func(w io.Writer) error {
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
			if _, err := stageWith(way, path, func(w io.Writer) error {
				w.Write(make([]byte, 1<<20))
				return errDisk
			}); !errors.Is(err, errDisk) {
				t.Error(err)
			}
			func() {
				defer func() { recover() }()
				stageWith(way, path, func(io.Writer) error { panic("halfway") })
			}()
			s, err := stageWith(way, path, func(w io.Writer) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			s.discard()
			s, err = stageWith(way, filepath.Join(folder, "no", "x"), func(io.Writer) error { return nil })
			if err == nil {
				err = s.commit()
			}
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("without a folder: %v", err)
			}
			onlyFile(t, folder, "x", "")

			// A folder cannot be replaced.
			if err := os.MkdirAll(filepath.Join(folder, "full", "y"), 0o700); err != nil {
				t.Fatal(err)
			}
			if s, err = stageWith(way, filepath.Join(folder, "full"), func(w io.Writer) error { return nil }); err != nil {
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
	path := filepath.Join(folder, "x")
	s, err := stage(path, func(w io.Writer) error { _, err := io.WriteString(w, "mine"); return err })
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("the folder holds %v", left)
	}
	if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, folder, "x", "mine")
}

func skipUnlessNameless(t *testing.T, folder string) {
	t.Helper()
	f, err := namelessFiles().create(folder)
	if err != nil {
		t.Skipf("files without a name cannot be made in %s: %v", folder, err)
	}
	f.Close()
}
