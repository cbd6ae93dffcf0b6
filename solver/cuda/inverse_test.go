//go:build cuda

package cuda

import (
	"math"
	"testing"
)

// Every value of the interval comes as near to 1 as is said.
func TestChebyshev(t *testing.T) {
	for _, c := range []struct{ lo, hi float64 }{{1, 1}, {1, 1.001}, {0.5, 0.52}, {1, 2}, {0.01, 1}, {1e-3, 10}, {3, 2e4}} {
		p, e := chebyshev(c.lo, c.hi)
		var worst float64
		for i := range 10_001 {
			w := c.lo + (c.hi-c.lo)*float64(i)/10_000
			worst = max(worst, math.Abs(w*(p.a+w*(p.b+w*p.c))-1))
		}
		if worst > e*(1+1e-9)+1e-12 || worst < 0.9*e-1e-12 {
			t.Errorf("[%v, %v]: values come within %v and not %v", c.lo, c.hi, worst, e)
		}
	}
	lo, hi, n := 1., 1e4, 0
	for e := 1.; e > 1e-15; n++ {
		_, e = chebyshev(lo, hi)
		lo, hi = 1-e, 1+e
	}
	if n > 10 {
		t.Errorf("a condition number of 1e4 takes %d iterations", n)
	}
}
