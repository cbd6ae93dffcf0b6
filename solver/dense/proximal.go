package dense

import "math"

// The proximal operators of the two terms of the graphical lasso, −log det Θ and
// ‖Θ‖₁, with which every alternating solver alternates.

// LogDetProx sets theta to ½(−Y + √(Y² + (4/λ)I)), the minimiser over Θ ≻ 0 of
// −log det Θ + (λ/2)‖Θ + Y‖²F for symmetric Y, which is positive definite for
// every finite Y (GLAD, Algorithm 1, where Y = S/λ − Z).
//
// values and phi become the eigenvalues of Y, ascending, and of theta, and
// vectors (n², row-major) the eigenvectors, one a row. values may be phi, and
// vectors the storage of y, which is otherwise unchanged. For floor see
// LogDetProxValues. The error is ErrEigen.
//
// Where vectors is nil nobody wants them, nor the eigenvalues of Y: values is not
// used, and an engine that is a ProximalEngine does all of it.
func (w *Workspace) LogDetProx(theta, y *Sym, lambda, floor float64, values, phi, vectors []float64) error {
	if vectors == nil {
		n := y.Len()
		if p, ok := w.engine.(ProximalEngine); ok && p.HasLogDetProx(n) {
			if !p.LogDetProx(n, theta.Raw(), y.Raw(), lambda, floor, phi[:n]) {
				return ErrEigen
			}
			return nil
		}
		w.vectors = grow(w.vectors, n*n)
		values, vectors = phi, w.vectors
	}
	if err := w.Eigen(y, values, vectors); err != nil {
		return err
	}
	LogDetProxValues(phi, values, lambda, floor)
	w.Spectral(theta, phi, vectors)
	return nil
}

// LogDetProxOver sets theta to what LogDetProx sets it to, for who needs no eigenvalues, and
// overwrites y. On OpenBLAS it needs no eigenvectors either: where the condition number
// √(1 + λ‖Y‖²/4) is at most 1e4, the root comes from the tridiagonal form of Y by a rational
// approximation with an error below 1e-14·‖Y‖. Eigenvalues of theta below floor times the
// largest do not occur there, for a floor up to 1e-9.
func (w *Workspace) LogDetProxOver(theta, y *Sym, lambda, floor float64) error {
	n := y.Len()
	e, ok := w.engine.(conjugator)
	if !ok || n < 2 || floor > 1e-9 {
		w.values = grow(w.values, n)
		if _, ok := w.engine.(ProximalEngine); ok {
			return w.LogDetProx(theta, y, lambda, floor, nil, w.values, nil)
		}
		return w.LogDetProx(theta, y, lambda, floor, w.values, w.values, y.Raw())
	}
	w.values = grow(w.values, n)
	exponent, ok := reduce(e, n, y.Raw(), w.values, &w.scratch)
	if !ok {
		return ErrEigen
	}
	root := math.Ldexp(2/math.Sqrt(lambda), -exponent)
	s := &w.scratch
	team := NewTeam(e, Threads(e))
	solved := s.root.Compute(theta.Raw(), w.values, s.offDiagonal[:n-1], root*root, exponent, team.Share)
	team.Close()
	if solved {
		e.conjugate(n, y.Raw(), s.tau, theta.Raw(), s)
		mirror(theta.Raw(), n)
		return nil
	}
	if !decompose(e, n, y.Raw(), w.values, exponent, s) {
		return ErrEigen
	}
	LogDetProxValues(w.values, w.values, lambda, floor)
	w.Spectral(theta, w.values, y.Raw())
	return nil
}

// A ProximalEngine is an Engine that computes LogDetProx as a whole, such as one on a
// device, from which the matrices need not come back in between.
type ProximalEngine interface {
	Engine
	// HasLogDetProx says whether it does so for n×n matrices.
	HasLogDetProx(n int) bool
	// LogDetProx is that of Workspace, without eigenvectors: it sets theta and phi, and
	// reports whether the eigendecomposition converged.
	LogDetProx(n int, theta, y []float64, lambda, floor float64, phi []float64) bool
}

// LogDetProxValues sets phi to the eigenvalues of the result of LogDetProx, where
// values are those of Y. The two may be the same slice. Eigenvalues below floor
// times the largest are raised to that.
func LogDetProxValues(phi, values []float64, lambda, floor float64) {
	root := 2 / math.Sqrt(lambda)
	var largest float64
	for i, y := range values {
		s := math.Hypot(y, root) // y² may overflow
		if y > 0 {
			phi[i] = 2 / lambda / (y + s) // s − y would cancel
		} else {
			phi[i] = (s - y) / 2
		}
		largest = max(largest, phi[i])
	}
	if floor == 0 {
		return
	}
	floor *= largest
	for i, v := range phi {
		phi[i] = max(v, floor)
	}
}

// SoftThreshold is sign(x)·max(|x| − t, 0), the minimiser over z of
// t|z| + (z − x)²/2. Its zero is +0. It is NaN where t is.
func SoftThreshold(x, t float64) float64 {
	if v := max(math.Abs(x)-t, 0); v != 0 {
		return math.Copysign(v, x)
	}
	return 0
}
