//go:build cuda

package cuda

import (
	"math"
	"testing"
)

// Every value of the interval comes as near to 1 as is said, and no quintic could bring
// all of them nearer: the error alternates at four points.
func TestMinimax(t *testing.T) {
	for _, lo := range []float64{1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 0.98, 0.995, 1} {
		q, e := minimax(lo, 1)
		var worst, last float64
		var turns int
		const points = 100_000
		for i := range points + 1 {
			x := lo * math.Exp(math.Log(1/lo)*float64(i)/points)
			off := q.at(x) - 1
			worst = max(worst, math.Abs(off))
			if math.Abs(off) > 0.999*e && off*last <= 0 {
				turns++
				last = off
			}
		}
		if worst > e*(1+1e-6)+1e-15 {
			t.Errorf("from %v: values come within %v and not %v", lo, worst, e)
		}
		if 1/lo-1 > narrow && turns != 4 {
			t.Errorf("from %v: the error alternates at %d points", lo, turns)
		}
	}
}

// The number of iterations for the condition numbers that GLAD's cells have.
func TestMinimaxIterations(t *testing.T) {
	for _, c := range []struct {
		kappa float64 // of Y² + α²I, the square of that of the pair
		most  int
	}{{1, 1}, {5, 3}, {30, 4}, {1e3, 5}, {1e4, 6}, {1e5, 7}, {1e10, 11}} {
		lo, hi := 1/math.Sqrt(c.kappa), 1.
		n := 0
		for e := 1.; e > 1e-13; n++ {
			_, e = minimax(lo, hi)
			lo, hi = 1-e, 1+e
			if n > 50 {
				break
			}
		}
		if n > c.most {
			t.Errorf("κ = %g takes %d iterations, not %d", c.kappa, n, c.most)
		}
	}
}
