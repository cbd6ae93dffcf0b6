package glad

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// ScalingMode names what is done to S before the first cell.
type ScalingMode string

const (
	// ScalingNone leaves S as it is. GLAD is then not scale-equivariant: a
	// model fits the scale that it was trained on, and no other.
	ScalingNone ScalingMode = "none"
	// ScalingCorrelation standardises S to unit diagonal and maps Θ and Z back
	// by the standard deviations: GLAD(DSD) = D⁻¹·GLAD(S)·D⁻¹ for every
	// positive diagonal D. With a MeanDiagonal the cells see that many times the
	// correlations.
	ScalingCorrelation ScalingMode = "correlation"
	// ScalingGlobal divides S by the one number c = mean(diag S)/MeanDiagonal
	// and the estimate too: GLAD(aS) = GLAD(S)/a for every a > 0. It keeps the
	// ratios of the variances.
	ScalingGlobal ScalingMode = "global"
)

// Scaling is how S is scaled before the first cell, and Θ and Z back after the
// last.
type Scaling struct {
	// Mode is one of the three above.
	Mode ScalingMode `json:"mode"`
	// MeanDiagonal is the mean of the diagonal that the cells see, positive: for
	// ScalingGlobal that of diag(S) over the training data. ScalingCorrelation may
	// leave it out (0), which is 1; ScalingNone has none.
	MeanDiagonal float64 `json:"mean_diagonal,omitempty"`
}

func (s Scaling) validate() error {
	const key = "scaling.mean_diagonal"
	switch s.Mode {
	case ScalingNone:
		if s.MeanDiagonal != 0 {
			return invalid(key, "is %v with mode %q; only modes %q and %q have it", s.MeanDiagonal, s.Mode, ScalingGlobal, ScalingCorrelation)
		}
	case ScalingCorrelation:
		if s.MeanDiagonal != 0 && (!finite(s.MeanDiagonal) || s.MeanDiagonal <= 0) {
			return invalid(key, "is %v; mode %q needs a positive finite one, or none", s.MeanDiagonal, s.Mode)
		}
	case ScalingGlobal:
		if !finite(s.MeanDiagonal) || s.MeanDiagonal <= 0 {
			return invalid(key, "is %v; mode %q needs a positive finite one", s.MeanDiagonal, s.Mode)
		}
	default:
		return invalid("scaling.mode", "%q is unknown; choose from %q", s.Mode,
			[]ScalingMode{ScalingNone, ScalingCorrelation, ScalingGlobal})
	}
	return nil
}

// ErrUnits is returned where the precision matrix of S, or its inverse with theta0_offset,
// cannot be written in float64.
var ErrUnits = errors.New("the variances of S are too small or too large for its precision matrix to be written in float64; rescale the variables")

// units are the units of S in those of the scaled S: variable i has deviation
// deviations[i] times one number, or every variance is in units of variance.
type units struct {
	deviations []float64 // nil unless the mode is ScalingCorrelation
	variance   float64
}

// apply returns the S that the cells see, which is a itself where nothing is
// scaled.
func (s Scaling) apply(a *dense.Sym) (*dense.Sym, units) {
	if s.Mode == ScalingNone {
		return a, units{variance: 1}
	}
	d := a.Len()
	scaled := dense.NewSym(d, nil)
	if s.Mode == ScalingCorrelation {
		f, diagonal := deviations(a), 1.0
		if s.MeanDiagonal != 0 {
			diagonal = s.MeanDiagonal
			floats.Scale(1/math.Sqrt(diagonal), f)
		}
		for i := range d {
			to := scaled.Row(i)
			for j, v := range a.Row(i) {
				to[j] = v / (f[i] * f[j])
			}
			to[i] = diagonal
		}
		return scaled, units{deviations: f}
	}
	var mean float64
	for i := range d {
		mean += a.At(i, i) / float64(d) // in this order it cannot overflow
	}
	c := mean / s.MeanDiagonal
	to := scaled.Raw()
	for i, v := range a.Raw() {
		to[i] = v / c
	}
	return scaled, units{variance: c}
}

// scale maps Θ* of S to that of the scaled S. It returns a itself where nothing
// is scaled.
func (u units) scale(a *dense.Sym) *dense.Sym {
	if u.deviations == nil && u.variance == 1 {
		return a
	}
	scaled := a.Clone()
	for i := range a.Len() {
		row := scaled.Row(i)
		for j := range row {
			if u.deviations != nil {
				row[j] *= u.deviations[i] * u.deviations[j]
			} else {
				row[j] *= u.variance
			}
		}
	}
	return scaled
}

// restore maps Θ or Z of the scaled S to that of S, in place.
func (u units) restore(a *dense.Sym) error {
	switch {
	case u.deviations != nil:
		for i := range a.Len() {
			row := a.Row(i)
			for j, v := range row {
				row[j] = v / (u.deviations[i] * u.deviations[j])
			}
		}
	case u.variance != 1:
		for i, v := range a.Raw() {
			a.Raw()[i] = v / u.variance
		}
	}
	if !a.Finite() {
		return ErrUnits
	}
	return nil
}

// restoreAll is restore for an estimate.
func (u units) restoreAll(e *solver.Estimate) error {
	if err := u.restore(e.Precision); err != nil {
		return err
	}
	return u.restore(e.Support)
}

// deviations are the square roots of the diagonal.
func deviations(a *dense.Sym) []float64 {
	f := make([]float64, a.Len())
	for i := range f {
		f[i] = math.Sqrt(a.At(i, i))
	}
	return f
}
