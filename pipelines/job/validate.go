package job

import (
	"math"
	"strings"
)

// Validate reports the first field that is wrong in itself or contradicts
// another, as an *Error. It reads no file, and does not know which solvers there
// are: see recovery.Validate.
func (j Job) Validate() error { return j.ValidateBy(Facts{}) }

// ValidateBy is Validate with the words that a program knows.
func (j Job) ValidateBy(known Facts) error {
	if err := CheckFields(&j, known); err != nil {
		return err
	}
	for _, check := range []func() error{
		j.checkInput, j.checkTable, j.checkEstimate,
		func() error { return j.checkSolvers(known) },
		func() error { return j.checkPenalty(known) },
		j.checkLimits, j.checkReference, j.checkOutput, j.checkDevice, j.checkLabels,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (j Job) checkInput() error {
	switch {
	case j.Input == "":
		return Errorf("input", "no table is named; give the path of one, or - for standard input")
	case j.Samples < 0:
		return Errorf("samples", "%d is negative; give the number of samples behind the %s", j.Samples, j.InputKind)
	case j.SamplesGiven() && j.Samples > 0:
		return Errorf("samples", "the samples of a table are counted; leave this out, or say that the input is a covariance")
	case !j.SamplesGiven() && j.Samples < 2:
		return Errorf("samples", "the number of samples is missing; say how many, at least 2, the %s was computed from", j.InputKind)
	case !j.SamplesGiven() && j.Orientation == "columns":
		return Errorf("orientation", "a %s has no orientation; leave this out", j.InputKind)
	}
	return nil
}

func (j Job) checkEstimate() error {
	weight, isNumber := j.Shrinkage.Number()
	switch {
	case !j.SamplesGiven() && (j.Correlation != "" && j.Correlation != "pearson" && j.Correlation != "none"):
		return Errorf("correlation", "%s needs the samples, not their %s; choose pearson or none", j.Correlation, j.InputKind)
	case !j.SamplesGiven() && j.RankingCorrelation != "":
		return Errorf("ranking_correlation", "a %s cannot be estimated again; leave this out", j.InputKind)
	case !j.SamplesGiven() && j.Divisor != "":
		return Errorf("divisor", "a %s has been divided already; leave this out", j.InputKind)
	case !(j.FDR >= 0 && j.FDR <= 1):
		return Errorf("fdr", "%v is no share; give a number above 0 and not above 1, such as 0.2", j.FDR)
	case j.Shrinkage == ShrinkageLedoitWolf && !j.SamplesGiven():
		return Errorf("shrinkage", "ledoit-wolf needs the samples, not their %s; give a weight from 0 to 1", j.InputKind)
	case j.Shrinkage == ShrinkageLedoitWolf && (j.Missing == MissingPairwise || j.Missing == MissingEM):
		return Errorf("shrinkage", "ledoit-wolf needs every value of a sample; give a weight from 0 to 1, or choose rows or mean for missing values")
	case j.Shrinkage == "" || j.Shrinkage == ShrinkageLedoitWolf:
	case !isNumber || weight < 0 || weight > 1:
		return Errorf("shrinkage", "%q is neither a weight from 0 to 1 nor ledoit-wolf", string(j.Shrinkage))
	}
	return nil
}

func (j Job) checkSolvers(known Facts) error {
	return CheckNames("solvers", "solver", j.Solvers, known.Words["solvers"])
}

func (j Job) checkLimits() error {
	for _, f := range []struct {
		key   string
		value float64
	}{
		{"gap", j.Gap}, {"time_limit", float64(j.TimeLimit)}, {"iteration_limit", float64(j.IterationLimit)}, {"threads", float64(j.Threads)},
		{"admm_lambda", j.ADMMLambda}, {"am_lambda", j.AMLambda},
	} {
		switch {
		case math.IsNaN(f.value) || math.IsInf(f.value, 0):
			return Errorf(f.key, "%v is not finite; give a positive number", f.value)
		case f.value < 0:
			return Errorf(f.key, "the value is negative; give a positive one, or leave it out for the default")
		}
	}
	return nil
}

func (j Job) checkReference() error {
	switch {
	case j.Reference == "" && j.Population != "":
		return Errorf("population", "there is no reference to score with; add one, or leave this out")
	case j.Reference == "" && j.Undirected:
		return Errorf("undirected", "there is no reference to score with; add one, or leave this out")
	}
	return checkStdin(&j)
}

func (j Job) checkOutput() error {
	if _, ok := j.Top(); !ok {
		return Errorf("edges", "%q is unknown; choose support, all, top:N with N at least 1, or fdr:Q with Q above 0", j.Edges)
	}
	if _, ok := j.EdgeFDR(); !ok {
		return Errorf("edges", "%q bounds no false discovery rate; give a number above 0 and not above 1, such as fdr:0.1", j.Edges)
	}
	if err := j.checkConfidence(); err != nil {
		return err
	}
	if err := CheckReport(j.ReportPath()); err != nil {
		return Errorf("report", "%q is neither none nor the name of an HTML page, which ends in .html", j.Report)
	}
	switch {
	case j.Units == UnitsOriginal && j.InputKind == KindCorrelation:
		return Errorf("units", "a correlation does not tell the original units; give the samples or their covariance")
	}
	return nil
}

// checkConfidence reports what is wrong about how sure edges are.
func (j Job) checkConfidence() error {
	tests := "p_values"
	if j.PValues == "" {
		tests = "edges"
	}
	halves := "stability"
	if j.Stability == 0 {
		halves = "false_edges"
	}
	const mostPairs = 1000 // stability.MostPairs
	switch {
	case j.Stability < 0 || j.Stability > mostPairs:
		return Errorf("stability", "%d is no number of pairs of halves; give one from 1 to %d, such as 50", j.Stability, mostPairs)
	case !(j.FalseEdges >= 0) || math.IsInf(j.FalseEdges, 0):
		return Errorf("false_edges", "%v is no number of edges; give one above 0, such as 5", j.FalseEdges)
	case (j.Stability > 0 || j.FalseEdges > 0) && !j.SamplesGiven():
		return Errorf(halves, "halves are of samples, and the input is their %s; give the samples, or leave this out", j.InputKind)
	case j.FalseEdges > 0 && j.Edges != "" && j.Edges != EdgesSupport:
		return Errorf("false_edges", "edges lists %s, whatever is kept; leave one of the two out", j.Edges)
	case (j.Stability > 0 || j.FalseEdges > 0) && j.Adapt == AdaptTrain:
		return Errorf(halves, "adapt train would train for every half of the samples; choose experts, or leave one of the two out")
	case !(j.Confidence >= 0 && j.Confidence < 1):
		return Errorf("confidence", "%v is no probability below 1; give one such as 0.95", j.Confidence)
	case j.Confidence != 0 && !j.TestsPairs():
		return Errorf("confidence", "there are no intervals without tests; ask for these by p_values, or leave this out")
	case j.TestsPairs() && j.Regulators != "":
		return Errorf(tests, "tests are of undirected pairs, and edges start at regulators; leave one of the two out")
	}
	return nil
}

// CheckReport reports a path of the field report, of any document, that is no name of
// an HTML page, as an *Error. The extension keeps the page apart from every other file
// of a run.
func CheckReport(path string) error {
	if path != "" && !strings.HasSuffix(path, ".html") {
		return Errorf("report", "%q is no HTML page; give a name that ends in .html", path)
	}
	return nil
}
