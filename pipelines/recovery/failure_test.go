package recovery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// inTheWay makes folders of these names, with something in them, so that no file can
// have one.
func inTheWay(t *testing.T, out string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(out, name, "kept"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// readDocument is run.json.
func readDocument(t *testing.T, out string) job.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r job.Result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// isWritten checks a file against what the document says of it.
func isWritten(t *testing.T, out string, f job.WrittenFile) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, f.Name))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if f.Bytes != int64(len(data)) || f.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v, and the file has %d bytes, %x", f, len(data), sum)
	}
}

func namesOf(files []job.WrittenFile) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// scored is a job of two solvers with a reference.
func scored(t *testing.T, out string) job.Job {
	return job.Job{
		Input: testtable.CSV(t, 6, 50), IDColumn: "id", Solvers: []string{"bcd", "admm"}, Penalty: "0.2",
		Reference: testtable.File(t, "known.tsv", testtable.Star), Out: out,
	}
}

// run.json lists every file of the run, with the bytes that it has.
func TestFilesAreListed(t *testing.T) {
	for format, want := range map[string][]string{
		"parquet": {"bcd.edges.parquet", "bcd.precision.parquet"},
		"arrow":   {"bcd.edges.arrow", "bcd.precision.arrow"},
		"csv":     {"bcd.edges.csv", "bcd.edges.csv-metadata.json", "bcd.precision.csv", "bcd.precision.csv-metadata.json"},
	} {
		t.Run(format, func(t *testing.T) {
			out := t.TempDir()
			j := scored(t, out)
			j.Format = format
			for range 2 { // new files, and such as replace others
				if _, err := Run(context.Background(), j, Host{}); err != nil {
					t.Fatal(err)
				}
				r := readDocument(t, out)
				if r.Error != "" || !slices.Equal(namesOf(r.Solvers[0].Files), want) {
					t.Errorf("%q, %q, want %q", r.Error, namesOf(r.Solvers[0].Files), want)
				}
				listed := []string{"run.json"}
				for _, f := range slices.Concat(r.Solvers[0].Files, r.Solvers[1].Files, r.Files) {
					isWritten(t, out, f)
					listed = append(listed, f.Name)
				}
				slices.Sort(listed)
				if there := testtable.List(t, out); !slices.Equal(listed, there) {
					t.Errorf("listed are %q, there are %q", listed, there)
				}
			}
		})
	}
}

