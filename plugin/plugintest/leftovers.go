package plugintest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// Leftovers says what a plugin has left behind after its end, or after that of
// its host, a line for each thing; it waits for up to limit until there is
// nothing. These are:
//
//   - processes with TMPDIR=temp in their environment, zombies aside (on Linux),
//   - whatever is in the folder temp, where sockets are,
//   - files in the folder out, where results go ("" for none), that are
//     temporary or cannot be read: results are whole or not there. A file
//     .NAME.….whole.tmp is one that was about to replace NAME; the next that
//     replaces it removes it.
//
// Tests of a host use it as well: give the host a folder of its own as TMPDIR.
func Leftovers(limit time.Duration, temp, out string) []string {
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		left := append(processes(temp), entries(temp)...)
		if len(left) == 0 || time.Since(began) > limit {
			return append(left, unreadable(out)...)
		}
	}
}

// processes are those with TMPDIR=temp, in words.
func processes(temp string) []string {
	var left []string
	for _, pid := range processIDs(temp) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		left = append(left, fmt.Sprintf("process %d: %s", pid, bytes.TrimSpace(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))))
	}
	return left
}

// processIDs are those of processes with TMPDIR=temp. There are none where
// there is no /proc.
func processIDs(temp string) []int {
	var ids []int
	all, _ := os.ReadDir("/proc")
	for _, p := range all {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A zombie has no environment left, other people's cannot be read.
		env, err := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if err == nil && bytes.Contains(append(append([]byte{0}, env...), 0), []byte("\x00TMPDIR="+temp+"\x00")) {
			ids = append(ids, pid)
		}
	}
	return ids
}

// entries are what is in a folder.
func entries(folder string) []string {
	var left []string
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path != folder {
			left = append(left, fmt.Sprintf("%s (%s)", path, d.Type()))
		}
		return nil
	})
	return left
}

// unreadable are the files of a folder for results that should not be there.
func unreadable(folder string) []string {
	if folder == "" {
		return nil
	}
	var left []string
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if err := whole(path); err != nil {
			left = append(left, fmt.Sprintf("%s: %v", path, err))
		}
		return nil
	})
	return left
}

// waiting matches a file that is whole and waits to replace another.
var waiting = regexp.MustCompile(`^\.(.+)\.\d+-\d+\.whole\.tmp$`)

// whole says what is wrong with a file of results.
func whole(path string) (err error) {
	name := filepath.Base(path)
	if replacing := waiting.FindStringSubmatch(name); replacing != nil {
		name = replacing[1]
	}
	if strings.HasPrefix(name, ".") || strings.Contains(name, ".tmp") || strings.HasSuffix(name, "~") {
		return errors.New("a temporary file")
	}
	// Readers panic over some broken files.
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("cannot be read: %v", v)
		}
	}()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	switch filepath.Ext(name) {
	case ".json":
		if !json.Valid(data) {
			return errors.New("no JSON")
		}
		return nil
	case ".csv":
		if !bytes.HasSuffix(data, []byte("\n")) {
			return errors.New("the last line is cut")
		}
		_, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		return err
	case ".html":
		if !bytes.HasSuffix(bytes.TrimSpace(data), []byte("</html>")) {
			return errors.New("the page is cut")
		}
		return nil
	case ".arrow":
		return wholeArrow(data)
	case ".parquet":
		return wholeParquet(data)
	}
	return errors.New("not a file of results")
}

func wholeArrow(data []byte) error {
	r, err := ipc.NewFileReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range r.NumRecords() {
		if _, err := r.Record(i); err != nil {
			return err
		}
	}
	return nil
}

func wholeParquet(data []byte) error {
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		return err
	}
	table.Release()
	return nil
}
