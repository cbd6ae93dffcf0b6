package experiment

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/dense"
)

// A fit is how near an estimate comes to a truth, over graphs.
type fit struct {
	nmse     metric.NMSE
	aupr, f1 []float64
}

func (f *fit) add(z, score, truth *dense.Sym, selected func(i, j int) bool) error {
	if err := f.nmse.Add(z, truth); err != nil {
		return err
	}
	rank, err := rankOf(score, truth)
	if err != nil {
		return err
	}
	if rank != nil {
		f.aupr = append(f.aupr, rank.AveragePrecision)
	}
	var kept keptPairs
	kept.add(selected, truth)
	if precision, recall := 1-kept.wrong[0], kept.recall[0]; precision+recall > 0 && kept.pairs[0] > 0 {
		f.f1 = append(f.f1, 2*precision*recall/(precision+recall))
	} else {
		f.f1 = append(f.f1, 0)
	}
	return nil
}

// cells are NMSE, average precision and F1 with their errors, dashes without any graph.
func (f *fit) cells() []string {
	if f == nil || len(f.f1) == 0 {
		return []string{"–", "–", "–"}
	}
	n := decibels(&f.nmse)
	a, ae := metric.MeanAndError(f.aupr)
	s, se := metric.MeanAndError(f.f1)
	return []string{fmt.Sprintf("%.2f ± %.2f", n.value, n.err), fmt.Sprintf("%.3f ± %.3f", a, ae), fmt.Sprintf("%.3f ± %.3f", s, se)}
}

func (f *fit) values() []any {
	if f == nil || len(f.f1) == 0 {
		nan := math.NaN()
		return []any{nan, nan, nan, nan, nan, nan}
	}
	n := decibels(&f.nmse)
	a, ae := metric.MeanAndError(f.aupr)
	s, se := metric.MeanAndError(f.f1)
	return []any{n.value, n.err, a, ae, s, se}
}

// bestWay has the lowest NMSE of bcd, nothing missing aside.
func bestWay(found map[string][2]*fit) string {
	best, least := "", math.Inf(1)
	for _, way := range missingWays()[1:] {
		if f := found[way][0]; f != nil {
			if v := decibels(&f.nmse).value; v < least {
				best, least = way, v
			}
		}
	}
	return best
}

// lost are differences to nothing missing, by setting.
type lost struct {
	settings, best int
	values         [6][]float64
}

func (l *lost) add(found, full [2]*fit, best bool) {
	if found[0] == nil || full[0] == nil {
		return
	}
	l.settings++
	if best {
		l.best++
	}
	for k := range found {
		a, b := found[k].values(), full[k].values()
		for i := range 3 {
			l.values[3*k+i] = append(l.values[3*k+i], a[2*i].(float64)-b[2*i].(float64))
		}
	}
}

func (l *lost) mean(i int) float64 {
	v, _ := metric.MeanAndError(l.values[i])
	return v
}

func (l *lost) cells() []string {
	var cells []string
	for i := range l.values {
		if len(l.values[i]) == 0 {
			cells = append(cells, "–")
			continue
		}
		v, se := metric.MeanAndError(l.values[i])
		if i%3 == 0 {
			cells = append(cells, fmt.Sprintf("%+.2f ± %.2f", v, se))
		} else {
			cells = append(cells, signed(v, se))
		}
	}
	return cells
}