// What cannot be written fails the run, and nothing else: run.json says what failed
// and what is there, hosts get the tables all the same, and what was in the folder
// before stays.
func TestFilesThatCannotBeWritten(t *testing.T) {
	for name, c := range map[string]struct {
		blocked []string
		// Of the first solver: whether it has an error, and its files.
		failed bool
		files  []string
		run    []string // files of the run
		said   string
	}{
		"edges":     {[]string{"bcd.edges.parquet"}, true, nil, []string{"metrics.parquet", "report.html"}, "bcd.edges.parquet"},
		"precision": {[]string{"bcd.precision.parquet"}, true, []string{"bcd.edges.parquet"}, []string{"metrics.parquet", "report.html"}, "bcd.precision.parquet"},
		"metrics":   {[]string{"metrics.parquet"}, false, []string{"bcd.edges.parquet", "bcd.precision.parquet"}, []string{"report.html"}, "metrics.parquet"},
		"two":       {[]string{"bcd.edges.parquet", "metrics.parquet"}, true, nil, []string{"report.html"}, "besides, writing"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			inTheWay(t, out, c.blocked...)
			var taken []string
			result, err := Run(context.Background(), scored(t, out), Host{Solved: func(n Network) error {
				if len(n.Tables) == 3 {
					taken = append(taken, n.Result.Name)
				}
				return nil
			}})
			var wrong *job.Error
			if err == nil || errors.As(err, &wrong) || !strings.Contains(err.Error(), c.said) {
				t.Fatalf("error %v", err)
			}
			if !slices.Equal(taken, []string{"bcd", "admm"}) {
				t.Errorf("tables of %q", taken)
			}
			for _, r := range []job.Result{*result, readDocument(t, out)} {
				if !r.Partial || r.Error != err.Error() || len(r.Solvers) != 2 {
					t.Fatalf("%+v", r)
				}
				first, second := r.Solvers[0], r.Solvers[1]
				if (first.Error != "") != c.failed || first.Status != "converged" || !slices.Equal(namesOf(first.Files), c.files) {
					t.Errorf("the first solver: %+v", first)
				}
				if second.Error != "" || len(second.Files) != 2 {
					t.Errorf("the second solver: %+v", second)
				}
				if !slices.Equal(namesOf(r.Files), c.run) {
					t.Errorf("files of the run: %+v", r.Files)
				}
				for _, f := range slices.Concat(first.Files, second.Files, r.Files) {
					isWritten(t, out, f)
				}
			}
			want := slices.Concat(c.blocked, c.files, c.run, []string{"admm.edges.parquet", "admm.precision.parquet", "run.json"})
			slices.Sort(want)
			if there := testtable.List(t, out); !slices.Equal(there, want) {
				t.Errorf("in the folder are %q, want %q", there, want)
			}
			for _, name := range c.blocked {
				if _, err := os.Stat(filepath.Join(out, name, "kept")); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A run.json that cannot be written fails the run, whatever became of it before.
func TestDocumentThatCannotBeWritten(t *testing.T) {
	for name, blocked := range map[string][]string{
		"alone": {"run.json"},
		"last":  {"run.json", "bcd.edges.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			inTheWay(t, out, blocked...)
			result, err := Run(context.Background(), scored(t, out), Host{})
			var undocumented *DocumentError
			if !errors.As(err, &undocumented) || !strings.Contains(err.Error(), "run.json") {
				t.Fatalf("error %v", err)
			}
			if first, _, also := strings.Cut(err.Error(), "; besides, "); also != (len(blocked) > 1) || also && !strings.Contains(first, "bcd.edges.parquet") {
				t.Errorf("error %v", err)
			}
			if !result.Partial || result.Error != err.Error() || len(result.Solvers[1].Files) != 2 {
				t.Errorf("%+v", result)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		out := t.TempDir()
		inTheWay(t, out, "run.json")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		result, err := Run(ctx, scored(t, out), Host{Progress: func(p progress.Update) {
			if p.Solver == "bcd" && p.Done {
				cancel()
			}
		}})
		if err == nil || errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "besides, the run was interrupted") {
			t.Errorf("what had finished is not kept: %v", err)
		}
		if result == nil || result.Error != err.Error() {
			t.Errorf("%+v", result)
		}
	})
}

// An interruption does not hide that what had finished could not be written.
func TestInterruptedAfterAFailedWrite(t *testing.T) {
	for _, at := range []struct {
		solver string
		done   bool
	}{{"bcd", true}, {"admm", false}} { // between two solvers, and in the second
		t.Run(at.solver, func(t *testing.T) {
			out := t.TempDir()
			inTheWay(t, out, "bcd.edges.parquet")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			result, err := Run(ctx, scored(t, out), Host{Progress: func(p progress.Update) {
				if p.Solver == at.solver && p.Done == at.done {
					cancel()
				}
			}})
			if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "bcd.edges.parquet") ||
				!strings.HasSuffix(err.Error(), "besides, the run was interrupted") {
				t.Fatalf("error %v", err)
			}
			if r := readDocument(t, out); r.Error != err.Error() || result.Error != r.Error || !r.Partial {
				t.Errorf("%q, in run.json %q", result.Error, r.Error)
			}
		})
	}
}

// A folder that is removed in the middle of a run.
func TestFolderIsRemoved(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	result, err := Run(context.Background(), scored(t, out), Host{Progress: func(p progress.Update) {
		if p.Stage == progress.Solving && p.Solver == "bcd" && !p.Done {
			os.RemoveAll(out)
		}
	}})
	if err == nil || result == nil || !result.Partial || result.Error != err.Error() {
		t.Fatalf("%+v, %v", result, err)
	}
	for _, s := range result.Solvers {
		if s.Error == "" || s.Files != nil {
			t.Errorf("%+v", s)
		}
	}
}

// A run that fails leaves files of the run before: run.json does not take them for
// its own, and while the run is at work the old one does not take the new files for
// its own.
func TestStaleFilesAreTold(t *testing.T) {
	out := t.TempDir()
	j := scored(t, out)
	j.Reference = ""
	if _, err := Run(context.Background(), j, Host{}); err != nil {
		t.Fatal(err)
	}
	before := readDocument(t, out)
	stale := before.Solvers[0].Files[1]
	// The second run cannot replace the edges of bcd, and not those of admm with
	// anything better.
	if err := os.Remove(filepath.Join(out, "bcd.edges.parquet")); err != nil {
		t.Fatal(err)
	}
	inTheWay(t, out, "bcd.edges.parquet")
	j.Penalty = "0.3"
	_, err := Run(context.Background(), j, Host{Progress: func(p progress.Update) {
		if p.Solver != "admm" || !p.Done {
			return
		}
		old := readDocument(t, out)
		data, err := os.ReadFile(filepath.Join(out, "admm.edges.parquet"))
		sum := sha256.Sum256(data)
		if err != nil || old.Error != "" || old.Solvers[1].Files[0].SHA256 == hex.EncodeToString(sum[:]) {
			t.Errorf("the old run.json vouches for the new file: %+v, %v", old.Solvers[1].Files, err)
		}
	}})
	if err == nil {
		t.Fatal("no error")
	}
	after := readDocument(t, out)
	if after.Error == "" || after.Solvers[0].Error == "" || after.Solvers[0].Files != nil {
		t.Errorf("%+v", after)
	}
	isWritten(t, out, stale) // it stays, and nothing lists it any more
	for _, f := range after.Solvers[1].Files {
		isWritten(t, out, f)
		if slices.Contains(before.Solvers[1].Files, f) {
			t.Errorf("%s is that of the run before", f.Name)
		}
	}
}
