package experiment

import (
	"context"
	"math"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/dense"
)

// A cellResult is what one method has on the graphs of one cell.
type cellResult struct {
	name string
	// standard is the NMSE of the standardised variables, original that in the units of the
	// table by spread; nil where the method has none.
	standard *metric.NMSE
	original []*metric.NMSE
	// areas and precisions are AUROC and AUPR of the graphs that have edges.
	areas, precisions []float64
	reliability       *metric.Reliability
	// kept has, of the pairs that are kept by their probability, their number, the share of
	// false ones and that of the edges found; nil without probabilities.
	kept *keptPairs
}

type keptPairs struct{ pairs, wrong, recall []float64 }

func (k *keptPairs) add(edge func(i, j int) bool, truth *dense.Sym) {
	var n metric.Confusion
	for i := range truth.Len() {
		for j := i + 1; j < truth.Len(); j++ {
			switch found, is := edge(i, j), truth.At(i, j) != 0; {
			case found && is:
				n.TruePositives++
			case found:
				n.FalsePositives++
			case is:
				n.FalseNegatives++
			default:
				n.TrueNegatives++
			}
		}
	}
	k.pairs = append(k.pairs, float64(n.TruePositives+n.FalsePositives))
	k.wrong = append(k.wrong, n.FDR())
	k.recall = append(k.recall, n.TPR())
}

// judge runs a method on all graphs of a cell.
func (r *Run) judge(ctx context.Context, m contender, cases []*tableCase, scales []float64) (*cellResult, error) {
	answers := make([]*answer, len(cases))
	err := dense.Each(ctx, len(cases), r.Workers, func(_, i int) (err error) {
		answers[i], err = m.answer(ctx, cases[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	result := &cellResult{name: m.name, original: make([]*metric.NMSE, len(scales))}
	for i, a := range answers {
		if err := result.add(a, cases[i], scales, m.equalOnly); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func (result *cellResult) add(a *answer, c *tableCase, scales []float64, equalOnly bool) error {
	if a.standard != nil {
		if result.standard == nil {
			result.standard = new(metric.NMSE)
		}
		if err := result.standard.Add(a.standard, c.standard); err != nil {
			return err
		}
		for k, spread := range scales {
			z := a.standard
			switch {
			case equalOnly && spread != 0:
				continue
			case equalOnly:
				z = a.original[0]
			case a.original != nil:
				z = a.original[k]
			default:
				z = c.original(z, spread)
			}
			if result.original[k] == nil {
				result.original[k] = new(metric.NMSE)
			}
			if err := result.original[k].Add(z, times(c.truth, c.scales(spread))); err != nil {
				return err
			}
		}
	}
	rank, err := rankOf(a.score, c.truth)
	if err != nil || rank == nil {
		return err
	}
	area := rank.AUROC
	if a.area != nil {
		other, err := rankOf(a.area, c.truth)
		if err != nil {
			return err
		}
		area = other.AUROC
	}
	result.areas, result.precisions = append(result.areas, area), append(result.precisions, rank.AveragePrecision)
	if a.probability == nil {
		return nil
	}
	if result.reliability == nil {
		result.reliability, result.kept = new(metric.Reliability), new(keptPairs)
	}
	if a.kept != nil {
		result.kept.add(a.kept, c.truth)
	}
	truth := pairsOf(c.truth)
	for k, p := range pairsOf(a.probability) {
		if err := result.reliability.Add(p, truth[k] != 0); err != nil {
			return err
		}
	}
	return nil
}

// A measured is a figure with its standard error; NaN where there is none.
type measured struct{ value, err float64 }

var unmeasured = measured{math.NaN(), math.NaN()}

func (m measured) known() bool { return !math.IsNaN(m.value) }

// decibels is an NMSE.
func decibels(n *metric.NMSE) measured {
	if n == nil {
		return unmeasured
	}
	v, se, err := n.Decibels()
	if err != nil {
		return unmeasured
	}
	return measured{v, se}
}

// decibelsLess is the difference of the NMSE of two methods.
func decibelsLess(n, other *metric.NMSE) measured {
	if n == nil || other == nil {
		return unmeasured
	}
	v, se, err := n.Difference(other)
	if err != nil {
		return unmeasured
	}
	return measured{v, se}
}

// average is a mean over graphs, or that of the differences from another method.
func average(x, less []float64) measured {
	if len(x) == 0 {
		return unmeasured
	}
	if less != nil {
		x = differences(x, less)
	}
	v, se := metric.MeanAndError(x)
	return measured{v, se}
}

// named is the result of a method, without figures where it took no part.
func (c cell) named(name string) *cellResult {
	for _, x := range c.results {
		if x.name == name {
			return x
		}
	}
	none := &cellResult{name: name}
	if len(c.results) > 0 {
		none.original = make([]*metric.NMSE, len(c.results[0].original))
	}
	return none
}
