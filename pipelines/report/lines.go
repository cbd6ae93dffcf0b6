package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is one line.
type Series struct {
	// Name stands in the legend.
	Name string
	// X and Y are the points, in order. Points that are not finite are left out,
	// and so are those that a logarithmic axis cannot show.
	X, Y []float64
	// Error, if set, is the half width of a band around the line, one a point;
	// where it is NaN the band has no width.
	Error []float64
	// Bare draws no marks at the points, for lines of many.
	Bare bool
}

// A Rule is a horizontal line for a value to compare with.
type Rule struct {
	// Name stands in the legend.
	Name string
	Y    float64
}

// Lines is a panel of lines.
type Lines struct {
	// Title, X and Y are what stands above the panel and at its axes, units
	// included.
	Title, X, Y string
	// LogX and LogY make the axes logarithmic.
	LogX, LogY bool
	Series     []Series
	Rules      []Rule
	// Low and High, unless both are zero, are the ends of the vertical axis; lines
	// are cut off there.
	Low, High float64
}

var _ Panel = Lines{}

func (l Lines) entries() []entry {
	var entries []entry
	for _, s := range l.Series {
		k := markedKind
		if s.Bare {
			k = lineKind
		}
		entries = append(entries, entry{s.Name, k})
	}
	for _, r := range l.Rules {
		entries = append(entries, entry{r.Name, ruleKind})
	}
	return entries
}

func (l Lines) build(looks map[string]look) (*plot.Plot, error) {
	p := newPlot(l.Title, l.X, l.Y)
	addGrid(p)
	type shown struct {
		points plotter.XYs
		errors []float64
	}
	all := make([]shown, len(l.Series))
	n := 0
	for i, s := range l.Series {
		if len(s.X) != len(s.Y) || s.Error != nil && len(s.Error) != len(s.Y) {
			return nil, fmt.Errorf("the line %q has %d abscissae, %d ordinates and %d errors; give as many of each", s.Name, len(s.X), len(s.Y), len(s.Error))
		}
		for k, x := range s.X {
			if !l.drawable(x, s.Y[k]) {
				continue
			}
			e := 0.0
			if s.Error != nil && s.Error[k] > 0 {
				e = s.Error[k]
			}
			all[i].points = append(all[i].points, plotter.XY{X: x, Y: s.Y[k]})
			all[i].errors = append(all[i].errors, e)
			n++
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("the panel %q has nothing to draw", l.Title)
	}
	for i, s := range l.Series {
		if s.Error != nil && len(all[i].points) > 1 {
			if err := l.addBand(p, looks[s.Name], all[i].points, all[i].errors); err != nil {
				return nil, err
			}
		}
	}
	for i, s := range l.Series {
		if len(all[i].points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(l.placed(all[i].points))
		if err != nil {
			return nil, fmt.Errorf("the line %q: %w", s.Name, err)
		}
		line.LineStyle, marks.GlyphStyle = looks[s.Name].line, looks[s.Name].glyph
		p.Add(line)
		if !s.Bare {
			p.Add(marks)
		}
	}
	low, high := p.X.Min, p.X.Max
	for _, r := range l.Rules {
		if !l.drawable(1, r.Y) {
			continue
		}
		y := l.placed(plotter.XYs{{X: 1, Y: r.Y}})[0].Y
		line, err := plotter.NewLine(plotter.XYs{{X: low, Y: y}, {X: high, Y: y}})
		if err != nil {
			return nil, fmt.Errorf("the rule %q: %w", r.Name, err)
		}
		line.LineStyle = looks[r.Name].ruled()
		p.Add(line)
	}
	l.scale(p)
	return p, nil
}

func (l Lines) drawable(x, y float64) bool {
	finite := func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
	return finite(x) && finite(y) && (!l.LogX || x > 0) && (!l.LogY || y > 0)
}

// addBand shades what lies between y − e and y + e.
func (l Lines) addBand(p *plot.Plot, k look, points plotter.XYs, errors []float64) error {
	var ring plotter.XYs
	for i, q := range points {
		ring = append(ring, plotter.XY{X: q.X, Y: q.Y + errors[i]})
	}
	for i := len(points) - 1; i >= 0; i-- {
		q := points[i]
		y := q.Y - errors[i]
		if l.LogY {
			y = max(y, q.Y/100)
		}
		ring = append(ring, plotter.XY{X: q.X, Y: y})
	}
	band, err := plotter.NewPolygon(l.placed(ring))
	if err != nil {
		return err
	}
	shade := k.colour
	shade.A = 50
	band.Color = shade
	band.LineStyle = draw.LineStyle{}
	p.Add(band)
	return nil
}

// placed are the points as they lie on the axes. Logarithms are taken here, since
// gonum puts the label of a logarithmic axis in the wrong place.
func (l Lines) placed(points plotter.XYs) plotter.XYs {
	r := make(plotter.XYs, len(points))
	for i, q := range points {
		if l.LogX {
			q.X = math.Log10(q.X)
		}
		if l.LogY {
			q.Y = math.Log10(q.Y)
		}
		r[i] = q
	}
	return r
}

func (l Lines) scale(p *plot.Plot) {
	if l.LogX {
		p.X.Tick.Marker = logTicks{}
	}
	if l.LogY {
		p.Y.Tick.Marker = logTicks{}
	}
	if l.Low != 0 || l.High != 0 {
		p.Y.Min, p.Y.Max = l.Low, l.High
		if l.LogY {
			p.Y.Min, p.Y.Max = math.Log10(l.Low), math.Log10(l.High)
		}
	} else {
		room := 0.06 * max(p.Y.Max-p.Y.Min, 1e-3)
		p.Y.Min, p.Y.Max = p.Y.Min-room, p.Y.Max+room
	}
	if p.X.Min == p.X.Max {
		p.X.Min, p.X.Max = p.X.Min-0.5, p.X.Max+0.5
	}
}
