package symv

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// The parts make the product, whatever they are, and read nothing below the diagonal.
func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		for _, parts := range []int{1, 2, 3} {
			lda := n + 3
			a, x := random(r, n*lda+1), random(r, n)
			want := make([]float64, n)
			for i := range n {
				for j := range n {
					if j < i {
						a[i*lda+j] = math.NaN()
					}
					want[i] += a[min(i, j)*lda+max(i, j)] * x[j]
				}
			}
			y := make([]float64, n)
			for p := range parts {
				Multiply(n, a, lda, n*p/parts, n*(p+1)/parts, x, y)
			}
			for i, v := range y {
				if !(math.Abs(v-want[i]) <= 1e-13*float64(n)) {
					t.Fatalf("n = %d in %d parts: entry %d is %v, want %v", n, parts, i, v, want[i])
				}
			}
		}
	}
}

func FuzzFour(f *testing.F) {
	f.Add(uint64(1), 9, 2)
	f.Add(uint64(2), 64, 0)
	f.Fuzz(func(t *testing.T, seed uint64, n, more int) {
		if n < 0 || n > 200 || more < 0 || more > 9 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		a, x, y := random(r, 4*(n+more)+1), random(r, n), random(r, n+1)
		z := append([]float64(nil), y...)
		factors := [4]float64(random(r, 4))
		var s, u [4]float64
		fourGo(&s, a, n+more, x, y, &factors)
		four(&u, a, n+more, x, z, &factors)
		for i, v := range y {
			if math.Abs(v-z[i]) > 1e-14 {
				t.Fatalf("y %d is %v in Go and %v here", i, v, z[i])
			}
		}
		for i, v := range s {
			if math.Abs(v-u[i]) > 1e-13*float64(n+1) {
				t.Fatalf("sum %d is %v in Go and %v here", i, v, u[i])
			}
		}
	})
}
