package output

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	f, err := OpenFolder("out", path)
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) != 0 {
		t.Errorf("a new folder holds %v, %v", entries, err)
	}
	if err := f.WriteJSON("x.json", map[string]int{"n": 3}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := os.ReadFile(f.Path("x.json"))
	var back map[string]int
	if err != nil || json.Unmarshal(data, &back) != nil || back["n"] != 3 || data[len(data)-1] != '\n' {
		t.Errorf("%s, %v", data, err)
	}
	if err := f.WriteJSON("x.json", func() {}); err == nil {
		t.Error("a function is written as JSON")
	}
	if entries, _ := os.ReadDir(path); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

// Only a folder that the run has created, and in which there is nothing, goes.
func TestDiscard(t *testing.T) {
	there := t.TempDir()
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	open := func(path string) *Folder {
		f, err := OpenFolder("out", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return f
	}
	if open(there).Discard(); !exists(there) {
		t.Error("a folder that was there before is gone")
	}
	created := filepath.Join(there, "created")
	if open(created).Discard(); exists(created) {
		t.Error("the new folder is left")
	}
	f := open(created)
	if err := f.WriteJSON("x.json", 1); err != nil {
		t.Fatal(err)
	}
	if f.Discard(); !exists(f.Path("x.json")) {
		t.Error("a file is gone")
	}
	(*Folder)(nil).Discard()
	(*Folder)(nil).Close()
}

// A folder that is replaced by a link while a run writes: the files get into the
// folder that was opened, and what the link leads to stays.
func TestFolderReplacedByLink(t *testing.T) {
	parent := t.TempDir()
	path, moved, outside := filepath.Join(parent, "out"), filepath.Join(parent, "moved"), filepath.Join(parent, "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder("out", path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.Rename(path, moved), os.Symlink(outside, path)); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	if _, err := os.Lstat(path); err != nil {
		t.Error("the link is removed, which the folder has not made")
	}
	if err := f.WriteJSON("x.json", 1); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Errorf("where the link leads are %v", left)
	}
	if _, err := os.Stat(filepath.Join(moved, "x.json")); err != nil {
		t.Error(err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	paths := []string{file, filepath.Join(file, "below")}
	if os.Getuid() != 0 { // who may write everywhere
		paths = append(paths, locked, filepath.Join(locked, "below"))
	}
	for _, path := range paths {
		_, err := OpenFolder("checkpoint", path)
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != "checkpoint" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A link that leads nowhere was there before: the run fails, and leaves it.
func TestDanglingLink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "out")
	if err := os.Symlink("nowhere/at/all", link); err != nil {
		t.Skip(err)
	}
	f, err := OpenFolder("out", link)
	f.Discard()
	if _, gone := os.Lstat(link); err == nil || gone != nil {
		t.Errorf("%v; the link: %v", err, gone)
	}
}
