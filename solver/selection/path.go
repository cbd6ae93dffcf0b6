package selection

import (
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

const (
	// stepRatio is the smallest that a penalty of the path is of the one before.
	stepRatio = 0.85
	// stepLeast is the largest that it is.
	stepLeast = 0.98
	// pathRatio is where a path ends at the latest, relative to its beginning.
	pathRatio = 1e-3
)

// A ladder makes the steps of a path from the sizes of the covariances: |Sij| > ρ is what
// screening knows of the edges at ρ before anything is solved.
type ladder struct {
	d       int
	largest float64 // max|Sij|, i ≠ j, the least that leaves no edge
	above   []int64 // above[b]: pairs of |Sij| > b·width
	width   float64
}

func newLadder(s *dense.Sym) *ladder {
	const bins = 1 << 14
	l := &ladder{d: s.Len()}
	for i := range l.d {
		for _, v := range s.Row(i)[:i] {
			l.largest = math.Max(l.largest, math.Abs(v))
		}
	}
	l.above = make([]int64, bins+1)
	l.width = l.largest / bins
	if l.largest == 0 {
		return l
	}
	for i := range l.d {
		for _, v := range s.Row(i)[:i] {
			l.above[min(int(math.Abs(v)/l.width), bins)]++
		}
	}
	for b := bins - 1; b >= 0; b-- {
		l.above[b] += l.above[b+1]
	}
	return l
}

// pairs is the number of all pairs.
func (l *ladder) pairs() float64 { return float64(l.d) * float64(l.d-1) / 2 }

// next is the penalty after rho: smaller by stepRatio at most, and such that no more than
// twice as many pairs are above it, and a few more.
func (l *ladder) next(rho float64) float64 {
	bin := min(int(rho/l.width), len(l.above)-1)
	want := 2*l.above[bin] + int64(l.d)/8 + 1
	for bin > 0 && l.above[bin-1] <= want {
		bin--
	}
	return math.Max(stepRatio*rho, math.Min(stepLeast*rho, float64(bin)*l.width))
}

// rungs are the penalties from the first down to where a path ends at the latest.
func (l *ladder) rungs() []float64 {
	rungs := []float64{l.largest}
	for rho := l.largest; !l.over(rho, 0); {
		rho = l.next(rho)
		rungs = append(rungs, rho)
	}
	return rungs
}

// over says that a path has come to its end, whatever the criterion: penalties below have
// graphs that nobody asks for. Of few variables all pairs may be edges.
func (l *ladder) over(rho, edges float64) bool {
	return rho <= pathRatio*l.largest || edges > math.Max(l.pairs()/2, 4*float64(l.d))
}

// patience says when a criterion improves no more. A first edge costs a criterion more than
// it gives, for at its penalty its weight is zero: the path goes on until there are edges
// enough to tell.
type patience struct {
	d     int
	best  float64
	edges float64 // at the best
	worse int     // points since
}

// enough takes in a point whose criterion is least at the best, and says that those to come
// are no better.
func (p *patience) enough(criterion, edges float64, first bool) bool {
	if first || criterion < p.best {
		p.best, p.edges, p.worse = criterion, edges, 0
		return false
	}
	p.worse++
	return p.worse >= 3 && edges >= 1.25*p.edges && edges >= float64(p.d)/2
}
