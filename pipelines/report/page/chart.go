package page

import (
	"cmp"
	"fmt"
	"slices"
)

// A Chart is lines between two axes.
type Chart struct {
	// Title, X and Y stand above it and at its axes, units included.
	Title, X, Y string
	// LogX and LogY make the axes logarithmic; points that such an axis cannot show
	// are left out. SwitchX lets the reader switch the horizontal one.
	LogX, LogY, SwitchX bool
	// Unit draws both axes from 0 to 1, and Diagonal the line of chance between
	// them.
	Unit, Diagonal bool
	// Low lets a linear vertical axis begin above zero.
	Low bool
	// Dots marks every point, for series of few.
	Dots bool
	// Scatter draws points and no lines between them.
	Scatter bool
	// Rule, if it is positive, is a level to compare with, and RuleName its name.
	Rule     float64
	RuleName string
	Series   []Series
}

// A Series is one line. Series of one name have one colour in the whole page.
type Series struct {
	// Name stands in the legend.
	Name string
	// X and Y are the points, in order. Those that are not finite are left out, and
	// of many those that nobody would miss.
	X, Y []float64
	// Like is the name of the series whose colour it has. Default: its own.
	Like string
}

func (s Series) look() string { return cmp.Or(s.Like, s.Name) }

// Bounds of what is drawn of a chart. A line of so many points is as wide as a
// screen.
const (
	maxPoints = 400
	maxSeries = 40
)

// A chartsView is what the script is given of the charts of a section.
type chartsView struct {
	// Names are those of the legend, in order, and Looks their colours.
	Names  []string    `json:"names"`
	Looks  []int       `json:"looks"`
	Charts []chartView `json:"charts"`
}

type chartView struct {
	Title    string       `json:"title"`
	X        string       `json:"x"`
	Y        string       `json:"y"`
	LogX     bool         `json:"logX,omitempty"`
	LogY     bool         `json:"logY,omitempty"`
	SwitchX  bool         `json:"switchX,omitempty"`
	Unit     bool         `json:"unit,omitempty"`
	Diagonal bool         `json:"diagonal,omitempty"`
	Low      bool         `json:"low,omitempty"`
	Dots     bool         `json:"dots,omitempty"`
	Scatter  bool         `json:"scatter,omitempty"`
	Rule     float64      `json:"rule,omitempty"`
	RuleName string       `json:"ruleName,omitempty"`
	Lines    []seriesView `json:"lines"`
}

type seriesView struct {
	// Name is the number of it in Names.
	Name int     `json:"name"`
	X    numbers `json:"x"`
	Y    numbers `json:"y"`
}

// chartsData thins the lines of charts, whose names have the looks given.
func chartsData(charts []Chart, looks map[string]int) (chartsView, error) {
	var v chartsView
	var names []string
	for _, c := range charts {
		shown := chartView{
			Title: Short(c.Title, maxLabel), X: Short(c.X, maxLabel), Y: Short(c.Y, maxLabel), LogX: c.LogX, LogY: c.LogY, SwitchX: c.SwitchX,
			Unit: c.Unit, Diagonal: c.Diagonal, Low: c.Low, Dots: c.Dots, Scatter: c.Scatter, Lines: []seriesView{},
		}
		if c.Rule > 0 && finite(c.Rule) {
			shown.Rule, shown.RuleName = c.Rule, Short(c.RuleName, maxLabel)
		}
		for _, s := range c.Series[:min(len(c.Series), maxSeries)] {
			if len(s.X) != len(s.Y) {
				return v, fmt.Errorf("the line %q has %d abscissae and %d ordinates; give as many of each", s.Name, len(s.X), len(s.Y))
			}
			x, y := thinned(s.X, s.Y, c.LogX, c.LogY, maxPoints)
			if c.Scatter {
				x, y = scattered(s.X, s.Y, c.LogX, c.LogY, maxPoints)
			}
			if len(x) == 0 {
				continue
			}
			at := slices.Index(names, s.Name)
			if at < 0 {
				at = len(names)
				names = append(names, s.Name)
				v.Names = append(v.Names, Short(s.Name, maxLabel))
				v.Looks = append(v.Looks, looks[s.look()])
			}
			shown.Lines = append(shown.Lines, seriesView{at, x, y})
		}
		v.Charts = append(v.Charts, shown)
	}
	return v, nil
}
