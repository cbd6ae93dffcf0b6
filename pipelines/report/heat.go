package report

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a panel with a grid of cells, each coloured by its value with the value
// written into it.
type Heat struct {
	// Title, X and Y are what stands above the panel and at its axes.
	Title, X, Y string
	// Columns and Rows label the cells, rows from top to bottom.
	Columns, Rows []string
	// Values has a slice for every row. NaN leaves a cell empty.
	Values [][]float64
	// Low and High, unless both are zero, are the values of the lightest and of the
	// darkest colour. Give them where panels are compared. Default: the range
	// of the values.
	Low, High float64
	// Decimals of the values written.
	Decimals int
}

var _ Panel = Heat{}

func (Heat) entries() []entry { return nil }

func (h Heat) build(map[string]look) (*plot.Plot, error) {
	if len(h.Values) != len(h.Rows) || len(h.Rows) == 0 || len(h.Columns) == 0 {
		return nil, fmt.Errorf("the heat map %q has %d rows of values for %d labels; give one label a row, and at least one column", h.Title, len(h.Values), len(h.Rows))
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i, row := range h.Values {
		if len(row) != len(h.Columns) {
			return nil, fmt.Errorf("row %d of the heat map %q has %d values for %d columns", i, h.Title, len(row), len(h.Columns))
		}
		for _, v := range row {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if h.Low != 0 || h.High != 0 {
		low, high = h.Low, h.High
	}
	p := newPlot(h.Title, h.X, h.Y)
	for i, row := range h.Values {
		y := float64(len(h.Rows) - 1 - i)
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			x := float64(j)
			fill, dark := shadeOf((v - low) / max(high-low, 1e-300))
			cell, err := plotter.NewPolygon(plotter.XYs{
				{X: x - 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y - 0.5}, {X: x + 0.5, Y: y + 0.5}, {X: x - 0.5, Y: y + 0.5},
			})
			if err != nil {
				return nil, err
			}
			cell.Color = fill
			cell.LineStyle = draw.LineStyle{Color: background, Width: 1}
			p.Add(cell)
			label, err := plotter.NewLabels(plotter.XYLabels{
				XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{fixed(v, h.Decimals)},
			})
			if err != nil {
				return nil, err
			}
			style := textStyle(9)
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			if dark {
				style.Color = background
			}
			label.TextStyle = []text.Style{style}
			p.Add(label)
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = named(h.Columns, false), named(h.Rows, true)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.Min, p.X.Max = -0.5, float64(len(h.Columns))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(h.Rows))-0.5
	return p, nil
}

// named puts labels at 0, 1, …, or in reverse.
func named(labels []string, reverse bool) plot.ConstantTicks {
	t := make(plot.ConstantTicks, len(labels))
	for i, l := range labels {
		at := i
		if reverse {
			at = len(labels) - 1 - i
		}
		t[i] = plot.Tick{Value: float64(at), Label: l}
	}
	return t
}

// shadeOf goes from near white at 0 to dark blue at 1, evenly in lightness, and
// says whether it is dark.
func shadeOf(f float64) (color.Color, bool) {
	f = min(max(f, 0), 1)
	mix := func(from, to float64) uint8 { return uint8(from + f*(to-from)) }
	return color.NRGBA{mix(237, 8), mix(243, 64), mix(250, 129), 255}, f > 0.55
}

// fixed has a true minus.
func fixed(v float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if v < 0 {
		return "−" + s
	}
	return s
}
