package benchmark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// doneFolder is that for what is done, in the folder of the benchmark: a folder a set,
// a document a solver.
const doneFolder = "done"

// A record is what one solver has done on one set.
type record struct {
	// Key is the checksum of all that the figures depend on.
	Key     string             `json:"key"`
	Solver  job.SolverResult   `json:"solver"`
	Figures comparison.Figures `json:"figures"`
}

// A question is all that the figures of a solver on a set depend on.
type question struct {
	// Build is the checksum of the program.
	Build string
	// Checksums of the files.
	Table, Reference, Model string
	Set                     Set // without its paths
	Solver                  string
	Job                     job.Job
	Resamples, Seed         int
}

// key is the checksum of a question.
func (q question) key() string {
	q.Set.Name, q.Set.Group, q.Set.Table, q.Set.Reference = "", "", "", ""
	q.Job.Threads = 0
	sum := sha256.Sum256([]byte(output.JSON(q)))
	return hex.EncodeToString(sum[:])
}

// A store keeps records in a folder; the zero value keeps none.
type store struct {
	out string
	// repeat says that records are written and not read.
	repeat bool
}

// load returns the record of a key, if there is one.
func (s store) load(set, solver, key string) (record, bool) {
	var r record
	if s.out == "" || s.repeat {
		return r, false
	}
	data, err := os.ReadFile(filepath.Join(s.out, doneFolder, set, solver+".json"))
	if err != nil || json.Unmarshal(data, &r) != nil || r.Key != key {
		return record{}, false // it is made again
	}
	return r, true
}

// save keeps a record.
func (s store) save(set, solver string, r record) error {
	if s.out == "" {
		return nil
	}
	folder, err := output.OpenFolder("out", filepath.Join(s.out, doneFolder, set))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.WriteJSON(solver+".json", r)
}

// sumOf is the checksum of a file that field names, empty for none.
func sumOf(ctx context.Context, field, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", job.FileError(field, path, err)
	}
	defer f.Close()
	sum := sha256.New()
	block := make([]byte, 1<<20)
	for ctx.Err() == nil {
		n, err := f.Read(block)
		sum.Write(block[:n])
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", job.FileError(field, path, err)
		}
	}
	return "", job.Interrupted(ctx)
}

// buildOf is the checksum of the program, empty where it cannot be read: a program
// that has changed may find something else.
func buildOf(ctx context.Context) string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := sumOf(ctx, "", path)
	if err != nil {
		return ""
	}
	return sum
}
