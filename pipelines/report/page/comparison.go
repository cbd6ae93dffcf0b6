package page

import "slices"

// A Comparison is rows of dots on one axis: one row for each thing that was measured
// with, such as a set of data, one dot in it for each thing that was measured, such as
// a solver.
type Comparison struct {
	// Title, X and Y say what it shows, what the axis is and what the rows are.
	Title, X, Y string
	Rows        []string
	// Zero draws a line at zero, to which differences compare.
	Zero   bool
	Series []Dots
}

// Dots are those of one name, which has one colour in the whole page.
type Dots struct {
	Name string
	// Values has a value a row; one that is not finite is left out. Errors are half
	// the widths of the bars behind the dots, NaN for none; nil for none at all.
	Values, Errors []float64
}

// maxComparisonRows is the number of rows that are drawn.
const maxComparisonRows = 120

type comparisonsView struct {
	Names  []string         `json:"names"`
	Looks  []int            `json:"looks"`
	Charts []comparisonView `json:"charts"`
}

type comparisonView struct {
	Title string     `json:"title"`
	X     string     `json:"x"`
	Y     string     `json:"y"`
	Zero  bool       `json:"zero,omitempty"`
	Rows  []string   `json:"rows"`
	Lines []dotsView `json:"lines"`
}

type dotsView struct {
	// Name is the number of it in Names, Row that of the row of each value.
	Name  int     `json:"name"`
	Row   []int   `json:"row"`
	Value numbers `json:"value"`
	Error numbers `json:"error"` // 0 for none
}

func comparisonsData(comparisons []Comparison, looks map[string]int) comparisonsView {
	var v comparisonsView
	var names []string
	for _, c := range comparisons {
		shown := comparisonView{
			Title: Short(c.Title, maxLabel), X: Short(c.X, maxLabel), Y: Short(c.Y, maxLabel), Zero: c.Zero,
			Rows: []string{}, Lines: []dotsView{},
		}
		for _, r := range c.Rows[:min(len(c.Rows), maxComparisonRows)] {
			shown.Rows = append(shown.Rows, Short(r, maxLabel))
		}
		for _, d := range c.Series[:min(len(c.Series), maxSeries)] {
			var dots dotsView
			for k := range min(len(shown.Rows), len(d.Values)) {
				if !finite(d.Values[k]) {
					continue
				}
				e := 0.0
				if k < len(d.Errors) && finite(d.Errors[k]) {
					e = d.Errors[k]
				}
				dots.Row, dots.Value, dots.Error = append(dots.Row, k), append(dots.Value, d.Values[k]), append(dots.Error, e)
			}
			if dots.Row == nil {
				continue
			}
			dots.Name = slices.Index(names, d.Name)
			if dots.Name < 0 {
				dots.Name = len(names)
				names = append(names, d.Name)
				v.Names, v.Looks = append(v.Names, Short(d.Name, maxLabel)), append(v.Looks, looks[d.Name])
			}
			shown.Lines = append(shown.Lines, dots)
		}
		v.Charts = append(v.Charts, shown)
	}
	return v
}
