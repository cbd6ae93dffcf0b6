// Package benchmark runs solvers on many tables with known networks and sets them
// against one of them: metrics for every set, means for every group of sets and over
// the groups, paired differences with standard errors, and in how many a solver wins.
//
//	r, err := benchmark.Run(ctx, job.Benchmark{Sets: "sets", Out: "results"}, benchmark.Host{})
//
// Sets is a folder or a list; see Set. What one solver has done on one set is kept in
// the folder Out and not repeated by a later run, unless the files, the options or the
// program have changed.
package benchmark

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// DocumentFile is the name of the document that a benchmark leaves in its folder.
const DocumentFile = "benchmark.json"

// A Result is what a benchmark has found: benchmark.json.
type Result struct {
	Version string `json:"version"`
	// Benchmark is what was asked for, with all defaults filled in.
	Benchmark job.Benchmark `json:"benchmark"`
	// Partial says that results are missing: the benchmark was interrupted, or a set
	// or a solver has failed. Error says which.
	Partial bool   `json:"partial"`
	Error   string `json:"error,omitempty"`
	// Sets are in their order, Groups in that of their first sets; Overall is over the
	// groups, each with the same weight.
	Sets    []SetResult `json:"sets"`
	Groups  []Summary   `json:"groups"`
	Overall Summary     `json:"overall"`
	// Files are those that were written, benchmark.json and what is done aside.
	Files   []job.WrittenFile `json:"files,omitempty"`
	Seconds job.Float         `json:"seconds"`
}

// A SetResult is what was found on one set.
type SetResult struct {
	Set
	// Error is why there are no figures, or not all; empty otherwise.
	Error    string   `json:"error,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// SHA256 is the checksum of the table, whose numbers of samples and variables stand
	// beside it.
	SHA256    string `json:"sha256,omitempty"`
	Samples   int    `json:"samples"`
	Variables int    `json:"variables"`
	// Reference is the known network and the pairs that were scored.
	Reference job.ReferenceResult `json:"reference_result"`
	Solvers   []SolverFigures     `json:"solvers"`
}

// A Host is what a benchmark takes from its caller. The zero value is fine.
type Host struct {
	// Progress, if set, is called with every update, whose Solver has the name of the
	// set before it.
	Progress func(progress.Update)
	// Build identifies the program: what another has done is repeated. Default: the
	// checksum of the executable.
	Build string
}

// run is one run of a Benchmark, which is resolved.
type run struct {
	job.Benchmark
	host      Host
	resamples int
	build     string
	models    [2]string // checksums of Model and RankingModel, if they are files
	store     store
}

// Run does a benchmark. What is wrong with the benchmark itself is a *job.Error,
// returned before a solver starts. A set whose files are wrong, and a solver that
// fails, do not stop the others: the Result says so, and so does the error at the end,
// which is no *job.Error. When ctx ends first, the Result has what had finished, and
// the error wraps that of ctx.
func Run(ctx context.Context, b job.Benchmark, host Host) (*Result, error) {
	if err := Validate(b); err != nil {
		return nil, err
	}
	started := time.Now()
	r := &run{Benchmark: Resolved(b), host: host, build: host.Build}
	r.resamples = r.Bootstrap.Count()
	r.store = store{r.Out, r.Repeat}
	sets, err := r.sets()
	if err != nil {
		return nil, err
	}
	if r.models[0], err = sumOfModel(ctx, "model", r.Model); err != nil {
		return nil, err
	}
	if r.models[1], err = sumOfModel(ctx, "ranking_model", r.RankingModel); err != nil {
		return nil, err
	}
	var folder *output.Folder
	if r.Out != "" {
		if folder, err = output.OpenFolder("out", r.Out); err != nil {
			return nil, err
		}
		defer folder.Close()
		if r.build == "" {
			r.build = buildOf(ctx)
		}
	}
	var report *output.File
	if r.Report != "" {
		if report, err = output.OpenFileIn(nil, "report", r.Report); err != nil {
			folder.Discard()
			return nil, err
		}
		defer report.Close()
	}
	result := &Result{Version: job.Version(), Benchmark: r.Benchmark}
	failure := r.all(ctx, sets, result)
	result.summarise(r.Baseline)
	if failure != nil {
		result.Partial, result.Error = true, job.ErrorText(failure, job.FieldOption)
	}
	result.Seconds = job.Float(time.Since(started).Seconds())
	if err := result.write(folder, report); err != nil {
		return result, errors.Join(failure, err)
	}
	return result, failure
}

// Sets are those of the folder or the list at path, as job.Benchmark's Sets and Root name
// them. What the user can put right is a *job.Error of the fields sets and root.
func Sets(path, root string) ([]Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, job.FileError("sets", path, err)
	}
	read := func() ([]Set, error) { return readList(path, root) }
	if info.IsDir() {
		if root != "" {
			return nil, job.Errorf("root", "%s is a folder, whose files need no root; leave this out", path)
		}
		read = func() ([]Set, error) { return findSets(path) }
	}
	sets, err := read()
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for i := range sets {
		s := &sets[i]
		if s.Name == "" {
			s.Name, _ = withoutExtension(filepath.Base(s.Table))
		}
		if s.Name == "" || len(s.Name) > 100 || !filepath.IsLocal(s.Name) || filepath.Base(s.Name) != s.Name || strings.HasPrefix(s.Name, ".") {
			return nil, job.Errorf("sets", "%q is no name for a set, which a folder is called by; name it otherwise", s.Name)
		}
		if seen[s.Name] {
			return nil, job.Errorf("sets", "two sets are called %q; give each a name of its own", s.Name)
		}
		seen[s.Name] = true
		if s.Group == "" {
			s.Group = s.Name
		}
	}
	return sets, nil
}

// sets are those of the folder or the list, with their defaults.
func (r *run) sets() ([]Set, error) {
	sets, err := Sets(r.Sets, r.Root)
	for i := range sets {
		sets[i] = r.withDefaults(sets[i])
	}
	return sets, err
}

// all runs one set after the other. The error names those that failed.
func (r *run) all(ctx context.Context, sets []Set, result *Result) error {
	var failed []string
	for _, s := range sets {
		if ctx.Err() != nil {
			return job.Interrupted(ctx)
		}
		found, err := r.set(ctx, s)
		if err != nil {
			found.Error = job.ErrorText(err, job.FieldOption)
		}
		failure := err != nil
		for _, f := range found.Solvers {
			failure = failure || f.Error != ""
			found.compare(f.Solver, r.Baseline)
		}
		result.Sets = append(result.Sets, found)
		if ctx.Err() != nil {
			return job.Interrupted(ctx)
		}
		if failure {
			failed = append(failed, s.Name)
		}
	}
	if failed != nil {
		return fmt.Errorf("%d of %d sets failed, or a solver did on them: %s", len(failed), len(sets), strings.Join(failed, ", "))
	}
	return nil
}

// told passes updates on with the name of the set.
func (r *run) told(set string) func(progress.Update) {
	if r.host.Progress == nil {
		return nil
	}
	return func(u progress.Update) {
		if u.Solver == "" {
			u.Solver = string(u.Stage)
		}
		u.Solver = set + ", " + u.Solver
		r.host.Progress(u)
	}
}

// solving is the job for the solvers of every set.
func (r *run) solving() job.Job { return r.Benchmark.Solving() }

// sumOfModel is the checksum of a model that is a file.
func sumOfModel(ctx context.Context, field, path string) (string, error) {
	if _, err := os.Stat(path); path == "" || err != nil {
		return "", nil // a built-in one, or one that recovery will not find
	}
	return sumOf(ctx, field, path)
}
