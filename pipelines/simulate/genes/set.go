package genes

import (
	"fmt"
	"slices"
	"strconv"
)

// An Edge is a regulator's influence on a target.
type Edge struct {
	// Source and Target are indices into Set.Names.
	Source, Target int
	// Sign is +1 where the source activates, -1 where it represses, 0 where it
	// does both or the family has no signs.
	Sign int8
}

// A Set is a table of simulated expression with the network behind it.
type Set struct {
	// Names are those of the genes, the columns of the table.
	Names []string
	// Rows is the number of samples.
	Rows int
	// Values are Rows × len(Names), row after row. Their scale is the family's:
	// most are in 0..1.5, but distorted tables can hold anything finite. No column
	// is constant.
	Values []float64
	// Edges are directed, ascending, without self-loops and duplicates. Both
	// directions of a pair may be there.
	Edges []Edge
	// Regulators are the genes listed as regulators, ascending: all sources of
	// edges, and maybe some without a target.
	Regulators []int
	// Background is the number of genes, the last ones, whose samples carry
	// nothing of the network: they are in the table, and no edge touches them.
	// Pairs with one of them are not to be scored.
	Background int
	// Family is one of Families.
	Family string
}

// A table holds expression gene by gene while it is made.
type table [][]float64

func newTable(genes, samples int) table {
	t := make(table, genes)
	all := make([]float64, genes*samples)
	for j := range t {
		t[j] = all[j*samples : (j+1)*samples : (j+1)*samples]
	}
	return t
}

// set makes the table of net a Set.
func (t table) set(family string, net *network, signs func(target, k int) int8) *Set {
	s := &Set{Family: family, Rows: len(t[0]), Names: geneNames(len(t)), Regulators: net.listed}
	for j, parents := range net.parents {
		for k, i := range parents {
			if i == j {
				continue
			}
			e := Edge{Source: i, Target: j}
			if signs != nil {
				e.Sign = signs(j, k)
			}
			s.Edges = append(s.Edges, e)
		}
	}
	slices.SortFunc(s.Edges, func(a, b Edge) int {
		return slices.Compare([]int{a.Source, a.Target}, []int{b.Source, b.Target})
	})
	s.Values = t.rows()
	return s
}

// rows are the values row after row.
func (t table) rows() []float64 {
	d := len(t)
	values := make([]float64, d*len(t[0]))
	for j, column := range t {
		for r, v := range column {
			values[r*d+j] = v
		}
	}
	return values
}

// columns is the table of s, gene by gene.
func (s *Set) columns() table {
	t := newTable(len(s.Names), s.Rows)
	for j := range t {
		for r := range t[j] {
			t[j][r] = s.Values[r*len(t)+j]
		}
	}
	return t
}

// geneNames are g1, g2, … of one width.
func geneNames(d int) []string {
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("g%0*d", len(strconv.Itoa(d)), i+1)
	}
	return names
}
