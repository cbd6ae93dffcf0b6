// Package layout places the nodes of a graph in the plane, so that a drawing shows who is
// near whom: graphs of some thousand nodes and edges, in less than a second.
//
//	places, components := layout.Of(nodes, edges)
//	layout.Shelve(places, components, 1.5) // components beside each other
//
// The same graph gets the same places.
package layout

import (
	"math"
	"slices"
)

// A Point is a place in a drawing, in units of the length of an edge.
type Point struct{ X, Y float64 }

// Of places the nodes of a graph, every connected component by itself about the
// origin, and numbers the components. Edges are pairs of nodes; loops and repetitions
// change nothing.
func Of(nodes int, edges [][2]int) (places []Point, components []int) {
	neighbours := make([][]int, nodes)
	for _, e := range edges {
		if e[0] != e[1] {
			neighbours[e[0]] = append(neighbours[e[0]], e[1])
			neighbours[e[1]] = append(neighbours[e[1]], e[0])
		}
	}
	for i := range neighbours {
		slices.Sort(neighbours[i])
		neighbours[i] = slices.Compact(neighbours[i])
	}
	places, components = make([]Point, nodes), make([]int, nodes)
	seen := make([]bool, nodes)
	count := 0
	for i := range nodes {
		if seen[i] {
			continue
		}
		members := []int{i}
		seen[i] = true
		for k := 0; k < len(members); k++ {
			for _, j := range neighbours[members[k]] {
				if !seen[j] {
					seen[j] = true
					members = append(members, j)
				}
			}
		}
		place(members, neighbours, places)
		for _, j := range members {
			components[j] = count
		}
		count++
	}
	return places, components
}

// place places the members of a component.
func place(members []int, neighbours [][]int, places []Point) {
	at := make(map[int]int, len(members))
	for k, i := range members {
		at[i] = k
	}
	near := make([][]int, len(members))
	for k, i := range members {
		for _, j := range neighbours[i] {
			near[k] = append(near[k], at[j])
		}
	}
	var p []Point
	if len(near) <= mostWhole {
		p = stress(near)
	} else {
		p = sparseStress(near)
	}
	spread(p)
	turn(p)
	for k, i := range members {
		places[i] = p[k]
	}
}

// stress places nodes so that their distances are those in the graph, as far as a
// plane allows: the majorisation of Gansner, Koren and North (Graph Drawing by Stress
// Majorization, 2004), with weights of the inverse squares, one node at a time. The
// length of an edge grows with the degrees of its ends, which gives hubs room.
func stress(near [][]int) []Point {
	n := len(near)
	p := make([]Point, n)
	if n == 1 {
		return p
	}
	d := distances(near)
	// Around the node that is nearest to all others, as far as they are from it.
	centre, least := 0, math.Inf(1)
	for i := range n {
		sum := 0.0
		for j := range n {
			sum += d[i*n+j]
		}
		if sum < least {
			centre, least = i, sum
		}
	}
	for k, i := range around(near, centre) {
		angle := 2 * math.Pi * float64(k) / float64(n)
		r := d[centre*n+i]
		p[i] = Point{r * math.Cos(angle), r * math.Sin(angle)}
	}
	const sweeps = 120
	for range sweeps {
		moved := 0.0
		for i := range n {
			var x, y, sum float64
			for j := range n {
				if i == j {
					continue
				}
				want := d[i*n+j]
				w := 1 / (want * want)
				dx, dy := p[i].X-p[j].X, p[i].Y-p[j].Y
				far := want / max(math.Hypot(dx, dy), 1e-6)
				x += w * (p[j].X + dx*far)
				y += w * (p[j].Y + dy*far)
				sum += w
			}
			to := Point{x / sum, y / sum}
			moved = max(moved, math.Abs(to.X-p[i].X)+math.Abs(to.Y-p[i].Y))
			p[i] = to
		}
		if moved < 1e-3 {
			break
		}
	}
	return p
}

// distances are the lengths of the shortest paths in a connected graph, n×n.
func distances(near [][]int) []float64 {
	n := len(near)
	d := make([]float64, n*n)
	length := func(i, j int) float64 {
		return 0.8 + 0.2*math.Sqrt(float64(max(len(near[i]), len(near[j]))))
	}
	done := make([]bool, n)
	for from := range n {
		row := d[from*n : (from+1)*n]
		for i := range row {
			row[i], done[i] = math.Inf(1), false
		}
		row[from] = 0
		for range n { // Dijkstra's algorithm; n is some hundreds
			best := -1
			for i := range n {
				if !done[i] && (best < 0 || row[i] < row[best]) {
					best = i
				}
			}
			done[best] = true
			for _, j := range near[best] {
				row[j] = min(row[j], row[best]+length(best, j))
			}
		}
	}
	return d
}

// around are the nodes in the order of a walk in depth from the one at the centre:
// branches of a tree lie beside each other in it.
func around(near [][]int, centre int) []int {
	var order []int
	seen := make([]bool, len(near))
	stack := []int{centre}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		order = append(order, i)
		for _, j := range slices.Backward(near[i]) {
			if !seen[j] {
				stack = append(stack, j)
			}
		}
	}
	return order
}

// spread moves places apart that are so near that their points would overlap: those of
// variables with the same neighbours, which have the same distances.
func spread(p []Point) {
	const apart, sweeps = 0.4, 60
	cell := func(q Point) [2]int { return [2]int{int(math.Floor(q.X / apart)), int(math.Floor(q.Y / apart))} }
	for range sweeps {
		moved := false
		grid := make(map[[2]int][]int)
		for i := range p {
			at := cell(p[i])
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					for _, j := range grid[[2]int{at[0] + dx, at[1] + dy}] {
						moved = part(p, i, j, apart) || moved
					}
				}
			}
			at = cell(p[i])
			grid[at] = append(grid[at], i)
		}
		if !moved {
			return
		}
	}
}

// part moves two places apart that are nearer than apart.
func part(p []Point, i, j int, apart float64) bool {
	dx, dy := p[i].X-p[j].X, p[i].Y-p[j].Y
	far := math.Hypot(dx, dy)
	if far >= apart {
		return false
	}
	by := (apart - far) / 2
	if far < 1e-9 { // in any direction
		dx, far = 1, 1
	}
	p[i].X, p[i].Y = p[i].X+by*dx/far, p[i].Y+by*dy/far
	p[j].X, p[j].Y = p[j].X-by*dx/far, p[j].Y-by*dy/far
	return true
}

// turn moves the centre of places to the origin and lays their longer side flat.
func turn(p []Point) {
	var c Point
	for _, q := range p {
		c.X += q.X / float64(len(p))
		c.Y += q.Y / float64(len(p))
	}
	var xx, xy, yy float64
	for i := range p {
		p[i].X -= c.X
		p[i].Y -= c.Y
		xx, xy, yy = xx+p[i].X*p[i].X, xy+p[i].X*p[i].Y, yy+p[i].Y*p[i].Y
	}
	sin, cos := math.Sincos(math.Atan2(2*xy, xx-yy) / 2)
	for i, q := range p {
		p[i] = Point{cos*q.X + sin*q.Y, cos*q.Y - sin*q.X}
	}
}
