package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Links are pairs of nodes that are drawn alike.
type Links struct {
	// Name stands in the legend.
	Name string
	// Pairs are indices into Network.Nodes.
	Pairs [][2]int
	// Dashed draws dashes instead of a line.
	Dashed bool
}

// Network is a panel with nodes on a circle and lines between them, for some tens of
// nodes.
type Network struct {
	// Title stands above the panel.
	Title string
	// Nodes are the names, clockwise from the top.
	Nodes []string
	// Links are drawn in order, later ones above earlier ones.
	Links []Links
}

var _ Panel = Network{}

func (n Network) entries() []entry {
	var entries []entry
	for _, l := range n.Links {
		k := lineKind
		if l.Dashed {
			k = ruleKind
		}
		entries = append(entries, entry{l.Name, k})
	}
	return entries
}

func (n Network) build(looks map[string]look) (*plot.Plot, error) {
	if len(n.Nodes) == 0 {
		return nil, fmt.Errorf("the network %q has no nodes; give it some", n.Title)
	}
	for _, l := range n.Links {
		for _, q := range l.Pairs {
			if min(q[0], q[1]) < 0 || max(q[0], q[1]) >= len(n.Nodes) {
				return nil, fmt.Errorf("the links %q of the network %q join %v, and there are %d nodes", l.Name, n.Title, q, len(n.Nodes))
			}
		}
	}
	p := newPlot(n.Title, "", "")
	p.HideAxes()
	p.Add(ring{n, looks})
	const room = 1.45 // names stand outside of the circle
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -room, room, -room, room
	return p, nil
}

// A ring draws a Network.
type ring struct {
	Network
	looks map[string]look
}

var _ plot.Plotter = ring{}

// at is where node i lies, and its angle.
func (r ring) at(i int) (plotter.XY, float64) {
	angle := math.Pi/2 - 2*math.Pi*float64(i)/float64(len(r.Nodes))
	return plotter.XY{X: math.Cos(angle), Y: math.Sin(angle)}, angle
}

// Plot implements plot.Plotter.
func (r ring) Plot(c draw.Canvas, p *plot.Plot) {
	// The circle stays one in a panel that is wider than high.
	centre, size := c.Center(), min(c.Max.X-c.Min.X, c.Max.Y-c.Min.Y)/vg.Length(p.X.Max-p.X.Min)
	place := func(q plotter.XY) vg.Point {
		return vg.Point{X: centre.X + vg.Length(q.X)*size, Y: centre.Y + vg.Length(q.Y)*size}
	}
	for _, l := range r.Links {
		style := r.looks[l.Name].line
		if l.Dashed {
			style = r.looks[l.Name].ruled()
		}
		for _, q := range l.Pairs {
			a, _ := r.at(q[0])
			b, _ := r.at(q[1])
			from, to := place(a), place(b)
			c.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
		}
	}
	dot := draw.GlyphStyle{Color: ink, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
	for i, name := range r.Nodes {
		at, angle := r.at(i)
		c.DrawGlyph(dot, place(at))
		style := textStyle(min(8, 300/float64(len(r.Nodes))))
		style.YAlign = draw.YCenter
		style.Rotation, style.XAlign = angle, draw.XLeft
		if math.Cos(angle) < -1e-9 { // so that it can be read from the left
			style.Rotation, style.XAlign = angle+math.Pi, draw.XRight
		}
		c.FillText(style, place(plotter.XY{X: 1.05 * at.X, Y: 1.05 * at.Y}), name)
	}
}
