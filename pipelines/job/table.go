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
	const empty = "a name is empty; name a variable, or a pattern such as GENE_*"
	switch {
	case slices.Contains(j.Columns, ""):
		return Errorf("columns", empty)
	case slices.Contains(j.Exclude, ""):
		return Errorf("exclude", empty)
	}
	return nil
}
