package job

import (
	"slices"
	"strings"
)

// Marks that Job.Decimal and Job.Thousands may be.
const (
	decimalMarks   = ".,"
	thousandsMarks = ",. '_"
)

// checkTable checks the fields that say how samples are read.
func (j Job) checkTable() error {
	for _, f := range []struct {
		key   string
		given bool
	}{
		{"sheet", j.Sheet != ""}, {"no_header", j.NoHeader}, {"decimal", j.Decimal != ""}, {"thousands", j.Thousands != ""}, {"na", len(j.NA) > 0},
		{"columns", len(j.Columns) > 0}, {"exclude", len(j.Exclude) > 0}, {"transform", j.Transform != ""},
		{"rows", len(j.Rows) > 0}, {"exclude_rows", len(j.ExcludeRows) > 0}, {"adjust", len(j.Adjust) > 0}, {"weights", j.Weights != ""},
		{"constant", j.Constant != ""}, {"top_variance", j.TopVariance != 0}, {"missing", j.Missing != ""},
	} {
		if f.given && !j.SamplesGiven() {
			return Errorf(f.key, "this is for samples, and the input is their %s; leave it out", j.InputKind)
		}
	}
	switch {
	case j.Decimal != "" && (len(j.Decimal) != 1 || !strings.Contains(decimalMarks, j.Decimal)):
		return Errorf("decimal", "%q is no decimal mark; give . or a comma", j.Decimal)
	case j.Thousands != "" && (len(j.Thousands) != 1 || !strings.Contains(thousandsMarks, j.Thousands)):
		return Errorf("thousands", "%q is no mark between thousands; give a comma, a point, a space, ' or _", j.Thousands)
	case j.Thousands != "" && (j.Thousands == j.Decimal || j.Thousands == "." && j.Decimal == ""):
		return Errorf("thousands", "%q is the decimal mark too; give another one for either", j.Thousands)
	case j.TopVariance < 0:
		return Errorf("top_variance", "%d is negative; give the number of variables to take", j.TopVariance)
	}
	const emptySample = "a label is empty; give the label of a sample, a pattern, or a number such as #3"
	const empty = "a name is empty; name a variable, or a pattern such as GENE_*"
	switch {
	case slices.Contains(j.Columns, ""):
		return Errorf("columns", empty)
	case slices.Contains(j.Exclude, ""):
		return Errorf("exclude", empty)
	case slices.Contains(j.Rows, ""):
		return Errorf("rows", emptySample)
	case slices.Contains(j.ExcludeRows, ""):
		return Errorf("exclude_rows", emptySample)
	case slices.Contains(j.Adjust, ""):
		return Errorf("adjust", "a name is empty; name a column, or give #N for the N-th")
	}
	return j.checkBeside()
}

// checkBeside checks what goes with columns that stand beside the variables.
func (j Job) checkBeside() error {
	const whole = "%s needs samples with all their values, and missing %s keeps others; choose rows, which leaves out samples that miss a value"
	treated := j.Missing == MissingPairwise || j.Missing == MissingEM || j.Missing == MissingMean
	switch {
	case len(j.Adjust) > 0 && treated:
		return Errorf("adjust", whole, "a regression on covariates", j.Missing)
	case j.Weights == "":
		return nil
	case treated:
		return Errorf("weights", whole, "a weighted covariance", j.Missing)
	case slices.Contains(j.Adjust, j.Weights):
		return Errorf("weights", "column %q is a covariate too; name it once", j.Weights)
	case j.Correlation != "" && j.Correlation != "pearson" && j.Correlation != "none":
		return Errorf("weights", "the correlation %s is of samples of equal weight; choose pearson or none, or leave the weights out", j.Correlation)
	case j.Shrinkage == ShrinkageLedoitWolf:
		return Errorf("weights", "ledoit-wolf is for samples of equal weight; give a shrinkage from 0 to 1, or leave the weights out")
	}
	return nil
}

// WholeSamples says that the samples themselves can be worked with: that they are given,
// of equal weight, and that those which miss a value are completed or left out.
func (j Job) WholeSamples() bool {
	return j.SamplesGiven() && j.Missing != MissingPairwise && j.Missing != MissingEM && j.Weights == ""
}
