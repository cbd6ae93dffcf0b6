package page

import (
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

// KnownBy says of pairs of variables what a population knows: of one of all pairs that
// every pair that is not positive is none. Where directed is set the pair is that from i
// to j, as far as the population tells directions apart; otherwise it is an edge if
// either direction is.
func KnownBy(p *metric.Population, directed bool) func(i, j int) Known {
	labels := make(map[metric.Pair]bool)
	for k, q := range p.Pairs {
		if p.Kind == metric.Labelled || p.Positive[k] {
			labels[q] = p.Positive[k]
		}
	}
	return func(i, j int) Known {
		right, listed := labels[metric.Pair{I: int32(i), J: int32(j)}]
		if !directed || p.Undirected {
			back, too := labels[metric.Pair{I: int32(j), J: int32(i)}]
			right, listed = right || back, listed || too
		}
		switch {
		case right:
			return Right
		case listed || p.Kind == metric.All:
			return Wrong
		}
		return Unknown
	}
}

// A Curve is that of one ranking.
type Curve struct {
	Name string
	metric.Curves
}

// RankingCharts are the ROC and the precision-recall curves of rankings of one population,
// of which chance is the share of positive pairs.
func RankingCharts(chance float64, curves []Curve) []Chart {
	roc := Chart{Title: "ROC", X: "false positive rate", Y: "true positive rate", Unit: true, Diagonal: true, SwitchX: true}
	recall := Chart{
		Title: "Precision and recall", X: "recall", Y: "precision", Unit: true, SwitchX: true, LogX: true,
		Rule: chance, RuleName: "chance",
	}
	for _, c := range curves {
		roc.Series = append(roc.Series, Series{Name: c.Name, X: c.FPR, Y: c.TPR})
		recall.Series = append(recall.Series, Series{Name: c.Name, X: c.Recall, Y: c.Precision})
	}
	return []Chart{roc, recall}
}

// A Degree is the degrees of the variables in one network.
type Degree struct {
	Name    string
	Degrees []int
	// Like is the name of the series whose colour it has: see Series.
	Like string
}

// DegreeChart is how many variables have so many edges or more, by network.
func DegreeChart(networks []Degree) Chart {
	c := Chart{Title: "Variables by number of edges", X: "edges, k", Y: "variables with k edges or more", LogX: true, LogY: true, SwitchX: true, Dots: true}
	for _, n := range networks {
		degrees := slices.Clone(n.Degrees)
		slices.Sort(degrees)
		s := Series{Name: n.Name, Like: n.Like}
		for i, d := range degrees {
			if d > 0 && (i == 0 || d != degrees[i-1]) {
				s.X, s.Y = append(s.X, float64(d)), append(s.Y, float64(len(degrees)-i))
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// ReferenceDegrees returns the degrees of the variables in the network of a population's
// positive pairs, each unordered pair counted once, under the name reference.
func ReferenceDegrees(p *metric.Population, variables int) Degree {
	s := make(map[metric.Pair]bool)
	d := Degree{Name: "reference", Degrees: make([]int, variables)}
	for k, q := range p.Pairs {
		if !p.Positive[k] {
			continue
		}
		if q.I > q.J {
			q.I, q.J = q.J, q.I
		}
		if !s[q] {
			s[q] = true
			d.Degrees[q.I]++
			d.Degrees[q.J]++
		}
	}
	return d
}

// MetricColumns are the columns of metrics in a table: the best is the highest of
// those that a ranking is enough for, and no other.
func MetricColumns(metrics []metric.Metric) []Column {
	columns := make([]Column, len(metrics))
	for i, m := range metrics {
		columns[i] = Column{Title: m.Title, Number: true}
		if m.OfRanking {
			columns[i].Best = Higher
		}
	}
	return columns
}

// Figure is a number in a format of fmt, and a dash for one that is not finite.
func Figure(v float64, format string) string {
	if !finite(v) {
		return "–"
	}
	return fmt.Sprintf(format, v)
}

// Files are those that a document lists.
func Files(written []job.WrittenFile) []File {
	files := make([]File, len(written))
	for i, f := range written {
		files[i] = File(f)
	}
	return files
}
