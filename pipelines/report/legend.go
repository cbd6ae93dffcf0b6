package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measures of the legend, which runs in lines below the panels.
const (
	swatchWidth = 0.8 * vg.Centimeter
	swatchGap   = 0.15 * vg.Centimeter
	entryGap    = 0.6 * vg.Centimeter
	legendSize  = 9.5
)

func entryWidth(name string) vg.Length {
	return swatchWidth + swatchGap + textStyle(legendSize).Width(name) + entryGap
}

// legendLines breaks the names into lines that fit the width.
func legendLines(names []string, width vg.Length) [][]string {
	var lines [][]string
	var used vg.Length
	for _, n := range names {
		w := entryWidth(n)
		if lines == nil || used+w-entryGap > width {
			lines = append(lines, nil)
			used = 0
		}
		last := len(lines) - 1
		lines[last] = append(lines[last], n)
		used += w
	}
	return lines
}

func drawLegend(c draw.Canvas, lines [][]string, looks map[string]look) {
	style := textStyle(legendSize)
	style.YAlign = draw.YCenter
	for k, names := range lines {
		y := c.Max.Y - legendLine*(vg.Length(k)+0.6)
		var width vg.Length
		for _, n := range names {
			width += entryWidth(n)
		}
		x := c.Center().X - (width-entryGap)/2
		for _, n := range names {
			l := looks[n]
			l.swatch(&c, x, y)
			c.FillText(style, vg.Point{X: x + swatchWidth + swatchGap, Y: y}, n)
			x += entryWidth(n)
		}
	}
}

// swatch shows what is drawn in the panels: a box for bars, a dashed line for a rule,
// a line with its mark otherwise.
func (l look) swatch(c *draw.Canvas, x, y vg.Length) {
	switch l.kind {
	case barKind:
		const half = 0.13 * vg.Centimeter
		left, right := x+0.2*vg.Centimeter, x+swatchWidth-0.2*vg.Centimeter
		c.FillPolygon(l.colour, []vg.Point{{X: left, Y: y - half}, {X: right, Y: y - half}, {X: right, Y: y + half}, {X: left, Y: y + half}})
	case ruleKind:
		c.StrokeLine2(l.ruled(), x, y, x+swatchWidth, y)
	default:
		c.StrokeLine2(l.line, x, y, x+swatchWidth, y)
		if l.kind == markedKind {
			c.DrawGlyphNoClip(l.glyph, vg.Point{X: x + swatchWidth/2, Y: y})
		}
	}
}
