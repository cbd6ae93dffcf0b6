package arrowio

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

const described = "table.csv" + sidecarSuffix

// writeDescribed writes table.csv and its description into a folder.
func writeDescribed(t *testing.T, path, note string) error {
	t.Helper()
	folder := rootOf(path)
	defer folder.Close()
	_, err := TableFormats().For(CSV).Write(folder, "table.csv", []Column{{Name: "value", Values: []float64{1}}}, map[string]string{"note": note})
	return err
}

// names are those of the files in a folder, the hidden ones too.
func names(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// putInTheWay makes a folder that no file can replace.
func putInTheWay(t *testing.T, path, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(path, name)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, name, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Where a CSV file cannot get its name, the description that was there before stays,
// whatever it is; where there was none, there is none.
func TestOldDescriptionStays(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"a file":            func(string) error { return nil },
		"a file of no mode": func(path string) error { return os.Chmod(path, 0) },
		"none":              os.Remove,
		"a link": func(path string) error {
			if err := os.Rename(path, filepath.Join(filepath.Dir(path), "elsewhere")); err != nil {
				return err
			}
			return os.Symlink("elsewhere", path)
		},
		"a link to nothing": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink("elsewhere", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			if err := writeDescribed(t, path, "old"); err != nil {
				t.Fatal(err)
			}
			if err := prepare(filepath.Join(path, described)); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			putInTheWay(t, path, "table.csv")
			before := names(t, path)
			mode, _ := os.Lstat(filepath.Join(path, described))
			opened := arrowtest.Descriptors()

			err := writeDescribed(t, path, "new")
			if want := "writing " + filepath.Join(path, "table.csv") + ": there is a folder of that name"; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
			if after := names(t, path); !slices.Equal(after, before) {
				t.Errorf("there are %q, and were %q", after, before)
			}
			if now := arrowtest.Descriptors(); now != opened {
				t.Errorf("%d files are open, %d before", now, opened)
			}
			if mode == nil {
				return
			}
			if now, err := os.Lstat(filepath.Join(path, described)); err != nil || now.Mode() != mode.Mode() || !os.SameFile(now, mode) {
				t.Errorf("the description is %v, %v, and was %v", now, err, mode)
			}
		})
	}
}

// A description that cannot be written is what the error names; the CSV file that was
// there stays.
func TestDescriptionInTheWay(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "table.csv"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	putInTheWay(t, path, described)
	err := writeDescribed(t, path, "new")
	if want := "writing " + filepath.Join(path, described) + ": there is a folder of that name"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if text, err := os.ReadFile(filepath.Join(path, "table.csv")); err != nil || string(text) != "old" {
		t.Errorf("the CSV file is %q, %v", text, err)
	}
	if left := names(t, path); !slices.Equal(left, []string{"table.csv", described}) {
		t.Errorf("there are %q", left)
	}
}

// A description that is replaced leaves nothing beside it.
func TestDescriptionIsReplaced(t *testing.T) {
	path := t.TempDir()
	for _, note := range []string{"first", "second"} {
		if err := writeDescribed(t, path, note); err != nil {
			t.Fatal(err)
		}
		if notes, err := readSidecar(t.Context(), filepath.Join(path, "table.csv"), nil, nil); err != nil || notes["note"] != note {
			t.Errorf("%v, %v", notes, err)
		}
	}
	if left := names(t, path); !slices.Equal(left, []string{"table.csv", described}) {
		t.Errorf("there are %q", left)
	}
}

// A file is kept by a link or, where there are none, by a copy.
func TestKeep(t *testing.T) {
	for way, keep := range map[string]func(*os.Root, string) *staged{"link": keep, "copy": keepCopy} {
		t.Run(way, func(t *testing.T) {
			path := t.TempDir()
			folder := rootOf(path)
			defer folder.Close()
			opened := arrowtest.Descriptors()
			if s := keep(folder, "x"); s != nil {
				t.Errorf("a file that is not there is kept: %+v", s)
			}
			replaceBy := func(text string) {
				t.Helper()
				if _, err := ReplaceFileIn(folder, "x", func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
					t.Fatal(err)
				}
			}
			replaceBy("old")
			for _, back := range []bool{true, false} {
				s := keep(folder, "x")
				if s == nil {
					t.Fatal("the file is not kept")
				}
				replaceBy("new")
				want := "new"
				if back {
					want = "old"
					if err := s.commit(); err != nil {
						t.Fatal(err)
					}
				}
				s.discard()
				onlyFile(t, path, "x", want)
			}
			putInTheWay(t, path, "x")
			if s := keep(folder, "x"); s != nil {
				t.Errorf("a folder is kept: %+v", s)
			}
			if now := arrowtest.Descriptors(); now != opened {
				t.Errorf("%d files are open, %d before", now, opened)
			}
		})
	}
}
