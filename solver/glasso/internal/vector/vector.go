// Package vector holds the loops of block coordinate descent over rows of a
// matrix: in AVX2 with FMA where the processor has it, in Go elsewhere. It is no
// library of linear algebra: these are the six loops that BCD spends its time on.
//
//	vector.Combine(fit, w, stride, active, beta) // fit += Σ betaₐ·w[activeₐ]
//
// The assembly fuses products with sums and adds in another order, so that last
// bits differ from those of the loops in Go. Each gives the same bits every time.
package vector

import "math"

// A Lasso is ½·βᵀGβ − βᵀs + Σ rₐ|βₐ| over k coefficients.
type Lasso struct {
	// Gram is G, row-major, with rows Stride apart.
	Gram   []float64
	Stride int
	// Width is k, rounded up to a multiple of 4: rows and the vectors below have as
	// many values, of which the last count for nothing. They are finite.
	Width int
	// S and R are s and r; Diagonal and Inverse are Gₐₐ and 1/Gₐₐ.
	S, R, Diagonal, Inverse []float64
	// Beta is β, and Fit is Gβ.
	Beta, Fit []float64
}

// Rows is the same problem over some variables of a matrix G that is not copied: the
// coefficients β are of the variables Index.
type Rows struct {
	// Gram is G, row-major, with rows Stride apart, and Inverse are 1/Gᵢᵢ of its variables.
	Gram   []float64
	Stride int
	// Width is the number of values of a row and of Fit, a multiple of 8: those behind the
	// variables are finite and count for nothing.
	Width int
	// S, R and Inverse are s, r and 1/Gᵢᵢ of all variables.
	S, R, Inverse []float64
	Index         []int32
	Beta          []float64 // of the variables Index
	Fit           []float64 // Gβ, of all variables
}

// combineGo adds c[a]·w[index[a]*stride+i] to y[i], for all a.
func combineGo(y, w []float64, stride int, index []int32, c []float64) {
	for a, f := range c {
		if f == 0 {
			continue
		}
		x := w[int(index[a])*stride:][:len(y)]
		for i := range y {
			y[i] += f * x[i]
		}
	}
}

// passGo is Pass.
func passGo(l *Lasso, k int) float64 {
	var worst float64
	for a := range k {
		d, old := l.Diagonal[a], l.Beta[a]
		z := l.S[a] - l.Fit[a] + d*old
		v := math.Copysign(math.Max(math.Abs(z)-l.R[a], 0)*l.Inverse[a], z)
		step := v - old
		if step == 0 {
			continue
		}
		l.Beta[a] = v
		worst = math.Max(worst, math.Abs(step)*d)
		row, fit := l.Gram[a*l.Stride:][:l.Width], l.Fit[:l.Width]
		for b, g := range row {
			fit[b] += step * g
		}
	}
	return worst
}

// passRowsGo is PassRows.
func passRowsGo(l *Rows) float64 {
	var worst float64
	for a, i := range l.Index {
		row, fit := l.Gram[int(i)*l.Stride:][:l.Width], l.Fit[:l.Width]
		d, old := row[i], l.Beta[a]
		c := l.S[i] - fit[i]
		v := (c - min(max(c, -l.R[i]-d*old), l.R[i]-d*old)) * l.Inverse[i]
		step := v - old
		if step == 0 {
			continue
		}
		l.Beta[a] = v
		worst = math.Max(worst, math.Abs(step)*d)
		for b, g := range row {
			fit[b] += step * g
		}
	}
	return worst
}

// clipGo is Clip.
func clipGo(w, y, s, r, t []float64, omega float64) float64 {
	y, s, r, t = y[:len(w)], s[:len(w)], r[:len(w)], t[:len(w)]
	var sum float64
	for i, old := range w {
		v := min(max(old+omega*(y[i]-old), s[i]-r[i]), s[i]+r[i])
		w[i] = v
		v -= old
		sum += v * v * t[i]
	}
	return sum
}

// outsideGo is Outside.
func outsideGo(y, s, r []float64, limit float64, from int) int {
	s, r = s[:len(y)], r[:len(y)]
	for i := from; i < len(y); i++ {
		if math.Abs(s[i]-y[i])-r[i] > limit {
			return i
		}
	}
	return len(y)
}
