package dense

// InvertFactor sets dst to the inverse of the matrix that LogDet factored
// into factor, which it leaves as it is. It saves the factorisation that Inverse
// would repeat. It reports whether the factor was regular.
func (w *Workspace) InvertFactor(dst *Sym, factor []float64) bool {
	n := dst.Len()
	copy(dst.Raw(), factor[:n*n])
	if !w.engine.CholeskyInverse(n, dst.Raw()) {
		return false
	}
	mirror(dst.Raw(), n)
	return true
}
