package page

import (
	"math"
	"strconv"
)

// Thinned is a line of many points as a document keeps it: without those whose absence changes
// its picture least, on axes that are logarithmic or not, and with six digits of each number;
// at most limit points.
func Thinned(x, y []float64, logX, logY bool, limit int) (tx, ty []float64) {
	tx, ty = thinned(x, y, logX, logY, limit)
	for _, values := range [2][]float64{tx, ty} {
		for k, v := range values {
			if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64); err == nil {
				values[k] = r
			}
		}
	}
	return tx, ty
}

// thinned leaves out of a line what is not finite, what an axis cannot show, and then
// the points whose absence changes the picture least, by the rule of Ramer, Douglas
// and Peucker, until at most limit are left. Distances are those on the axes.
func thinned(x, y []float64, logX, logY bool, limit int) (tx, ty numbers) {
	var u, v []float64 // on the axes
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) || logX && x[i] <= 0 || logY && y[i] <= 0 {
			continue
		}
		tx, ty = append(tx, x[i]), append(ty, y[i])
		u, v = append(u, placed(x[i], logX)), append(v, placed(y[i], logY))
	}
	for len(u) > maxThinned {
		tx, ty, u, v = halved(tx), halved(ty), halved(u), halved(v)
	}
	if len(u) <= 2 {
		return tx, ty
	}
	scale(u)
	scale(v)
	for tolerance := 2e-4; ; tolerance *= 1.5 {
		keep := simplified(u, v, tolerance)
		if len(keep) > limit {
			continue
		}
		var kx, ky numbers
		for _, i := range keep {
			kx, ky = append(kx, tx[i]), append(ky, ty[i])
		}
		return kx, ky
	}
}

// scattered are points of a scatter without those that an axis cannot show, and of many
// the same share everywhere along the line.
func scattered(x, y []float64, logX, logY bool, limit int) (tx, ty numbers) {
	for i := range x {
		if finite(x[i]) && finite(y[i]) && !(logX && x[i] <= 0) && !(logY && y[i] <= 0) {
			tx, ty = append(tx, x[i]), append(ty, y[i])
		}
	}
	for len(tx) > limit {
		tx, ty = halved(tx), halved(ty)
	}
	return tx, ty
}

// maxThinned is the number of points from which every second one is left out without
// a look at it.
const maxThinned = 8192

// halved leaves out every second value, but never an end.
func halved(v []float64) []float64 {
	n := 0
	for i := 0; i < len(v)-1; i += 2 {
		v[n] = v[i]
		n++
	}
	v[n] = v[len(v)-1]
	return v[:n+1]
}

func placed(v float64, logarithmic bool) float64 {
	if logarithmic {
		return math.Log(v)
	}
	return v
}

// scale makes a range of values that from 0 to 1.
func scale(v []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		low, high = math.Min(low, x), math.Max(high, x)
	}
	width := high/2 - low/2 // the difference may be out of range
	for i, x := range v {
		if width > 0 {
			v[i] = (x/2 - low/2) / width
		} else {
			v[i] = 0
		}
	}
}

// simplified are the indices of the points that stay: the ends, and those further
// than the tolerance from the line between their neighbours that stay.
func simplified(u, v []float64, tolerance float64) []int {
	stay := make([]bool, len(u))
	stay[0], stay[len(u)-1] = true, true
	spans := [][2]int{{0, len(u) - 1}}
	for len(spans) > 0 {
		span := spans[len(spans)-1]
		spans = spans[:len(spans)-1]
		at, far := 0, tolerance
		for i := span[0] + 1; i < span[1]; i++ {
			if d := distance(u, v, span[0], span[1], i); d > far {
				at, far = i, d
			}
		}
		if at > 0 {
			stay[at] = true
			spans = append(spans, [2]int{span[0], at}, [2]int{at, span[1]})
		}
	}
	var keep []int
	for i, s := range stay {
		if s {
			keep = append(keep, i)
		}
	}
	return keep
}

// distance is that of point i from the segment between points a and b.
func distance(u, v []float64, a, b, i int) float64 {
	du, dv := u[b]-u[a], v[b]-v[a]
	pu, pv := u[i]-u[a], v[i]-v[a]
	t := 0.0
	if norm := du*du + dv*dv; norm > 0 {
		t = min(1, max(0, (pu*du+pv*dv)/norm))
	}
	return math.Hypot(pu-t*du, pv-t*dv)
}
