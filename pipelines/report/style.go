package report

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shades of everything but data.
var (
	background = color.White
	ink        = color.Gray{Y: 40}
	faint      = color.Gray{Y: 225}
)

// palette is that of Okabe and Ito (2008) without its yellow, which white swallows.
func palette(i int) color.NRGBA {
	colours := [...]color.NRGBA{
		{0, 114, 178, 255},   // blue
		{213, 94, 0, 255},    // vermilion
		{0, 158, 115, 255},   // green
		{204, 121, 167, 255}, // purple
		{230, 159, 0, 255},   // orange
		{86, 180, 233, 255},  // sky
		{110, 110, 110, 255}, // grey
		{0, 0, 0, 255},       // black
	}
	return colours[i%len(colours)]
}

// A kind is what stands for a thing in the legend.
type kind int

const (
	markedKind kind = iota // a line with marks
	lineKind
	ruleKind
	barKind
)

// An entry is what the legend explains.
type entry struct {
	name string
	kind kind
}

// A look is how one named thing is drawn wherever it appears.
type look struct {
	kind   kind
	colour color.NRGBA
	line   draw.LineStyle
	glyph  draw.GlyphStyle
}

func looksOf(entries []entry) map[string]look {
	shapes := [...]draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
		draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	looks := make(map[string]look, len(entries))
	for i, e := range entries {
		c := palette(i)
		l := look{
			kind:   e.kind,
			colour: c,
			line:   draw.LineStyle{Color: c, Width: vg.Points(1.4)},
			glyph:  draw.GlyphStyle{Color: c, Radius: vg.Points(2.4), Shape: shapes[i%len(shapes)]},
		}
		if i >= 8 { // a second round of the palette
			l.line.Dashes = []vg.Length{vg.Points(4), vg.Points(2)}
		}
		looks[e.name] = l
	}
	return looks
}

// ruled is the line of a rule.
func (l look) ruled() draw.LineStyle {
	l.line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	return l.line
}

func textStyle(size float64) text.Style {
	return text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
		Handler: plot.DefaultTextHandler,
	}
}

// newPlot is an empty panel with its labels and a light grid.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	restyle(&p.Title.TextStyle, 11)
	p.Title.Padding = vg.Points(4)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		restyle(&a.Label.TextStyle, 10.5)
		restyle(&a.Tick.Label, 9)
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.Label.Padding = vg.Points(3)
		a.Padding = 0
		a.Tick.Marker = ticks{}
	}
	return p
}

// restyle keeps the alignment that gonum has chosen.
func restyle(s *text.Style, size float64) {
	t := textStyle(size)
	s.Color, s.Font = t.Color, t.Font
}

func addGrid(p *plot.Plot) {
	g := plotter.NewGrid()
	g.Horizontal = draw.LineStyle{Color: faint, Width: vg.Points(0.6)}
	g.Vertical = g.Horizontal
	p.Add(g)
}

// ticks are gonum's, written without trailing zeros and with a true minus.
type ticks struct{}

// Ticks implements plot.Ticker.
func (ticks) Ticks(low, high float64) []plot.Tick {
	t := plot.DefaultTicks{}.Ticks(low, high)
	for i := range t {
		if !t[i].IsMinor() {
			t[i].Label = number(t[i].Value)
		}
	}
	return t
}

// logTicks are those of an axis of common logarithms. They label 1, 2 and 5 of every
// decade, only 1 over more decades, and over many only some of these.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	var t []plot.Tick
	decades := high - low
	every := math.Ceil(decades / 7)
	const slack = 1e-9
	for e := math.Floor(low); e <= math.Ceil(high); e++ {
		for m := 1.0; m < 10; m++ {
			at := e + math.Log10(m)
			if at < low-slack || at > high+slack || m > 1 && every > 1 {
				continue
			}
			tick := plot.Tick{Value: at}
			if m == 1 && math.Mod(e, every) == 0 || decades < 2.5 && (m == 2 || m == 5) {
				tick.Label = logNumber(m * math.Pow(10, e))
			}
			t = append(t, tick)
		}
	}
	return t
}

// logNumber writes powers of ten far from one as such.
func logNumber(v float64) string {
	if v >= 0.001 && v < 1e5 {
		return number(v)
	}
	return fmt.Sprintf("1e%s", number(math.Round(math.Log10(v))))
}

func number(v float64) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	s := strconv.FormatFloat(math.Abs(v), 'g', 6, 64)
	if v < 0 {
		return "−" + s
	}
	return s
}
