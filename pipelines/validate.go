package pipelines

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Validate reports the first field that is wrong in itself or contradicts
// another, as a *JobError. It reads no file: what the files hold is checked by
// Run before a solver starts.
func (j Job) Validate() error {
	if err := checkChoices(&j); err != nil {
		return err
	}
	for _, check := range []func(Job) error{
		Job.checkInput, Job.checkEstimate, Job.checkSolvers, Job.checkPenalty,
		Job.checkLimits, Job.checkReference, Job.checkOutput,
	} {
		if err := check(j); err != nil {
			return err
		}
	}
	return nil
}

func (j Job) samplesGiven() bool { return j.InputKind == "" || j.InputKind == KindSamples }

func (j Job) checkInput() error {
	switch {
	case j.Input == "":
		return wrong("input", "no table is named; give the path of one, or - for standard input")
	case j.Samples < 0:
		return wrong("samples", "%d is negative; give the number of samples behind the %s", j.Samples, j.InputKind)
	case j.samplesGiven() && j.Samples > 0:
		return wrong("samples", "the samples of a table are counted; leave this out, or say that the input is a covariance")
	case !j.samplesGiven() && j.Samples < 2:
		return wrong("samples", "the number of samples is missing; say how many, at least 2, the %s was computed from", j.InputKind)
	case !j.samplesGiven() && j.Orientation == "columns":
		return wrong("orientation", "a %s has no orientation; leave this out", j.InputKind)
	}
	return nil
}

func (j Job) checkEstimate() error {
	weight, isNumber := j.Shrinkage.Number()
	switch {
	case !j.samplesGiven() && (j.Correlation == "spearman" || j.Correlation == "nonparanormal"):
		return wrong("correlation", "%s needs the samples, not their %s; choose pearson or none", j.Correlation, j.InputKind)
	case !j.samplesGiven() && j.Divisor != "":
		return wrong("divisor", "a %s has been divided already; leave this out", j.InputKind)
	case j.Shrinkage == ShrinkageLedoitWolf && !j.samplesGiven():
		return wrong("shrinkage", "ledoit-wolf needs the samples, not their %s; give a weight from 0 to 1", j.InputKind)
	case j.Shrinkage == "" || j.Shrinkage == ShrinkageLedoitWolf:
	case !isNumber || weight < 0 || weight > 1:
		return wrong("shrinkage", "%q is neither a weight from 0 to 1 nor ledoit-wolf", string(j.Shrinkage))
	}
	return nil
}

func (j Job) checkSolvers() error {
	known := SolverNames()
	for i, name := range j.Solvers {
		if !slices.Contains(known, name) {
			return wrong("solvers", "%q is unknown; choose from %s", name, strings.Join(known, ", "))
		}
		if slices.Contains(j.Solvers[:i], name) {
			return wrong("solvers", "%s is named twice; name every solver once", name)
		}
	}
	return nil
}

func (j Job) checkPenalty() error {
	rho, isNumber := j.Penalty.Number()
	switch {
	case j.Penalty == "":
	case j.PenaltyMatrix != "":
		return wrong("penalty", "both a penalty (%s) and a penalty matrix are given; leave one out", string(j.Penalty))
	case j.Penalty == PenaltyEBIC:
	case !isNumber:
		return wrong("penalty", "%q is neither a finite number nor ebic", string(j.Penalty))
	case rho < 0:
		return wrong("penalty", "%s is negative; give a number that is zero or more, or ebic", string(j.Penalty))
	}
	return nil
}

func (j Job) checkLimits() error {
	for _, f := range []struct {
		key   string
		value float64
	}{
		{"gap", j.Gap}, {"time_limit", float64(j.TimeLimit)}, {"iteration_limit", float64(j.IterationLimit)},
		{"admm_lambda", j.ADMMLambda}, {"am_lambda", j.AMLambda},
	} {
		switch {
		case math.IsNaN(f.value) || math.IsInf(f.value, 0):
			return wrong(f.key, "%v is not finite; give a positive number", f.value)
		case f.value < 0:
			return wrong(f.key, "the value is negative; give a positive one, or leave it out for the default")
		}
	}
	return nil
}

func (j Job) checkReference() error {
	switch {
	case j.Reference == "" && j.Population != "":
		return wrong("population", "there is no reference to score with; add one, or leave this out")
	case j.Reference == "" && j.Undirected:
		return wrong("undirected", "there is no reference to score with; add one, or leave this out")
	}
	onStdin := ""
	for _, f := range []struct{ key, path string }{
		{"input", j.Input}, {"reference", j.Reference}, {"penalty_matrix", j.PenaltyMatrix},
	} {
		if f.path != "-" {
			continue
		}
		if onStdin != "" {
			return wrong(f.key, "standard input is the %s already; name a file", onStdin)
		}
		onStdin = f.key
	}
	return nil
}

func (j Job) checkOutput() error {
	if _, ok := j.top(); !ok {
		return wrong("edges", "%q is unknown; choose support, all or top:N with N at least 1", j.Edges)
	}
	switch {
	case j.Units == UnitsOriginal && j.InputKind == KindCorrelation:
		return wrong("units", "a correlation does not tell the original units; give the samples or their covariance")
	case j.Device == DeviceCUDA:
		return wrong("device", "this build has no GPU code; choose cpu or auto")
	}
	return nil
}

// top is N of top:N, 0 for the other values of Edges, and whether Edges can be
// read.
func (j Job) top() (int, bool) {
	number, bounded := strings.CutPrefix(j.Edges, topPrefix)
	if !bounded {
		return 0, j.Edges == "" || j.Edges == EdgesSupport || j.Edges == EdgesAll
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 1
}
