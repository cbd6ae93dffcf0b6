package dense

// conjugator is a reducer that can go back on both sides: with its reflections Q, from a
// function of the tridiagonal matrix, F, to that of the matrix itself, Q·F·Qᵀ. That takes
// the 2n³ operations that back takes, and no eigenvectors.
type conjugator interface {
	reducer
	// conjugate replaces the upper triangle of f by that of Q·f·Qᵀ, where tridiagonalise
	// has left Q in a and tau.
	conjugate(n int, a, tau, f []float64, work *Scratch)
}

const (
	// reflectionsWidth is how many reflections are applied at once.
	reflectionsWidth = 32
	// parallelConjugation is the n from which they are on several threads.
	parallelConjugation = 400
)

// gatherReflections sets v (k×m) to the reflections of rows first to first + k of a, which
// tridiagonalise has made: row i of it begins with i zeros and a one. A reflection that is none,
// with tau zero, is a row of zeros.
func gatherReflections(n int, a, tau []float64, first, k int, v []float64) {
	m := n - first - 1
	for i := range k {
		row := v[i*m : (i+1)*m]
		if tau[first+i] == 0 {
			clear(row)
			continue
		}
		clear(row[:i])
		row[i] = 1
		copy(row[i+1:], a[(first+i)*n+first+i+2:(first+i)*n+n])
	}
}

// inverseFactor makes of products = V·Vᵀ (k×k), of which the upper triangle is read, the inverse of the
// upper triangular T for which the product of k reflections, I − tau·vᵀv for a row v, is
// I − VᵀTV (C. Puglisi, Modification of the Householder method based on the compact WY
// representation, SIAM J. Sci. Stat. Comput. 13, 1992).
func inverseFactor(k int, tau, products []float64) {
	for i := range k {
		clear(products[i*k : i*k+i])
		products[i*k+i] = 1
		if tau[i] != 0 {
			products[i*k+i] = 1 / tau[i]
		}
	}
}
