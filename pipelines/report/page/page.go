// Package page writes what a run has found as one HTML page to look at: tables,
// curves, the network itself, and how to repeat it all. The page is whole in itself:
// it loads nothing, so it can be mailed, archived and opened without a network.
//
//	p := page.Page{Title: "expression.csv", Sections: []page.Section{
//		{Title: "Results", Table: &table},
//		{Title: "Network", Networks: []page.Network{network}},
//	}}
//	err := p.Encode(w)
//
// It knows nothing of solvers, files and Arrow. Whatever a page shows may be
// hostile, names of variables above all: everything is escaped, long names are cut,
// and the page's policy (Content-Security-Policy) lets no script run but its own.
// The number of points, nodes and edges is bounded, and with them the size of the
// page. The same Page gives the same bytes.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the parts of the page
	"encoding/base64"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Page is a report.
type Page struct {
	// Kind says above the title what was done, in a word or two, such as Recovery.
	Kind string
	// Title is what it was done with, such as the name of a file.
	Title string
	// Summary is a few short facts, such as "301 samples".
	Summary []string
	// Error is the sentence that the run failed with, if it did; Warnings are others
	// that the reader should see first.
	Error    string
	Warnings []string
	Sections []Section
}

// A Section is a part of the page under a title. What is nil or empty in it is not
// there; the rest stands in the order of the fields.
type Section struct {
	// Title stands above it and in the page's list of contents.
	Title string
	// Text is a paragraph each.
	Text  []string
	Table *Table
	// TableLast puts the table below what is drawn.
	TableLast bool
	Networks  []Network
	// Chosen is the network that is drawn first, of several.
	Chosen int
	// Heat draws the networks of the section before as heat maps.
	Heat bool
	// Charts stand side by side with one legend.
	Charts []Chart
	// Comparisons do too, below the charts.
	Comparisons []Comparison
	Record      *Record
	// Notes are sentences below everything else.
	Notes []string
}

// A Record is what was done, and how to repeat it.
type Record struct {
	// Command is the command line that repeats the run.
	Command string
	// Facts are named values, such as versions and checksums.
	Facts []Fact
	// Files are what the run has written.
	Files []File
}

// A Fact is a named value.
type Fact struct{ Name, Value string }

// A File was written by the run.
type File struct {
	Name   string
	Bytes  int64
	SHA256 string
}

// MaxText is the number of characters that are kept of a name or a sentence.
const MaxText = 2000

// Short is text with at most n characters that can be shown: a longer one ends with
// an ellipsis, and control characters are spaces.
func Short(text string, n int) string {
	if len(text) > 4*n { // at most four bytes a character
		text = text[:4*n]
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// Encode writes the page.
func (p Page) Encode(w io.Writer) error {
	view, err := p.view()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := document().Execute(&b, view); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

var (
	//go:embed page.html
	htmlText string
	//go:embed page.css
	styleText string
	//go:embed chart.js
	chartText string
	//go:embed comparison.js
	comparisonText string
	//go:embed canvas.js
	canvasText string
	//go:embed edges.js
	edgesText string
	//go:embed heat.js
	heatText string
	//go:embed network.js
	networkText string
	//go:embed page.js
	pageText string
)

// document is the template of every page.
func document() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"short": func(text string) string { return Short(text, MaxText) },
		"label": func(text string) string { return Short(text, maxLabel) },
		"bytes": byteCount,
		"share": func(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) },
	}).Parse(htmlText))
}

// byteCount is a size for people.
func byteCount(n int64) string {
	v, unit := float64(n), "bytes"
	for _, u := range []string{"kB", "MB", "GB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "bytes" {
		return strconv.FormatInt(n, 10) + " " + unit
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + " " + unit
}

// A pageView is what the template is given.
type pageView struct {
	Page
	Sections []sectionView
	Style    template.CSS
	Script   template.JS
	Policy   string
}

// A sectionView is a section with what is drawn in it as data.
type sectionView struct {
	Section
	// ID is that of its element.
	ID    string
	Table *tableView
	// Drawn is what scripts draw: of type chartsData or networksData; nil where
	// there is nothing to draw.
	Drawn []drawing
}

// A drawing is an element that a script fills, with its data.
type drawing struct {
	// Kind is charts, comparisons, networks or heats.
	Kind string
	Data any
}

// A heatsView is what the script is given of heat maps: the section of their networks.
type heatsView struct {
	Of string `json:"of"`
}

func (p Page) view() (pageView, error) {
	script := chartText + comparisonText + canvasText + edgesText + networkText + heatText + pageText
	sum := sha256.Sum256([]byte(script))
	v := pageView{
		Page:   p,
		Style:  template.CSS(styleText), //nolint:gosec // ours
		Script: template.JS(script),     //nolint:gosec // ours
		Policy: "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
			"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}
	looks := p.looks()
	networks := "" // the element of those before
	for i, s := range p.Sections {
		w := sectionView{Section: s, ID: "s" + strconv.Itoa(i+1)}
		if s.Table != nil {
			w.Table = s.Table.view()
		}
		if len(s.Networks) > 0 {
			w.Drawn = append(w.Drawn, drawing{"networks", networksData(s.Chosen, s.Networks)})
			networks = w.ID
		}
		if s.Heat && networks != "" {
			w.Drawn = append(w.Drawn, drawing{"heats", heatsView{networks}})
		}
		if len(s.Charts) > 0 {
			data, err := chartsData(s.Charts, looks)
			if err != nil {
				return v, err
			}
			w.Drawn = append(w.Drawn, drawing{"charts", data})
		}
		if len(s.Comparisons) > 0 {
			w.Drawn = append(w.Drawn, drawing{"comparisons", comparisonsData(s.Comparisons, looks)})
		}
		v.Sections = append(v.Sections, w)
	}
	return v, nil
}

// looks are the colours of what has a name: each has one in the whole page.
func (p Page) looks() map[string]int {
	looks := make(map[string]int)
	note := func(name string) {
		if _, known := looks[name]; !known {
			looks[name] = len(looks)
		}
	}
	for _, s := range p.Sections {
		for _, c := range s.Charts {
			for _, l := range c.Series {
				note(l.look())
			}
		}
		for _, c := range s.Comparisons {
			for _, d := range c.Series {
				note(d.Name)
			}
		}
	}
	return looks
}

// numbers are finite values with the digits that can be seen.
type numbers []float64

// MarshalJSON implements json.Marshaler.
func (n numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, v, 'g', 5, 64)
	}
	return append(b, ']'), nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
