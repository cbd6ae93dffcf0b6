package table

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
)

// cleaned is a table's samples as they are estimated from: transformed, and without
// those that miss values where they are to be left out. It is a covariance.Source.
type cleaned struct {
	samples *arrowio.Samples
	source  Source
	names   []string
	keep    bool // missing values are NaN

	tails            tails
	read, left       int   // samples
	missing, without int   // missing values, and samples that have one
	lacking          []int // missing values by variable
	kept             []int // which of the samples read are left, where columns stand beside them
}

func newCleaned(t *Table, keep bool) *cleaned {
	return &cleaned{samples: t.samples, source: t.source, names: t.Names, keep: keep, lacking: make([]int, len(t.Names))}
}

// Next implements covariance.Source.
func (c *cleaned) Next() ([]float64, int, error) {
	before, _ := c.samples.Missing()
	rows, n, err := c.samples.Next()
	if err != nil {
		if err == io.EOF {
			err = c.end()
		}
		return nil, 0, err
	}
	d := len(c.names)
	if after, _ := c.samples.Missing(); after == before && (c.source.Transform == "" || c.source.Transform == job.TransformNone) && !c.source.besides() { // all samples are whole
		c.tails.add(rows, d)
		c.read += n
		c.left += n
		return rows, n, nil
	}
	kept := 0
	for i := range n {
		row := rows[i*d : (i+1)*d]
		if err := c.transform(row, c.read+i); err != nil {
			return nil, 0, err
		}
		whole := c.count(row)
		if whole || c.keep {
			copy(rows[kept*d:(kept+1)*d], row)
			kept++
			if c.source.besides() {
				c.kept = append(c.kept, c.read+i)
			}
		}
	}
	c.tails.add(rows[:kept*d], d)
	c.read += n
	c.left += kept
	return rows[:kept*d], kept, nil
}

// count counts the missing values of a sample, and reports whether it has none.
func (c *cleaned) count(row []float64) bool {
	whole := true
	for j, v := range row {
		if v != v {
			whole = false
			c.missing++
			c.lacking[j]++
		}
	}
	if !whole {
		c.without++
	}
	return whole
}

// end is what follows the last sample: io.EOF, or what is wrong with the table as a
// whole.
func (c *cleaned) end() error {
	switch {
	case c.missing > 0 && (c.source.Missing == "" || c.source.Missing == job.MissingError):
		return c.refuse()
	case c.missing > 0 && c.source.Missing == job.MissingRows && c.left < 2:
		return job.Errorf("missing", "%d of %d samples have no missing value, and two are needed; choose pairwise or em, or leave out the variables that miss most", c.left, c.read)
	}
	return io.EOF
}

// refuse is the error of missing values where none are accepted.
func (c *cleaned) refuse() error {
	_, first := c.samples.Missing()
	e := *first
	variables := 0
	for _, n := range c.lacking {
		if n > 0 {
			variables++
		}
	}
	of := func(n, all int, what string) string {
		if n == 1 {
			return fmt.Sprintf("1 %s of %d", what, all)
		}
		return fmt.Sprintf("%d %ss of %d", n, what, all)
	}
	if c.missing == 1 {
		e.Reason = "the value is missing, the only one of the table"
	} else {
		e.Reason = fmt.Sprintf("the value is missing, the first of %d in %s and %s", c.missing, of(c.without, c.read, "sample"), of(variables, len(c.names), "variable"))
	}
	e.Advice = arrowio.Advice{
		Option: "missing", Value: job.MissingPairwise,
		With:    "to go on choose %s, em, rows (the other " + fmt.Sprint(c.read-c.without) + " samples) or mean, or fill the values in",
		Without: "fill the values in, or leave out the rows or columns",
	}
	if slices.Contains(c.source.Fixed, e.Advice.Option) {
		e.Advice.Option = ""
	}
	return &e
}

// transform replaces the values of sample i, which may miss some.
func (c *cleaned) transform(row []float64, i int) error {
	var f func(float64) float64
	var least float64
	switch c.source.Transform {
	case job.TransformLog:
		f, least = math.Log, 0
	case job.TransformLog1p:
		f, least = math.Log1p, -1
	default:
		return nil
	}
	for j, v := range row {
		if v <= least {
			advice := "leave out the variable"
			if least == 0 && v > -1 {
				advice = "choose " + job.TransformLog1p + ", or leave out the variable"
			}
			return job.Errorf("transform", "variable %q has the value %v in sample %d, and %s takes values above %v only; %s", c.names[j], v, i+1, c.source.Transform, least, advice)
		}
		if v == v {
			row[j] = f(v)
		}
	}
	return nil
}

