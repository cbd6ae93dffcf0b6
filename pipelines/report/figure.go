// Package report draws figures: lines with error bands, heat maps and bars, one
// or several panels side by side under one title with one legend. They are
// written as SVG for documents and as PNG for everything else.
//
//	f := report.Figure{Title: "NMSE by iteration", Panels: []report.Panel{
//		report.Lines{X: "iteration", Y: "NMSE (dB)", Series: series},
//	}}
//	err := f.Write("results/convergence")
//
// It knows nothing of what the figures say. Colours are those of Okabe and Ito,
// which colour-blind people can tell apart; lines differ in their marks as well.
package report

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gladflow/gladflow/arrowio"
)

// A Figure is one panel or several, in rows.
type Figure struct {
	// Title stands above all panels.
	Title string
	// Panels are drawn from left to right, at least one. What has the same name
	// in several panels has the same colour and stands in the legend once.
	Panels []Panel
	// Columns is the number of panels in a row. Default (0): all of them.
	Columns int
}

// A Panel is one pair of axes with what is drawn between them: Lines, Heat or
// Bars.
type Panel interface {
	// entries lists what the legend explains, in order.
	entries() []entry
	// build draws with the looks of the names.
	build(looks map[string]look) (*plot.Plot, error)
}

// Sizes of what is written.
const (
	panelWidth  = 9.2 * vg.Centimeter
	panelHeight = 7.6 * vg.Centimeter
	titleHeight = 0.9 * vg.Centimeter
	legendLine  = 0.55 * vg.Centimeter
	margin      = 0.3 * vg.Centimeter
	resolution  = 144 // dots per inch of a PNG
)

// Write writes path.svg and path.png. Each file appears under its name when it is
// whole.
func (f Figure) Write(path string) error {
	if err := f.WriteFile(path+".svg", "svg"); err != nil {
		return err
	}
	return f.WriteFile(path+".png", "png")
}

// WriteFile writes one file in the format svg or png.
func (f Figure) WriteFile(path, format string) error {
	return arrowio.ReplaceFile(path, func(w io.Writer) error { return f.Encode(w, format) })
}

// Encode draws the figure into w in the format svg or png.
func (f Figure) Encode(w io.Writer, format string) error {
	if len(f.Panels) == 0 {
		return errors.New("a figure has no panels; give it one")
	}
	var entries []entry
	var names []string
	for _, p := range f.Panels {
		for _, e := range p.entries() {
			if e.name != "" && !slices.Contains(names, e.name) {
				entries, names = append(entries, e), append(names, e.name)
			}
		}
	}
	looks := looksOf(entries)
	plots := make([]*plot.Plot, len(f.Panels))
	for i, p := range f.Panels {
		var err error
		if plots[i], err = p.build(looks); err != nil {
			return err
		}
	}
	rows := f.rows(plots)
	width := panelWidth*vg.Length(len(rows[0])) + 2*margin
	lines := legendLines(names, width-2*margin)
	height := titleHeight + panelHeight*vg.Length(len(rows)) + legendLine*vg.Length(len(lines)) + 2*margin
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(width, height)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(resolution))}
	default:
		return fmt.Errorf("the format %q is unknown; choose svg or png", format)
	}
	f.draw(draw.NewCanvas(canvas, width, height), rows, lines, looks)
	_, err := canvas.WriteTo(w)
	return err
}

func (f Figure) draw(c draw.Canvas, rows [][]*plot.Plot, lines [][]string, looks map[string]look) {
	c.SetColor(background)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	title := textStyle(13)
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y}, f.Title)
	below := legendLine * vg.Length(len(lines))
	drawLegend(draw.Crop(c, 0, 0, 0, below-c.Rectangle.Size().Y), lines, looks)
	tiles := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: margin, PadY: margin}
	area := draw.Crop(c, 0, 0, below, -titleHeight)
	for i, tiled := range plot.Align(rows, tiles, area) {
		for j, a := range tiled {
			if rows[i][j] != nil {
				rows[i][j].Draw(a)
			}
		}
	}
}

// rows are the plots as a rectangle, nil where the last row ends early.
func (f Figure) rows(plots []*plot.Plot) [][]*plot.Plot {
	columns := f.Columns
	if columns <= 0 || columns > len(plots) {
		columns = len(plots)
	}
	var rows [][]*plot.Plot
	for len(plots) > 0 {
		row := make([]*plot.Plot, columns)
		plots = plots[copy(row, plots):]
		rows = append(rows, row)
	}
	return rows
}
