package arrowio

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What was written is told as it lies in the folder: file by file, the table first.
func TestWritten(t *testing.T) {
	columns := []Column{{Name: "name", Values: []string{"a", "b"}}, {Name: "value", Values: []float64{0.5, -1}}}
	for format, suffixes := range map[string][]string{Parquet: {""}, Arrow: {""}, CSV: {"", sidecarSuffix}} {
		path := t.TempDir()
		folder := rootOf(path)
		defer folder.Close()
		for range 2 { // a new file, and one that replaces another
			name := "table." + format
			files, err := TableFormats().For(format).Write(folder, name, columns, map[string]string{"k": "v"})
			if err != nil || len(files) != len(suffixes) {
				t.Fatalf("%s: %+v, %v", format, files, err)
			}
			for i, suffix := range suffixes {
				if files[i].Name != name+suffix {
					t.Errorf("%+v, want %s", files[i], name+suffix)
				}
				isOnDisk(t, path, files[i])
			}
		}
	}
}

// isOnDisk checks size and checksum against the file.
func isOnDisk(t *testing.T, folder string, w Written) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, w.Name))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); w.Bytes != int64(len(data)) || w.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v, and the file has %d bytes, %x", w, len(data), sum)
	}
}

// Size and checksum are those of all that was written, in whatever pieces.
func TestWrittenInPieces(t *testing.T) {
	path := t.TempDir()
	folder := rootOf(path)
	defer folder.Close()
	w, err := ReplaceFileIn(folder, "pieces", func(w io.Writer) error {
		for n := 0; n < 1<<20; n = 3*n + 1 {
			if _, err := w.Write(make([]byte, n)); err != nil {
				return err
			}
			if _, err := fmt.Fprint(w, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	isOnDisk(t, path, w)
	if w, err = ReplaceFileIn(folder, "nothing", func(io.Writer) error { return nil }); err != nil || w.Bytes != 0 {
		t.Errorf("%+v, %v", w, err)
	}
	isOnDisk(t, path, w)
}

// The error of a file names it, once, and the reason.
func TestErrorsOfWriting(t *testing.T) {
	path := t.TempDir()
	folder := rootOf(path)
	defer folder.Close()
	full := &fs.PathError{Op: "write", Path: ".table.1-0.tmp", Err: syscall.ENOSPC}
	w, err := ReplaceFileIn(folder, "table", func(io.Writer) error { return fmt.Errorf("parquet: %w", full) })
	if want := "writing " + filepath.Join(path, "table") + ": " + syscall.ENOSPC.Error(); err == nil || err.Error() != want || !errors.Is(err, syscall.ENOSPC) || w != (Written{}) {
		t.Errorf("%v, %+v; want %s", err, w, want)
	}
	if err := os.MkdirAll(filepath.Join(path, "taken", "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = ReplaceFileIn(folder, "taken", func(io.Writer) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "there is a folder of that name; move it away") || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(path); err != nil || len(left) != 1 || left[0].Name() != "taken" {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}
