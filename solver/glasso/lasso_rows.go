package glasso

import (
	"math"

	"github.com/gladflow/gladflow/solver/glasso/internal/vector"
)

// bcdDirect is the n up to which descent goes over the rows of W themselves: they are in
// the cache, and no longer than what a copy of the active set and a product would cost.
const bcdDirect = 128

// solveRows is solve where rows are short and W is up to date: coordinate descent on the
// rows of W, which has W·β at hand at any time. inverse are the 1/wii. What descent is too
// slow for is left to solve.
func (l *lasso) solveRows(v view, inverse []float64, j int, s, penalty []float64, r *regression, fit []float64, effort effort) {
	l.enter(v.n, j, r)
	clear(fit)
	vector.Combine(fit, v.w, v.stride, l.active, l.Beta)
	variance := v.w[j*v.stride+j]
	rows := vector.Rows{Gram: v.w, Stride: v.stride, Width: (v.n + 7) &^ 7, S: s, R: penalty, Inverse: inverse, Fit: fit}
	for pass := 1; ; pass++ {
		rows.Index, rows.Beta = l.active, l.Beta
		worst := vector.PassRows(&rows)
		absolute := effort.tolerance * math.Max(variance-dotAt(fit, l.active, l.Beta), 1e-12*variance)
		solved := worst <= absolute
		if (solved || pass%2 == 1) && l.grow(s, penalty, fit, absolute) {
			continue
		}
		if solved {
			break
		}
		if pass >= 4*lassoPasses {
			if !effort.newton {
				break
			}
			l.keep(r)
			l.leave(j)
			l.solve(v, j, s, penalty, r, fit, effort)
			return
		}
	}
	r.residual = variance - dotAt(fit, l.active, l.Beta)
	l.keep(r)
	l.leave(j)
}
