package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A ThresholdResult is a threshold τ with what it does: an entry off the diagonal
// with |Zij| ≤ τ is no edge.
type ThresholdResult struct {
	// Threshold is τ, in units of Z.
	Threshold float64
	// Success is the strict probability of success with it, StandardError its
	// error over graphs.
	Success, StandardError float64

	margin float64
}

// Threshold finds the τ at which most graphs have every sign right, zeros
// included. The search is exact: an estimate succeeds for τ from its largest
// entry at a pair without an edge up to its smallest at an edge. Of the best
// intervals the widest is taken, and its middle; where no τ makes any graph a
// success, τ lies between the medians of those two entries.
func Threshold(estimates []*dense.Sym, cases []solver.Example) (ThresholdResult, error) {
	if len(estimates) == 0 || len(estimates) != len(cases) {
		return ThresholdResult{}, fmt.Errorf("%d estimates for %d graphs; give one each", len(estimates), len(cases))
	}
	var bounds []float64
	var windows []window
	var lows, highs []float64
	var margin float64
	for i, z := range estimates {
		w, err := windowOf(z, cases[i].Truth)
		if err != nil {
			return ThresholdResult{}, fmt.Errorf("graph %d: %w", i, err)
		}
		lows, highs = append(lows, w.low), append(highs, w.high)
		margin += w.margin() / float64(len(estimates))
		if w.signs && w.low < w.high {
			windows = append(windows, w)
			bounds = append(bounds, w.low, w.high)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	most, widest := 0, 0.0
	var r ThresholdResult
	for k := 0; k+1 < len(bounds); k++ {
		low, high := bounds[k], bounds[k+1]
		n := 0
		for _, w := range windows {
			if w.low <= low && high <= w.high {
				n++
			}
		}
		if n > most || n == most && high-low > widest {
			most, widest = n, high-low
			r.Threshold = low + (high-low)/2
			if math.IsInf(high, 1) { // a graph without edges
				r.Threshold = 2 * low
			}
		}
	}
	if most == 0 {
		r.Threshold = between(median(lows), median(highs))
	}
	succeeded := make([]float64, len(estimates))
	for i, z := range estimates {
		ok, err := metric.SuccessStrict(Sparsified(z, r.Threshold), cases[i].Truth)
		if err != nil {
			return ThresholdResult{}, fmt.Errorf("graph %d: %w", i, err)
		}
		if ok {
			succeeded[i] = 1
		}
	}
	r.Success, r.StandardError = metric.MeanAndError(succeeded)
	r.margin = margin
	return r, nil
}

// Sparsified is a copy of z whose entries off the diagonal with |zij| ≤ τ are
// zero.
func Sparsified(z *dense.Sym, tau float64) *dense.Sym {
	r := z.Clone()
	for i := range r.Len() {
		row := r.Row(i)
		for j, v := range row {
			if j != i && math.Abs(v) <= tau {
				row[j] = 0
			}
		}
	}
	return r
}

// A window is where τ makes one estimate a success.
type window struct {
	low   float64 // largest |Zij| at a pair without an edge
	high  float64 // smallest |Zij| at an edge
	signs bool    // all signs at edges and on the diagonal are right
}

func windowOf(z, truth *dense.Sym) (window, error) {
	if z.Len() != truth.Len() {
		return window{}, fmt.Errorf("an estimate of %d variables cannot be compared with a truth of %d", z.Len(), truth.Len())
	}
	if !z.Finite() {
		return window{}, errors.New("the estimate has an entry that is not finite")
	}
	w := window{high: math.Inf(1), signs: true}
	for i := range z.Len() {
		zs, ts := z.Row(i), truth.Row(i)
		w.signs = w.signs && zs[i] > 0
		for j := i + 1; j < len(zs); j++ {
			v := math.Abs(zs[j])
			if ts[j] == 0 {
				w.low = max(w.low, v)
				continue
			}
			w.high = min(w.high, v)
			w.signs = w.signs && zs[j]*ts[j] > 0
		}
	}
	return w, nil
}

// marginLimit bounds the margin of one graph.
const marginLimit = 5

// margin is log(high/low), bounded: how far from failure a success is, and how
// far from success a failure.
func (w window) margin() float64 {
	switch {
	case !w.signs || w.high == 0:
		return -marginLimit
	case w.low == 0:
		return marginLimit
	}
	return min(max(math.Log(w.high/w.low), -marginLimit), marginLimit)
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

// between is the geometric mean, as far as there is one.
func between(a, b float64) float64 {
	if math.IsInf(b, 1) {
		return a
	}
	return math.Sqrt(a) * math.Sqrt(b)
}
