package layout

import (
	"cmp"
	"math"
	"slices"
)

// Shelve moves the components beside each other: on shelves, the highest first, in a
// rectangle that is about so many times as wide as high. It returns its ends.
func Shelve(places []Point, components []int, aspect float64) (width, height float64) {
	type part struct {
		members        []int
		x0, x1, y0, y1 float64
	}
	var parts []*part
	for i, c := range components {
		for len(parts) <= c {
			parts = append(parts, &part{x0: math.Inf(1), y0: math.Inf(1), x1: math.Inf(-1), y1: math.Inf(-1)})
		}
		p := parts[c]
		p.members = append(p.members, i)
		p.x0, p.x1 = min(p.x0, places[i].X), max(p.x1, places[i].X)
		p.y0, p.y1 = min(p.y0, places[i].Y), max(p.y1, places[i].Y)
	}
	const gapX, gapY = 1.1, 0.9
	wide := func(p *part) float64 { return p.x1 - p.x0 + gapX }
	high := func(p *part) float64 { return p.y1 - p.y0 + gapY }
	slices.SortStableFunc(parts, func(a, b *part) int {
		return cmp.Or(cmp.Compare(high(b), high(a)), cmp.Compare(wide(b), wide(a)))
	})
	limit := 0.0
	for _, p := range parts {
		limit = max(limit, wide(p))
	}
	lay := func(put bool) {
		width, height = 0, 0
		x, shelf := 0.0, 0.0
		for _, p := range parts {
			if x > 0 && x+wide(p) > limit {
				x, height, shelf = 0, height+shelf, 0
			}
			if put {
				for _, i := range p.members {
					places[i] = Point{places[i].X - p.x0 + x, places[i].Y - p.y0 + height}
				}
			}
			x += wide(p)
			width, shelf = max(width, x), max(shelf, high(p))
		}
		height += shelf
	}
	for range 60 { // the narrowest shelves on which all fit
		if lay(false); width >= aspect*height {
			break
		}
		limit *= 1.08
	}
	lay(true)
	return width, height
}
