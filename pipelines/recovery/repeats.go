package recovery

import (
	"math"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
)

// sameVariable is the correlation from which on two variables say the same: they share
// 99.98 % of their variance.
const sameVariable = 0.9999

// warnOfRepeats names the groups of variables that repeat each other. Given one of a
// group, the others say nothing more of the rest, so that its edges are split between
// them by chance.
func (r *run) warnOfRepeats(groups [][]int) {
	if groups != nil {
		r.warn("some variables repeat each other (correlation of %v and more, with either sign), so that their edges fall to one or the other by chance: %s; leave out all but one of a group", sameVariable, groupsText(r.table.Names, groups, len(groups), " = "))
	}
}

// mostGroups is the number of groups of variables that a warning names.
const mostGroups = 5

// groupsText names the first of so many groups of variables.
func groupsText(names []string, groups [][]int, count int, between string) string {
	const mostNames = 4
	var list []string
	for i, g := range groups {
		if i == mostGroups {
			break
		}
		var words []string
		for k, j := range g {
			if k == mostNames && len(g) > k+1 {
				words = append(words, strconv.Itoa(len(g)-k)+" more")
				break
			}
			words = append(words, strconv.Quote(names[j]))
		}
		list = append(list, strings.Join(words, between))
	}
	if count > len(list) {
		list = append(list, "and "+strconv.Itoa(count-len(list))+" groups more")
	}
	return strings.Join(list, "; ")
}

// repeats are the groups of two variables and more of which one is correlated with
// another by sameVariable or more, in the order of their first ones. The correlations of S
// were shrunk by a weight.
func repeats(s *dense.Sym, shrinkage float64) [][]int {
	d := s.Len()
	parent := make([]int, d)
	roots := make([]float64, d)
	for i := range parent {
		parent[i] = i
		roots[i] = math.Sqrt(s.At(i, i))
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	least := sameVariable * (1 - shrinkage)
	found := false
	for i := range d {
		row := s.Row(i)
		bound := least * roots[i]
		for j := i + 1; j < d; j++ {
			if math.Abs(row[j]) >= bound*roots[j] && bound > 0 {
				a, b := find(i), find(j)
				parent[max(a, b)] = min(a, b)
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	members := make(map[int][]int)
	for i := range d {
		root := find(i)
		members[root] = append(members[root], i)
	}
	var groups [][]int
	for i := range d {
		if g := members[i]; len(g) > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}

// farUnits is how far apart standard deviations may lie before a penalty in units of S is
// one for some variables only.
const farUnits = 1e6

// warnOfUnits warns of variables in very different units where S has them.
func (r *run) warnOfUnits(data *table.Data) {
	if r.table.Standardised() || len(data.StandardDeviations) == 0 {
		return
	}
	low, high := data.DeviationEnds()
	if least, most := data.StandardDeviations[low], data.StandardDeviations[high]; most > farUnits*least {
		r.warn("standard deviations go from %.2g (%q) to %.2g (%q), so that a penalty in units of the covariance weighs on some variables only; compare with the correlation pearson, which has no units", least, data.Names[low], most, data.Names[high])
	}
}

// warnOfPenalty warns of a penalty that nothing takes.
func (r *run) warnOfPenalty() {
	if anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesPenalty }) {
		return
	}
	if _, number := r.job.Penalty.Number(); number {
		r.warn("none of the solvers takes a penalty, and the one given (%s) changes nothing; add bcd, or leave it out", string(r.job.Penalty))
	}
}
