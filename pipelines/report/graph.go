package report

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gladflow/gladflow/pipelines/report/layout"
)

// A Graph is a picture of a network: points, the larger the more edges a node has, and lines
// between them, the wider the stronger; blue ones are positive, dashed orange ones negative.
type Graph struct {
	// Title stands above it, Caption below.
	Title, Caption string
	// Names are those of the nodes; Labels draws them where there is room, of nodes with many
	// edges first.
	Names  []string
	Labels bool
	Edges  []GraphEdge
	// Directed draws arrows.
	Directed bool
	// Dark draws on a dark ground.
	Dark bool
}

// A GraphEdge joins two nodes, by their positions in Graph.Names.
type GraphEdge struct {
	From, To int
	// Strength is from 0 to 1.
	Strength float64
	// Sign is −1, 0 or 1.
	Sign int
}

// Size of the picture.
const (
	graphWidth  = 26 * vg.Centimeter
	graphHeight = 18 * vg.Centimeter
)

// Encode draws the graph into w in the format svg or png. The same graph gives the same
// bytes.
func (g Graph) Encode(w io.Writer, format string) error {
	for k, e := range g.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= len(g.Names) {
			return fmt.Errorf("edge %d joins %d and %d, and there are %d nodes", k, e.From, e.To, len(g.Names))
		}
	}
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(graphWidth, graphHeight)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(graphWidth, graphHeight), vgimg.UseDPI(resolution))}
	default:
		return fmt.Errorf("the format %q is unknown; choose svg or png", format)
	}
	g.draw(draw.NewCanvas(canvas, graphWidth, graphHeight))
	_, err := canvas.WriteTo(w)
	return err
}

// shades are those of a picture.
type shades struct{ ground, ink, node, plus, minus, unknown color.NRGBA }

func (g Graph) shades() shades {
	if g.Dark {
		return shades{color.NRGBA{20, 23, 29, 255}, color.NRGBA{232, 234, 238, 255}, color.NRGBA{163, 171, 185, 255},
			color.NRGBA{88, 177, 234, 255}, color.NRGBA{255, 145, 80, 255}, color.NRGBA{141, 149, 163, 255}}
	}
	return shades{color.NRGBA{255, 255, 255, 255}, color.NRGBA{29, 35, 48, 255}, color.NRGBA{89, 98, 115, 255},
		color.NRGBA{0, 114, 178, 255}, color.NRGBA{213, 94, 0, 255}, color.NRGBA{122, 130, 143, 255}}
}

func (g Graph) draw(c draw.Canvas) {
	s := g.shades()
	c.SetColor(s.ground)
	c.Fill(c.Rectangle.Path())
	title := textStyle(13)
	title.Color, title.XAlign, title.YAlign = s.ink, draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - margin}, g.Title)
	caption := textStyle(9)
	caption.Color, caption.XAlign, caption.YAlign = s.node, draw.XCenter, draw.YBottom
	c.FillText(caption, vg.Point{X: c.Center().X, Y: c.Min.Y + margin}, g.Caption)
	if len(g.Names) == 0 {
		return
	}
	area := draw.Crop(c, 1.2*vg.Centimeter, -1.2*vg.Centimeter, 1.3*vg.Centimeter, -1.5*vg.Centimeter)
	at := g.places(area)
	degrees := make([]int, len(g.Names))
	for _, e := range g.Edges {
		degrees[e.From]++
		degrees[e.To]++
	}
	radius := func(i int) vg.Length { return vg.Points(min(8, 1.6+0.8*math.Sqrt(float64(degrees[i])))) }
	for _, e := range slices.Backward(g.Edges) { // the strongest on top
		line := draw.LineStyle{Color: s.unknown, Width: vg.Points(0.4 + 1.8*max(0, min(1, e.Strength)))}
		switch {
		case e.Sign > 0:
			line.Color = s.plus
		case e.Sign < 0:
			line.Color = s.minus
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(2.5)}
		}
		from, to := at[e.From], at[e.To]
		c.StrokeLine2(line, from.X, from.Y, to.X, to.Y)
		if g.Directed {
			arrow(c, line.Color, from, to, radius(e.To))
		}
	}
	order := make([]int, len(g.Names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(degrees[b], degrees[a]) })
	for _, i := range slices.Backward(order) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.node, Radius: radius(i), Shape: draw.CircleGlyph{}}, at[i])
	}
	if g.Labels {
		g.label(c, s, order, at, radius)
	}
}

// places are those of the nodes in the area.
func (g Graph) places(area draw.Canvas) []vg.Point {
	ends := make([][2]int, len(g.Edges))
	for k, e := range g.Edges {
		ends[k] = [2]int{e.From, e.To}
	}
	p, components := layout.Of(len(g.Names), ends)
	size := area.Rectangle.Size()
	width, height := layout.Shelve(p, components, float64(size.X/size.Y))
	scale := min(size.X/vg.Length(max(width, 1)), size.Y/vg.Length(max(height, 1)), 2.5*vg.Centimeter)
	centre := area.Center()
	at := make([]vg.Point, len(p))
	for i, q := range p {
		at[i] = vg.Point{
			X: centre.X + scale*vg.Length(q.X-(width-1.1)/2), // without the gap after the last component
			Y: centre.Y - scale*vg.Length(q.Y-(height-0.9)/2),
		}
	}
	return at
}

// arrow draws the head of an arrow before a point of a radius.
func arrow(c draw.Canvas, colour color.Color, from, to vg.Point, radius vg.Length) {
	dx, dy := to.X-from.X, to.Y-from.Y
	far := vg.Length(math.Hypot(float64(dx), float64(dy)))
	if far < radius+vg.Points(4) {
		return
	}
	ux, uy := dx/far, dy/far
	tip := vg.Point{X: to.X - ux*(radius+vg.Points(0.5)), Y: to.Y - uy*(radius+vg.Points(0.5))}
	const long, wide = 5, 2
	back := vg.Point{X: tip.X - ux*vg.Points(long), Y: tip.Y - uy*vg.Points(long)}
	c.FillPolygon(colour, []vg.Point{tip, {X: back.X - uy*vg.Points(wide), Y: back.Y + ux*vg.Points(wide)}, {X: back.X + uy*vg.Points(wide), Y: back.Y - ux*vg.Points(wide)}})
}

// label writes names where no other stands, in the order of the nodes given.
func (g Graph) label(c draw.Canvas, s shades, order []int, at []vg.Point, radius func(int) vg.Length) {
	style := textStyle(7.5)
	style.Color, style.XAlign = s.ink, draw.XCenter
	high := style.Height("Xg")
	var taken []vg.Rectangle
	for _, i := range order {
		name := g.Names[i]
		half := style.Width(name)/2 + vg.Points(1)
		for _, y := range []vg.Length{at[i].Y + radius(i) + vg.Points(2), at[i].Y - radius(i) - vg.Points(2) - high} {
			box := vg.Rectangle{Min: vg.Point{X: at[i].X - half, Y: y}, Max: vg.Point{X: at[i].X + half, Y: y + high}}
			if box.Min.X < c.Min.X || box.Max.X > c.Max.X || slices.ContainsFunc(taken, func(o vg.Rectangle) bool {
				return box.Min.X < o.Max.X && o.Min.X < box.Max.X && box.Min.Y < o.Max.Y && o.Min.Y < box.Max.Y
			}) {
				continue
			}
			taken = append(taken, box)
			c.FillText(style, vg.Point{X: at[i].X, Y: y}, name)
			break
		}
	}
}
