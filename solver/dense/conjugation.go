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
// tridiagonalise has made: row i of it begins with i zeros and a one.
func gatherReflections(n int, a []float64, first, k int, v []float64) {
	m := n - first - 1
	for i := range k {
		row := v[i*m : (i+1)*m]
		clear(row[:i])
		row[i] = 1
		copy(row[i+1:], a[(first+i)*n+first+i+2:(first+i)*n+n])
	}
}

// triangularFactor sets the upper triangle of t (k×k) to the T for which the product of k reflections,
// I − tau·vᵀv for a row v, is I − VᵀTV, of products = V·Vᵀ, of which the upper triangle is read
// (R. Schreiber and C. Van Loan, A storage-efficient WY representation for products of Householder
// transformations, SIAM J. Sci. Stat. Comput. 10, 1989).
func triangularFactor(k int, tau, products, t []float64) {
	for j := range k {
		for i := range j {
			var sum float64
			for l := i; l < j; l++ {
				sum += t[i*k+l] * products[l*k+j]
			}
			t[i*k+j] = -tau[j] * sum
		}
		t[j*k+j] = tau[j]
	}
}

// symmetricProduct sets p to T·M, which is symmetric, for an upper triangular T, all k×k.
func symmetricProduct(k int, t, m, p []float64) {
	for i := range k {
		for j := i; j < k; j++ {
			var sum float64
			for l := i; l < k; l++ {
				sum += t[i*k+l] * m[l*k+j]
			}
			p[i*k+j], p[j*k+i] = sum, sum
		}
	}
}
