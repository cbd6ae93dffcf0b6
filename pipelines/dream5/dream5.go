// Package dream5 scores solvers on a network of the DREAM5 challenge, or of DREAM4, as
// the challenge was scored: the pairs that the gold standard labels, regulator to
// target, AUROC and AUPR. Beside them stand two other populations, standard errors by
// bootstrap over the regulators, paired differences, and published figures.
//
//	r, err := dream5.Run(ctx, job.Dream5{Folder: "dream5", Out: "results"}, dream5.Host{})
//
// The folder has the challenge's files under the names that they are downloaded with,
// in sub-folders too, compressed by gzip or not:
//
//	net3_expression_data.tsv                     samples × genes with a header
//	net3_transcription_factors.tsv               the list of regulators
//	DREAM5_NetworkInference_GoldStandard_Network3 - E. coli.tsv
//	insilico_size100_1_multifactorial.tsv        DREAM4
//	DREAM4_GoldStandard_InSilico_Size100_multifactorial_1.tsv
//
// Shorter names do too, see patterns; and other data under the challenge's names, such as
// merged conditions, which the Result says.
package dream5

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/comparison"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// DocumentFile is the name of the document that a run leaves in its folder.
const DocumentFile = "dream5.json"

// A Result is what a run has found: dream5.json.
type Result struct {
	Version string `json:"version"`
	// Dream5 is what was asked for, with all defaults filled in.
	Dream5 job.Dream5 `json:"dream5"`
	// Partial says that results are missing: the run was interrupted, or a solver has
	// failed. Error says which.
	Partial bool   `json:"partial"`
	Error   string `json:"error,omitempty"`
	// Network is 3, or size100_1; Title what it is; Others the networks that the folder
	// has besides.
	Network string   `json:"network"`
	Title   string   `json:"title"`
	Others  []string `json:"others,omitempty"`
	Data    Data     `json:"data"`
	// Populations are what figures are on, in the order of Population.
	Populations []PopulationResult `json:"populations"`
	Solvers     []SolverResult     `json:"solvers"`
	// Published are figures of others on the challenge's data and the first of the
	// populations.
	Published []Published `json:"published,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
	// Files are those that were written, dream5.json aside.
	Files   []job.WrittenFile `json:"files,omitempty"`
	Seconds job.Float         `json:"seconds"`
}

// Data says what was found.
type Data struct {
	Expression string `json:"expression"`
	Gold       string `json:"gold"`
	Regulators string `json:"regulators,omitempty"`
	// Checksums of them, in hexadecimal.
	ExpressionSHA256 string `json:"expression_sha256"`
	GoldSHA256       string `json:"gold_sha256"`
	RegulatorsSHA256 string `json:"regulators_sha256,omitempty"`
	// Samples and Genes are those of the expression file, Used the genes that solvers are
	// given. Listed counts the regulators of the list, Found those of them that are used.
	Samples int `json:"samples"`
	Genes   int `json:"genes"`
	Used    int `json:"used"`
	Listed  int `json:"listed"`
	Found   int `json:"found"`
	// Whole says that there are as many samples and genes as in the challenge; Text says
	// in a sentence what the data are.
	Whole bool   `json:"whole"`
	Text  string `json:"text"`
}

// A PopulationResult is a population of pairs.
type PopulationResult struct {
	// Name is that of Figure.Population.
	Name string `json:"name"`
	job.PopulationResult
}

// A SolverResult is what was found of one solver.
type SolverResult struct {
	Solver string `json:"solver"`
	// Regulators says that the solver was given the list of regulators.
	Regulators bool      `json:"regulators"`
	Status     string    `json:"status"`
	Error      string    `json:"error,omitempty"`
	Seconds    job.Float `json:"seconds"`
	// Figures are those of metric.OfRankings on each of the populations; nil for a solver
	// that has failed.
	Figures []Figure `json:"figures,omitempty"`
	// List is the name of the file with the ranked list.
	List string `json:"list,omitempty"`

	figures []comparison.Figures // one for each population
}

// Name is the solver, and whether it was given the regulators.
func (s SolverResult) Name() string {
	if s.Regulators {
		return s.Solver + ", regulators"
	}
	return s.Solver
}

// A Figure is a metric on a population.
type Figure struct {
	Population string    `json:"population"`
	Metric     string    `json:"metric"`
	Value      job.Float `json:"value"`
	// StandardError is that of Value, by bootstrap over the regulators; NaN without.
	StandardError job.Float `json:"standard_error"`
	// Minus has the differences from the baselines, except from the solver itself.
	Minus []Difference `json:"minus,omitempty"`
}

// A Difference is a figure less that of a baseline, on the same bootstrap samples.
type Difference struct {
	Baseline      string    `json:"baseline"`
	Value         job.Float `json:"value"`
	StandardError job.Float `json:"standard_error"`
}

// A Host is what a run takes from its caller. The zero value is fine.
type Host struct {
	// Progress, if set, is called with every update.
	Progress func(progress.Update)
}

// run is one run of a Dream5, which is resolved.
type run struct {
	job.Dream5
	host      Host
	resamples int
	network   *network
	table     *comparison.Table
	listed    map[string]bool // the regulators; nil without a list
	judges    []*comparison.Judge
	folder    *output.Folder // nil without one
	report    *reportPage    // nil without one
	result    *Result
}

// Run does a Dream5. What is wrong with it or its files is a *job.Error. A solver that
// fails does not stop the others: the Result says so, and so does the error at the end,
// which is no *job.Error. When ctx ends first, the Result has what had finished, and the
// error wraps that of ctx.
func Run(ctx context.Context, d job.Dream5, host Host) (*Result, error) {
	if err := Validate(d); err != nil {
		return nil, err
	}
	started := time.Now()
	r := &run{Dream5: Resolved(d), host: host, result: &Result{Version: job.Version(), Solvers: []SolverResult{}}}
	r.result.Dream5 = r.Dream5
	r.resamples = r.Bootstrap.Count()
	found, err := search(ctx, r.Folder)
	if err != nil {
		return nil, err
	}
	if r.network, err = found.choose(r.Folder, r.Network); err != nil {
		return nil, err
	}
	r.result.Network, r.result.Others = r.network.name, found.others(r.network)
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	if r.Out != "" {
		if r.folder, err = output.OpenFolder("out", r.Out); err != nil {
			return nil, err
		}
		defer r.folder.Close()
	}
	if err := r.openReport(); err != nil {
		r.folder.Discard()
		return nil, err
	}
	defer r.report.close()
	failure := r.passes(ctx)
	r.compare()
	if failure != nil {
		r.result.Partial, r.result.Error = true, job.ErrorText(failure, job.FieldOption)
	}
	r.result.Seconds = job.Float(time.Since(started).Seconds())
	if err := r.write(); err != nil {
		return r.result, errors.Join(failure, err)
	}
	return r.result, failure
}

// passes runs the solvers without the list of regulators and, if there is one, with it. The
// error names those that failed.
func (r *run) passes(ctx context.Context) error {
	j := r.Solving()
	if err := r.pass(ctx, j, false); err != nil {
		return err
	}
	if j.Regulators = r.network.regulators; j.Regulators != "" {
		if err := r.pass(ctx, j, true); err != nil {
			return err
		}
	}
	var failed []string
	for _, s := range r.result.Solvers {
		if s.Error != "" {
			failed = append(failed, s.Name())
		}
	}
	if failed != nil {
		return fmt.Errorf("%d of %d solvers failed: %s", len(failed), len(r.result.Solvers), strings.Join(failed, "; "))
	}
	return nil
}

// pass runs the solvers that can run a job.
func (r *run) pass(ctx context.Context, j job.Job, regulators bool) error {
	named := r.Solvers
	if named == nil {
		named = slices.DeleteFunc(recovery.SolverNames(), func(s string) bool { return s == "am" })
	}
	if j.Solvers = comparison.Runnable(named, j); j.Solvers == nil {
		return nil
	}
	ran, err := comparison.Solve(ctx, j, r.table, comparison.Host{Progress: r.told(regulators)}, func(s comparison.Solved) error {
		found := SolverResult{Solver: s.Result.Name, Regulators: regulators, Status: s.Result.StatusText(), Seconds: s.Result.Seconds}
		for _, judge := range r.judges {
			f, err := judge.Score(ctx, s.Scores)
			if err != nil {
				return err
			}
			found.figures = append(found.figures, f)
		}
		if r.report != nil {
			if err := r.report.add(r, found.Name(), s.Scores); err != nil {
				return err
			}
		}
		err := r.writeList(&found, s.Scores)
		r.result.Solvers = append(r.result.Solvers, found)
		return err
	})
	if ran == nil {
		return err
	}
	for _, w := range ran.Warnings {
		if !slices.Contains(r.result.Warnings, w) {
			r.result.Warnings = append(r.result.Warnings, w)
		}
	}
	for _, s := range ran.Solvers {
		if s.Error != "" {
			r.result.Solvers = append(r.result.Solvers, SolverResult{Solver: s.Name, Regulators: regulators, Status: s.StatusText(), Seconds: s.Seconds, Error: s.Error})
		}
	}
	return err
}

// told passes updates on, with what the solver was given.
func (r *run) told(regulators bool) func(progress.Update) {
	if r.host.Progress == nil || !regulators {
		return r.host.Progress
	}
	return func(u progress.Update) {
		if u.Solver != "" {
			u.Solver = SolverResult{Solver: u.Solver, Regulators: true}.Name()
		}
		r.host.Progress(u)
	}
}

// Facts are the names that a job.Dream5 may hold.
func Facts() job.Facts {
	f := recovery.Facts()
	f.Defaults["penalty"] = recovery.EBIC
	f.Words["baselines"] = recovery.SolverNames()
	f.Words["format"] = arrowio.TableFormats().Names()
	return f
}
