package layout

import (
	"container/heap"
	"math"
)

// mostWhole is the number of nodes of a component up to which all distances are looked at.
const mostWhole = 300

// pivots is the number of nodes to which distances are looked at in larger ones.
const pivots = 80

// sparseStress is stress for many nodes, with the distances along edges and those to some
// pivots, each of which stands for the nodes around it (Ortmann, Klimenta and Brandes, A
// Sparse Stress Model, 2017), from the places of pivot MDS (Brandes and Pich, 2007).
func sparseStress(near [][]int) []Point {
	n := len(near)
	length := func(i, j int) float64 {
		return 0.8 + 0.2*math.Sqrt(float64(max(len(near[i]), len(near[j]))))
	}
	// Every next pivot is the node furthest from those before.
	far := make([]float64, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	var at []int
	var d [][]float64
	region := make([]int, n) // the number of the pivot that is nearest
	for next := 0; len(at) < min(pivots, n); {
		row := shortest(near, next, length)
		for i, v := range row {
			if v < far[i] {
				far[i], region[i] = v, len(at)
			}
		}
		at, d = append(at, next), append(d, row)
		for i, v := range far {
			if v > far[next] {
				next = i
			}
		}
		if far[next] == 0 {
			break
		}
	}
	p := pivotMDS(d)
	for i := range p { // nodes with the same distances would stay at one place
		sin, cos := math.Sincos(2.4 * float64(i))
		p[i].X, p[i].Y = p[i].X+0.3*cos, p[i].Y+0.3*sin
	}
	second := secondNear(near, length)
	// weight[k][i]: pivot k stands for so many nodes as are in its region and at most half
	// as far from it as i.
	weight := make([][]float64, len(at))
	for k := range weight {
		var inside []float64
		for j, r := range region {
			if r == k {
				inside = append(inside, d[k][j])
			}
		}
		weight[k] = make([]float64, n)
		for i, v := range d[k] {
			if v == 0 {
				continue
			}
			for _, w := range inside {
				if w <= v/2 {
					weight[k][i]++
				}
			}
			weight[k][i] /= v * v
		}
	}
	const sweeps = 60
	for range sweeps {
		for i := range n {
			var x, y, sum float64
			pull := func(q Point, want, w float64) {
				dx, dy := p[i].X-q.X, p[i].Y-q.Y
				s := want / max(math.Hypot(dx, dy), 1e-6)
				x += w * (q.X + dx*s)
				y += w * (q.Y + dy*s)
				sum += w
			}
			for _, j := range near[i] {
				want := length(i, j)
				pull(p[j], want, 1/(want*want))
			}
			for _, s := range second[i] {
				pull(p[s.node], s.far, 1/(s.far*s.far))
			}
			for k, j := range at {
				if w := weight[k][i]; w > 0 {
					pull(p[j], d[k][i], w)
				}
			}
			p[i] = Point{x / sum, y / sum}
		}
	}
	const room = 2 // the middle is dense: nodes find room there
	for i := range p {
		p[i].X, p[i].Y = room*p[i].X, room*p[i].Y
	}
	return p
}

// secondNear are nodes two edges away from every node, some tens of many, with the length of
// the path: leaves of one hub, which no pivot tells apart, then lie around it.
func secondNear(near [][]int, length func(i, j int) float64) [][]distance {
	const most = 60
	second := make([][]distance, len(near))
	for i := range near {
		seen := map[int]bool{i: true}
		for _, j := range near[i] {
			seen[j] = true
		}
		var all []distance
		for _, h := range near[i] {
			for _, j := range near[h] {
				if !seen[j] {
					seen[j] = true
					all = append(all, distance{j, length(i, h) + length(h, j)})
				}
			}
		}
		step := max(1, (len(all)+most-1)/most)
		for k := i % step; k < len(all); k += step {
			second[i] = append(second[i], all[k])
		}
	}
	return second
}

// shortest are the lengths of the shortest paths from a node, by Dijkstra's algorithm.
func shortest(near [][]int, from int, length func(i, j int) float64) []float64 {
	d := make([]float64, len(near))
	for i := range d {
		d[i] = math.Inf(1)
	}
	d[from] = 0
	q := &queue{{from, 0}}
	for q.Len() > 0 {
		best := heap.Pop(q).(distance)
		if best.far > d[best.node] {
			continue
		}
		for _, j := range near[best.node] {
			if far := best.far + length(best.node, j); far < d[j] {
				d[j] = far
				heap.Push(q, distance{j, far})
			}
		}
	}
	return d
}

// A distance is how far a node is.
type distance struct {
	node int
	far  float64
}

// A queue is a heap of distances, the nearest first, and of equal ones the smallest node.
type queue []distance

func (q queue) Len() int { return len(q) }
func (q queue) Less(a, b int) bool {
	if q[a].far != q[b].far {
		return q[a].far < q[b].far
	}
	return q[a].node < q[b].node
}
func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }

// Push implements heap.Interface.
func (q *queue) Push(v any) { *q = append(*q, v.(distance)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// pivotMDS places nodes by their distances to pivots, a row each: the first two principal
// axes of the squared distances, centred both ways.
func pivotMDS(d [][]float64) []Point {
	k, n := len(d), len(d[0])
	c := make([][]float64, k)
	all := 0.0
	rows, columns := make([]float64, k), make([]float64, n)
	for a := range d {
		c[a] = make([]float64, n)
		for i, v := range d[a] {
			c[a][i] = v * v
			rows[a] += v * v / float64(n)
			columns[i] += v * v / float64(k)
			all += v * v / float64(n*k)
		}
	}
	for a := range c {
		for i := range c[a] {
			c[a][i] = -(c[a][i] - rows[a] - columns[i] + all) / 2
		}
	}
	p := make([]Point, n)
	var first []float64
	for axis := range 2 {
		v := make([]float64, k)
		for a := range v {
			v[a] = 1 / float64(1+(a*(7+6*axis))%k) // some start that is no axis
		}
		u := make([]float64, n)
		for range 100 {
			project(v, first)
			clear(u)
			for a, row := range c {
				for i, w := range row {
					u[i] += v[a] * w
				}
			}
			norm := 0.0
			for a, row := range c {
				v[a] = 0
				for i, w := range row {
					v[a] += u[i] * w
				}
				norm += v[a] * v[a]
			}
			if norm == 0 {
				break
			}
			for a := range v {
				v[a] /= math.Sqrt(norm)
			}
		}
		project(v, first)
		scale := 0.0
		clear(u)
		for a, row := range c {
			for i, w := range row {
				u[i] += v[a] * w
			}
		}
		for _, w := range u {
			scale += w * w
		}
		scale = math.Sqrt(math.Sqrt(scale*float64(n)/float64(k)) / max(math.Sqrt(scale), 1e-300))
		for i, w := range u {
			if axis == 0 {
				p[i].X = w * scale
			} else {
				p[i].Y = w * scale
			}
		}
		first = v
	}
	return p
}

// project takes the part along another vector, if there is one, out of v.
func project(v, along []float64) {
	if along == nil {
		return
	}
	dot := 0.0
	for a := range v {
		dot += v[a] * along[a]
	}
	for a := range v {
		v[a] -= dot * along[a]
	}
}
