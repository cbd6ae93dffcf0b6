package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A Bar is one colour of bars, one in every group.
type Bar struct {
	// Name stands in the legend.
	Name string
	// Values has one a group; NaN leaves it out.
	Values []float64
	// Error, if set, is the half length of a whisker at the end of each.
	Error []float64
}

// Bars is a panel of grouped bars, for few values.
type Bars struct {
	// Title, X and Y are what stands above the panel and at its axes.
	Title, X, Y string
	// Groups label the groups.
	Groups []string
	Bars   []Bar
	// Low and High, unless both are zero, are the ends of the vertical axis. Bars
	// begin at zero, or at the end nearer to it.
	Low, High float64
}

var _ Panel = Bars{}

func (b Bars) entries() []entry {
	var entries []entry
	for _, s := range b.Bars {
		entries = append(entries, entry{s.Name, barKind})
	}
	return entries
}

func (b Bars) build(looks map[string]look) (*plot.Plot, error) {
	if len(b.Groups) == 0 || len(b.Bars) == 0 {
		return nil, fmt.Errorf("the panel %q has no bars; give it some", b.Title)
	}
	p := newPlot(b.Title, b.X, b.Y)
	addGrid(p)
	base := 0.0
	if b.Low != 0 || b.High != 0 {
		base = min(max(0, b.Low), b.High)
	}
	width := 0.8 / float64(len(b.Bars))
	for k, s := range b.Bars {
		if len(s.Values) != len(b.Groups) || s.Error != nil && len(s.Error) != len(s.Values) {
			return nil, fmt.Errorf("the bars %q have %d values and %d errors for %d groups; give one each", s.Name, len(s.Values), len(s.Error), len(b.Groups))
		}
		for g, v := range s.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			left := float64(g) - 0.4 + width*float64(k)
			box, err := plotter.NewPolygon(plotter.XYs{
				{X: left, Y: base}, {X: left + 0.94*width, Y: base}, {X: left + 0.94*width, Y: v}, {X: left, Y: v},
			})
			if err != nil {
				return nil, err
			}
			box.Color = looks[s.Name].colour
			box.LineStyle.Width = 0
			p.Add(box)
			if s.Error == nil || !(s.Error[g] > 0) {
				continue
			}
			x := left + 0.47*width
			whisker, err := plotter.NewLine(plotter.XYs{{X: x, Y: v - s.Error[g]}, {X: x, Y: v + s.Error[g]}})
			if err != nil {
				return nil, err
			}
			whisker.Color, whisker.Width = ink, vg.Points(1)
			p.Add(whisker)
		}
	}
	p.X.Tick.Marker = named(b.Groups, false)
	p.X.Tick.Length = 0
	p.X.Min, p.X.Max = -0.5, float64(len(b.Groups))-0.5
	if b.Low != 0 || b.High != 0 {
		p.Y.Min, p.Y.Max = b.Low, b.High
	} else {
		room := 0.05 * (p.Y.Max - p.Y.Min)
		if p.Y.Max > 0 {
			p.Y.Max += room
		}
		if p.Y.Min < 0 {
			p.Y.Min -= room
		}
	}
	return p, nil
}
