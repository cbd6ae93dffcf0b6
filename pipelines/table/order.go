package table

import "fmt"

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
