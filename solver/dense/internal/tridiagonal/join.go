package tridiagonal

import (
	"math"
	"slices"
)

// columns says in which columns of a block a row of q is not 0.
type columns int8

const (
	first columns = iota // those of the first half
	both
	second
)

// join makes one decomposition of those of the first half rows and of the others
// of the block o, m, which were torn at the entry tear.
func (s *Solver) join(o, half, m int, tear float64) bool {
	s.merge(o, half, m)
	if math.Abs(tear) <= tiny {
		return true
	}
	// z = Qv/√2, v being 1 at the end of the first half and ±1 at the beginning
	// of the second.
	rho := 2 * math.Abs(tear)
	sign := math.Copysign(1, tear)
	var largestValue, largestZ float64
	for i := o; i < o+m; i++ {
		if i < o+half {
			s.z[i], s.columns[i] = s.q[i*s.n+o+half-1]*math.Sqrt2/2, first
		} else {
			s.z[i], s.columns[i] = sign*s.q[i*s.n+o+half]*math.Sqrt2/2, second
		}
		largestValue = max(largestValue, math.Abs(s.values[i]))
		largestZ = max(largestZ, math.Abs(s.z[i]))
	}
	// What is as small as this may be dropped: it is what rounding leaves anyway.
	s.deflate(o, m, rho, 16*unit*max(largestValue, rho*largestZ))
	if len(s.joined) == 0 {
		return true
	}
	u := &s.secular
	u.begin(len(s.joined), rho)
	for k, i := range s.joined {
		u.set(k, s.values[i], s.z[i])
	}
	if !u.solve(s.products) {
		return false
	}
	s.multiply(o, half, m)
	s.merge(o, len(s.joined), m)
	return true
}

// merge sets order[o:o+m] to the ascending order of both halves.
func (s *Solver) merge(o, half, m int) {
	to := s.sorted[:0]
	a, b := s.order[o:o+half], s.order[o+half:o+m]
	for len(a) > 0 && len(b) > 0 {
		if s.values[b[0]] < s.values[a[0]] {
			to, b = append(to, b[0]), b[1:]
		} else {
			to, a = append(to, a[0]), a[1:]
		}
	}
	to = append(append(to, a...), b...)
	copy(s.order[o:o+m], to)
}

// deflate divides the rows into those that the other half moves, joined, in
// ascending order, and those that it leaves where they are to within tolerance:
// those where z is about 0, and one of two that are nearly equal, after a
// rotation that makes z 0 there.
func (s *Solver) deflate(o, m int, rho, tolerance float64) {
	s.joined, s.dropped = s.joined[:0], s.dropped[:0]
	last := -1
	for _, i := range s.order[o : o+m] {
		if rho*math.Abs(s.z[i]) <= tolerance {
			s.dropped = append(s.dropped, i)
			continue
		}
		if last >= 0 && !s.rotateOff(last, i, o, m, tolerance) {
			s.joined = append(s.joined, last)
		} else if last >= 0 {
			s.dropped = append(s.dropped, last)
		}
		last = i
	}
	if last >= 0 {
		s.joined = append(s.joined, last)
	}
}

// rotateOff rotates rows i and j such that z vanishes on i, if the off-diagonal
// entry that this leaves is within tolerance.
func (s *Solver) rotateOff(i, j, o, m int, tolerance float64) bool {
	r := length(s.z[i], s.z[j])
	cosine, sine := s.z[j]/r, -s.z[i]/r
	gap := s.values[j] - s.values[i]
	if math.Abs(gap*cosine*sine) > tolerance {
		return false
	}
	s.z[i], s.z[j] = 0, r
	if s.columns[i] != s.columns[j] {
		s.columns[j] = both
	}
	rotate(s.row(i, o, m), s.row(j, o, m), cosine, sine)
	s.values[i] += gap * sine * sine
	s.values[j] -= gap * sine * sine
	return true
}

// multiply replaces the joined rows of q by the eigenvectors of the joined
// matrix. Rows of which one half is 0 come first and last, so that the products
// go over what is not 0 only.
func (s *Solver) multiply(o, half, m int) {
	u := &s.secular
	var count [3]int
	for _, i := range s.joined {
		count[s.columns[i]]++
	}
	k := len(s.joined)
	inFirst, inSecond := count[first]+count[both], count[both]+count[second]
	s.rows = grow(s.rows, inFirst*half+inSecond*(m-half))
	left, right := s.rows[:inFirst*half], s.rows[inFirst*half:]
	next := [3]int{0, count[first], inFirst}
	s.place = grow(s.place, k)
	for j, i := range s.joined {
		at := next[s.columns[i]]
		next[s.columns[i]]++
		s.place[j] = at
		row := s.row(i, o, m)
		if at < inFirst {
			copy(left[at*half:], row[:half])
		}
		if at >= count[first] {
			copy(right[(at-count[first])*(m-half):], row[half:])
		}
	}
	u.vectors(s.place)
	s.gather(o, m)
	for j := range k {
		s.values[o+j], s.order[o+j] = u.roots[j], o+j
	}
	s.products.Gemm(false, false, k, half, inFirst, 1, u.deltas, u.stride, left, half, 0, s.q[o*s.n+o:], s.n)
	s.products.Gemm(false, false, k, m-half, inSecond, 1, u.deltas[count[first]:], u.stride, right, m-half, 0, s.q[o*s.n+o+half:], s.n)
}

// gather moves the dropped rows behind the others, and puts them in order.
func (s *Solver) gather(o, m int) {
	slices.Sort(s.dropped)
	for t, to := len(s.dropped)-1, o+m-1; t >= 0; t, to = t-1, to-1 {
		from := s.dropped[t]
		copy(s.row(to, o, m), s.row(from, o, m)) // what was in row to is already elsewhere
		s.values[to] = s.values[from]
	}
	s.sort(o+m-len(s.dropped), len(s.dropped))
}