// A Preparation says what was done to a table before anything was estimated.
type Preparation struct {
	// SamplesRead and VariablesRead are those of the file, Missing its missing values.
	SamplesRead, VariablesRead, Missing int
	// WithoutSome counts the samples that miss a value.
	WithoutSome int
	// Excluded counts the samples of the file that Source.Rows and ExcludeRows have left
	// out, WithoutWeight those of weight zero.
	Excluded, WithoutWeight int
	// Adjusted says what was regressed out, Weighted what the weights are; nil for nothing.
	Adjusted *job.AdjustedResult
	Weighted *job.WeightedResult
	// Constant are the variables that were left out because they do not vary.
	Constant []string
	// LeastVariance is the smallest variance of the variables that Source.TopVariance
	// has left; 0 without it.
	LeastVariance float64
}

// treatsMissing says that samples with missing values are kept.
func (s Source) treatsMissing() bool {
	switch s.Missing {
	case job.MissingPairwise, job.MissingEM, job.MissingMean:
		return true
	}
	return false
}

// gather reads all samples into memory, and leaves out the variables that are not
// wanted.
func (t *Table) gather(ctx context.Context, report *progress.Reporter) error {
	c := newCleaned(t, t.source.treatsMissing())
	// Appending takes a quarter more, and copies.
	perSample := 18 * int64(len(t.Names))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, n, err := c.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return FieldError("input", err)
		}
		if t.keep != nil {
			if err := t.keep(perSample * int64(n)); err != nil {
				return err
			}
		}
		t.rows = append(t.rows, rows...)
		if report != nil {
			report.Report(math.NaN(), progress.Count(c.read, "sample"))
		}
	}
	t.cleaned = c
	t.sha256 = t.samples.SHA256()
	t.Preparation = c.preparation()
	beside := t.samples.Beside()
	t.samples.Close()
	t.samples = nil
	if err := t.adjust(ctx, beside); err != nil {
		return FieldError("adjust", err)
	}
	return t.leaveOut()
}

func (c *cleaned) preparation() Preparation {
	out := c.samples.LeftOut()
	return Preparation{SamplesRead: c.read + out, VariablesRead: len(c.names), Missing: c.missing, WithoutSome: c.without, Excluded: out}
}

// leaveOut takes constant variables and those of little variance out of the rows.
func (t *Table) leaveOut() error {
	d := len(t.Names)
	variances := covariance.WeightedVariances(t.rows, d, t.weights)
	kurtosis := t.cleaned.tails.kurtosis()
	var left []int
	for j, v := range variances {
		if v == 0 && t.source.Constant == job.ConstantDrop {
			t.Preparation.Constant = append(t.Preparation.Constant, t.Names[j])
			continue
		}
		left = append(left, j)
	}
	if len(left) == 0 {
		if t.Preparation.Adjusted != nil {
			return job.Errorf("adjust", "nothing is left that varies: all %d variables are constant, or wholly explained by the covariates", d)
		}
		return job.Errorf("input", "no variable varies: all %d are constant", d)
	}
	if n := t.source.TopVariance; n > 0 && n < len(left) {
		left, t.Preparation.LeastVariance = largest(left, variances, n)
	}
	if t.kurtosis = kurtosis; len(left) == d {
		return nil
	}
	names := make([]string, len(left))
	for k, j := range left {
		names[k], kurtosis[k] = t.Names[j], kurtosis[j]
	}
	t.Names, t.kurtosis = names, kurtosis[:len(left)]
	m, to := len(t.rows)/d, 0
	for i := range m {
		row := t.rows[i*d : (i+1)*d]
		for _, j := range left {
			t.rows[to] = row[j]
			to++
		}
	}
	t.rows = t.rows[:to:to]
	return nil
}

// headerWarning is a sentence on names that are numbers, if some but not all are, or all
// are whole numbers; "" if there is nothing to say.
func headerWarning(names []string, streamed bool) string {
	var numbers []string
	for _, n := range names {
		if isNumber(n) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return ""
	}
	const few = 3
	some := strings.Join(numbers[:min(few, len(numbers))], ", ")
	if len(numbers) > few {
		some += ", …"
	}
	what := "if the first line of the table is no header, say so with no_header"
	if streamed {
		what = "if they are no names, give the columns others"
	}
	return fmt.Sprintf("%d of %d names of variables are numbers (%s); %s", len(numbers), len(names), some, what)
}
