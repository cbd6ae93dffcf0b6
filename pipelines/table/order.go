package table

import (
	"fmt"
	"math"
)

// alike is the correlation of successive samples from which on a table is taken for a series in
// time: of independent samples its median over variables is near zero.
const alike = 0.5

// leastOrdered is the number of samples from which on their order says something.
const leastOrdered = 20

// orderWarnings are sentences on samples that follow each other.
func (t *Table) orderWarnings() []string {
	c := t.cleaned
	if c == nil || len(c.tails.counts) == 0 || c.left < leastOrdered {
		return nil
	}
	if r := c.tails.serial(); r > alike {
		return []string{fmt.Sprintf("samples resemble those before them (a variable's correlation with itself one sample before is %.2g in the median), as in a series in time: they count as fewer than they are, and too many edges are found; take differences, or returns of prices, or samples further apart", r)}
	}
	return nil
}

// labelWarnings are sentences on a first column that may be the labels of the samples.
func (t *Table) labelWarnings() []string {
	c := t.cleaned
	if c == nil || !c.tails.labels || c.left < leastOrdered || len(t.Names) < 2 || t.Names[0] != c.names[0] || t.source.besides() || c.source.Transform == "log" || c.source.Transform == "log1p" {
		return nil
	}
	return []string{fmt.Sprintf("the first column, %q, has whole numbers that rise from row to row, as labels do, and was taken for a variable; if it labels the rows, name it as the id column, or leave it out", t.Names[0])}
}

// squareWarnings are sentences on a table of samples that looks like a covariance.
func (t *Table) squareWarnings() []string {
	c := t.cleaned
	if c == nil || c.read != len(c.names) {
		return nil
	}
	switch symmetric, ones := c.tails.symmetric(len(c.names)); {
	case ones:
		return []string{"the table is symmetric and has ones on its diagonal, as a correlation has, and its rows were taken for samples; if it is one, give correlation as the kind of the input, and the number of samples"}
	case symmetric:
		return []string{"the table is symmetric, as a covariance is, and its rows were taken for samples; if it is one, give covariance as the kind of the input, and the number of samples"}
	}
	return nil
}

// symmetric reports whether the first variables of the first samples form a symmetric matrix
// that is not zero but for its diagonal, and whether its diagonal is 1. Of d variables.
func (t *tails) symmetric(d int) (symmetric, ones bool) {
	const least, rounding = 4, 1e-6 // programs write six digits or more
	n := min(d, mostCorner)
	if n < least || len(t.corner) < n*n {
		return false, false
	}
	ones = true
	var largest float64
	for i := range n {
		ones = ones && math.Abs(t.corner[i*n+i]-1) <= rounding
		for j := range i {
			a, b := t.corner[i*n+j], t.corner[j*n+i]
			if !(math.Abs(a-b) <= rounding*max(math.Abs(a), math.Abs(b))) {
				return false, false
			}
			largest = max(largest, math.Abs(a))
		}
	}
	return largest > 0, ones && largest > 0
}
