package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/inference"
)

// shownFDR is the false discovery rate whose pairs are counted where the job names none.
const shownFDR = 0.1

// test tests every pair of variables, if the job asks for it. It has a time limit of its own:
// where that ends it, the run goes on without tests, unless the list of edges needs them.
func (r *run) test(ctx context.Context, p solver.Problem) error {
	if !r.job.TestsPairs() {
		return nil
	}
	report := r.stage(progress.Testing, "")
	limited, cancel := r.limit(ctx)
	defer cancel()
	start := time.Now()
	tests, method, err := r.testBy(limited, p, report)
	switch {
	case ctx.Err() != nil:
		return job.Interrupted(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		report.Done("no time left")
		if fdr, _ := r.job.EdgeFDR(); fdr > 0 {
			return job.Errorf("edges", "the tests did not end within the time limit of %v; raise it, or choose other edges", r.job.TimeLimit)
		}
		r.result.Warnings = append(r.result.Warnings, fmt.Sprintf("pairs are not tested, for the tests did not end within the time limit of %v", r.job.TimeLimit))
		return nil
	case errors.Is(err, inference.ErrTooFewSamples), errors.Is(err, inference.ErrSingular):
		return &job.Error{Field: r.testField(), Reason: err.Error() + "; " + r.otherTest(), Err: err}
	case err != nil:
		return err
	}
	r.tests = tests
	d := p.S.Len()
	out := &job.TestsResult{
		Method: method, Samples: tests.Samples, Pairs: d * (d - 1) / 2, Confidence: job.Float(r.job.Confidence), FDR: shownFDR,
		Penalty: tests.Penalty, Degree: tests.Degree, Caveats: r.caveats(tests), Seconds: job.Float(time.Since(start).Seconds()),
	}
	if method == job.PValuesLasso {
		out.Crowding = tests.Crowding()
	}
	if fdr, _ := r.job.EdgeFDR(); fdr > 0 {
		out.FDR = job.Float(fdr)
	}
	out.Kept = tests.Kept(float64(out.FDR))
	r.result.Tests = out
	if len(out.Caveats) > 0 {
		r.result.Warnings = append(r.result.Warnings, "p-values are approximate: "+strings.Join(out.Caveats, "; "))
	}
	report.Done(fmt.Sprintf("%d of %d pairs at a false discovery rate of %.3g", out.Kept, out.Pairs, float64(out.FDR)))
	return nil
}

// testBy runs the test that the job asks for. auto is the classical test where that has at
// least half of the samples left, and the covariance an inverse.
func (r *run) testBy(ctx context.Context, p solver.Problem, report *progress.Reporter) (*inference.Tests, string, error) {
	s := inference.Settings{Engine: r.engine, Recorder: &gapRecorder{Reporter: report}}
	method := r.job.PValues
	if method == job.PValuesAuto {
		method = job.PValuesLasso
		if p.Samples >= max(2*p.S.Len(), p.S.Len()+2) {
			method = job.PValuesPartial
		}
	}
	if method == job.PValuesPartial {
		tests, err := inference.PartialCorrelations(ctx, p, s)
		if !errors.Is(err, inference.ErrSingular) || r.job.PValues != job.PValuesAuto {
			return tests, method, err
		}
		method = job.PValuesLasso
	}
	tests, err := inference.Desparsified(ctx, p, s)
	return tests, method, err
}

// testField is the field of the job that asks for tests.
func (r *run) testField() string {
	if fdr, _ := r.job.EdgeFDR(); fdr > 0 {
		return "edges"
	}
	return "p_values"
}

// otherTest is what to do where a test is not possible.
func (r *run) otherTest() string {
	if r.job.PValues == job.PValuesPartial {
		return "choose " + job.PValuesLasso + ", or leave out the tests"
	}
	return "leave out the tests"
}

// caveats are sentences on what the theory of the tests does not cover.
func (r *run) caveats(t *inference.Tests) []string {
	var list []string
	if m := r.result.Input.Correlation; r.job.SamplesGiven() && m != covariance.Pearson.String() && m != covariance.Covariance.String() {
		list = append(list, "the theory is that of samples, not of their ranks or scores, which "+m+" takes")
	}
	if r.result.Input.Shrinkage > 0 {
		list = append(list, "the covariance is shrunk, and the theory is that of one that is not")
	}
	if r.result.Input.Missing != nil && r.job.Missing != job.MissingRows {
		list = append(list, fmt.Sprintf("values are missing, and every pair counts as one of %d samples", t.Samples))
	}
	const many = 1
	if t.Penalty > 0 && t.Crowding() > many {
		list = append(list, fmt.Sprintf("the network is crowded for so few samples: the theory wants s·log d/√M far below 1, s being the largest number of neighbours, and it is %.2g (simulated networks have had too few small p-values then, rarely too many)", t.Crowding()))
	}
	return list
}

// tested are the columns that the tests give.
func (r *run) tested() []pairColumn {
	t, level := r.tests, r.job.Confidence
	if t == nil {
		return nil
	}
	return []pairColumn{
		{arrowio.PValue, func(i, j int, _ float64) float64 { return t.P(i, j) }},
		{arrowio.QValue, func(i, j int, _ float64) float64 { return t.Q(i, j) }},
		{arrowio.Lower, func(i, j int, _ float64) float64 { lower, _ := t.Interval(i, j, level); return lower }},
		{arrowio.Upper, func(i, j int, _ float64) float64 { _, upper := t.Interval(i, j, level); return upper }},
	}
}

// testMemory is what tests of all pairs take at a time, and what they keep, in bytes: a
// graphical lasso, the estimates twice, p-values and q-values in order, and what is
// multiplied.
func testMemory(c solverConfig, d int) (peak, kept int64) {
	kept = 3 * matrix(d)
	return bcdEntry().memory(c, d) + kept + 2*matrix(d), kept
}

// lists says whether a pair is listed that a solver has found: what the tests keep, where the
// job asks for a false discovery rate, and what the halves of the samples do, where it bounds
// the false edges.
func (r *run) lists(kept func(i, j int) bool) func(i, j int) bool {
	fdr, _ := r.job.EdgeFDR()
	switch {
	case fdr > 0:
		return func(i, j int) bool { return r.tests.Q(i, j) <= fdr }
	case kept != nil:
		return kept
	}
	return func(int, int) bool { return true }
}
