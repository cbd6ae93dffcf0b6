package table

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/covariance"
)

// adjust leaves the samples out that miss a covariate or have no weight, and puts the
// residuals of the variables on the covariates in their place.
func (t *Table) adjust(ctx context.Context, columns []arrowio.Beside) error {
	if len(columns) == 0 {
		return nil
	}
	if err := t.pickSamples(columns); err != nil {
		return err
	}
	if t.source.Weights != "" {
		last := len(columns) - 1
		if err := t.weigh(&columns[last]); err != nil {
			return err
		}
		columns = columns[:last]
	}
	if len(columns) == 0 {
		return nil
	}
	d := len(t.Names)
	done := &job.AdjustedResult{}
	var terms [][]float64
	var of []int // which covariate a term belongs to
	for i, c := range columns {
		all, levels := t.terms(&c)
		if levels < 0 {
			return job.Errorf("adjust", "covariate %q has a different word in every sample and leaves nothing of any variable; leave it out, or if it labels the samples name it as the id column", c.Name)
		}
		done.Covariates = append(done.Covariates, job.CovariateResult{Name: c.Name, Words: levels})
		for range all {
			of = append(of, i)
		}
		terms = append(terms, all...)
		if levels == 0 && fewWhole(c.Numbers) {
			t.notes = append(t.notes, fmt.Sprintf("covariate %q has few values, whole numbers, and was taken for a number; if they name groups, write them as words", c.Name))
		}
	}
	m := len(t.rows) / d
	if t.keep != nil {
		if err := t.keep(8 * int64(m+d) * int64(len(terms)+2)); err != nil {
			return err
		}
	}
	fit, err := covariance.Residuals(ctx, t.rows, d, terms, t.weights)
	if err != nil {
		return err
	}
	t.covariates = terms
	effective := m
	if t.weights != nil {
		effective = int(covariance.EffectiveSamples(t.weights))
	}
	if effective-fit.Rank < 2 {
		return job.Errorf("adjust", "the covariates take %d degrees of freedom of %d samples, and two at least must be left; name fewer of them", fit.Rank, effective)
	}
	done.Rank = fit.Rank
	for i, c := range columns {
		own, gone := 0, 0
		for k := range of {
			if of[k] == i {
				own++
				if slices.Contains(fit.Redundant, k) {
					gone++
				}
			}
		}
		if gone == own { // also of a covariate with one word
			done.Redundant = append(done.Redundant, c.Name)
		} else if gone > 0 {
			done.PartlyRedundant = append(done.PartlyRedundant, c.Name)
		}
	}
	for _, j := range fit.Explained {
		done.Explained = append(done.Explained, t.Names[j])
	}
	t.Preparation.Adjusted = done
	if n := len(done.Redundant); n > 0 {
		t.notes = append(t.notes, fmt.Sprintf("of the covariates %s says nothing besides the others, or is the same in all samples; it takes no degree of freedom", job.AllOf(done.Redundant)))
	}
	if n := len(done.PartlyRedundant); n > 0 {
		t.notes = append(t.notes, fmt.Sprintf("some groups of %s are determined by the other covariates, and take no degree of freedom", job.AllOf(done.PartlyRedundant)))
	}
	t.cleaned.tails = tails{}
	t.cleaned.tails.add(t.rows, d)
	return nil
}

// pickSamples makes columns those of the samples that are there, and leaves out samples that
// miss one of their values or have the weight zero.
func (t *Table) pickSamples(columns []arrowio.Beside) error {
	kept, p := t.cleaned.kept, &t.Preparation
	var left []int // of the rows
	var first string
	missing := 0
	for i, k := range kept {
		whole := true
		for _, c := range columns {
			if c.Missing(k) {
				whole = false
				missing++
				if first == "" {
					first = fmt.Sprintf("%q in sample %d", c.Name, k+1)
				}
			}
		}
		if !whole {
			p.WithoutSome++
			continue
		}
		if t.source.Weights != "" {
			w := columns[len(columns)-1]
			if w.Numbers == nil {
				return job.Errorf("weights", "column %q holds words, and weights are numbers; name another column", w.Name)
			}
			switch v := w.Numbers[k]; {
			case v < 0:
				return job.Errorf("weights", "the weight of sample %d is %v, and weights are not negative; put it right, or leave the sample out", k+1, v)
			case v == 0:
				p.WithoutWeight++
				continue
			}
		}
		left = append(left, i)
	}
	if missing > 0 && t.source.Missing != job.MissingRows {
		return job.Errorf("missing", "a covariate or weight is missing: %s, %d in all; choose rows, which leaves such samples out, or fill it in", first, missing)
	}
	p.Missing += missing
	if len(left) < 2 {
		if p.WithoutWeight > 0 {
			return job.Errorf("weights", "%d of %d samples have a weight above zero, and two are needed", len(left), len(kept))
		}
		return job.Errorf("missing", "%d samples have all covariates, and two are needed; leave out the covariate that misses most", len(left))
	}
	d := len(t.Names)
	for to, i := range left {
		copy(t.rows[to*d:(to+1)*d], t.rows[i*d:(i+1)*d])
	}
	t.rows = t.rows[: len(left)*d : len(left)*d]
	for c := range columns {
		b := &columns[c]
		numbers, words := b.Numbers, b.Words
		b.Numbers, b.Words = nil, nil
		for _, i := range left {
			if numbers != nil {
				b.Numbers = append(b.Numbers, numbers[kept[i]])
			} else {
				b.Words = append(b.Words, words[kept[i]])
			}
		}
	}
	return nil
}

// weigh takes the weights, all of which are positive.
func (t *Table) weigh(c *arrowio.Beside) error {
	t.weights = c.Numbers
	effective := covariance.EffectiveSamples(t.weights)
	const rounded = 1e-9
	if effective+rounded < 2 {
		return job.Errorf("weights", "%d samples count as %.3g with the weights of column %q, and two are needed; a few weights are far above the others", len(t.weights), effective, c.Name)
	}
	t.Preparation.Weighted = &job.WeightedResult{Column: c.Name, Samples: effective, Zero: t.Preparation.WithoutWeight}
	return nil
}

// terms are the columns of a covariate in the regression: itself, or where it has words an
// indicator of every one but the first in their order, and the number of words; −1 where
// every sample has its own.
func (t *Table) terms(c *arrowio.Beside) (terms [][]float64, words int) {
	if c.Numbers != nil {
		return [][]float64{c.Numbers}, 0
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(c.Words)))
	if len(distinct) == len(c.Words) {
		return nil, -1
	}
	index := Positions(distinct)
	for range distinct[1:] {
		terms = append(terms, make([]float64, len(c.Words)))
	}
	for i, w := range c.Words {
		if k := index[w]; k > 0 {
			terms[k-1][i] = 1
		}
	}
	return terms, len(distinct)
}

// fewWhole says that numbers may be the names of groups: three to ten whole ones.
func fewWhole(values []float64) bool {
	const least, most = 3, 10
	seen := make(map[float64]bool)
	for _, v := range values {
		if seen[v] = true; v != math.Trunc(v) || len(seen) > most {
			return false
		}
	}
	return len(seen) >= least && len(values) > 2*len(seen)
}

// explained is the reason of a variable that the covariates explain wholly; empty for others.
func (t *Table) explained(name string) string {
	if a := t.Preparation.Adjusted; a != nil && slices.Contains(a.Explained, name) {
		return "the covariates explain all of " + strconv.Quote(name) + ", of which nothing is left that varies"
	}
	return ""
}
