package page_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/gladflow/gladflow/pipelines/report/page"
)

// hostile are names that would do harm if they were not escaped.
var hostile = []string{
	"</script><script>window.hacked=1</script>",
	`"><img src=x onerror="window.hacked=1">`,
	"'};window.hacked=1;//",
	"<!--<script>",
	"]]>\u2028\u2029&lt;b&gt;",
	"\x00\x07\x1b[31m\xff\xfe",
	"{{.}}${window.hacked=1}`",
	"javascript:window.hacked=1",
	"\u202egnp.\u202c العربية 遺伝子 🧬",
	"long " + strings.Repeat("name ", 20000),
	strings.Repeat("W", 5000),
	" ",
}

// everywhere is a page with text in every place that takes one.
func everywhere(text func() string) page.Page {
	s := page.NewStrongest(8, 0)
	names := make([]string, 8)
	for i := range names {
		names[i] = text()
	}
	for i := range 7 {
		s.Add(page.Link{I: i, J: i + 1, Score: 1 / float64(2+i), Sign: i%3 - 1})
		s.Add(page.Link{I: 0, J: i + 1, Score: 0.1, Sign: 1})
	}
	n := s.Network(names, func(i, j int) page.Known { return page.Known((i + j) % 3) })
	n.Name, n.Score, n.Nodes[0].Regulator = text(), text(), true
	second := n
	second.Directed = true
	chart := page.Chart{
		Title: text(), X: text(), Y: text(), LogX: true, LogY: true, SwitchX: true, Rule: 0.5, RuleName: text(),
		Series: []page.Series{{Name: text(), X: []float64{1, 2, 4}, Y: []float64{1, 0.1, 0.01}}, {Name: text(), X: []float64{1, 8}, Y: []float64{1, math.NaN()}}},
	}
	return page.Page{
		Kind: text(), Title: text(), Summary: []string{text(), text()}, Error: text(), Warnings: []string{text()},
		Sections: []page.Section{
			{
				Title: text(), Text: []string{text()}, Notes: []string{text()},
				Table: &page.Table{
					Caption: text(), Columns: []page.Column{{Title: text(), Hint: text()}, {Title: text(), Number: true, Best: page.Higher}},
					Rows: [][]page.Cell{{page.Words(text()), {Text: text(), Value: 1}}, {page.Words(text()), {Text: text(), Value: 2}}},
				},
			},
			{Title: text(), Networks: []page.Network{n, second}},
			{Title: text(), Heat: true},
			{Title: text(), Charts: []page.Chart{chart}, Comparisons: []page.Comparison{{
				Title: text(), X: text(), Y: text(), Rows: []string{text(), text()}, Zero: true,
				Series: []page.Dots{{text(), []float64{1, 2}, []float64{0.1, math.NaN()}}, {text(), []float64{math.NaN(), 3}, nil}},
			}}},
			{Title: text(), Record: &page.Record{
				Command: text(), Facts: []page.Fact{{text(), text()}}, Files: []page.File{{text(), 12345, text()}},
			}},
		},
	}
}

func encoded(t testing.TB, p page.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// shape is the elements of a page with the names of their attributes, without text.
func shape(t *testing.T, text string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			fmt.Fprintf(&b, "<%s", n.Data)
			for _, a := range n.Attr {
				fmt.Fprintf(&b, " %s", a.Key)
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
					t.Errorf("the page links to %q", a.Val)
				}
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" {
					t.Errorf("an attribute %s=%q", a.Key, a.Val)
				}
			}
			b.WriteString(">\n")
		}
		if n.Type == html.CommentNode {
			t.Errorf("a comment %.100q", n.Data)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(root)
	return b.String()
}

// Whatever the names are, the page has the elements that it has for plain ones.
func TestNamesAreEscaped(t *testing.T) {
	plain := shape(t, encoded(t, everywhere(func() string { return "plain" })))
	for _, name := range hostile {
		text := encoded(t, everywhere(func() string { return name }))
		if got := shape(t, text); got != plain {
			t.Errorf("with %.40q the elements are\n%s\nnot\n%s", name, got, plain)
		}
		if len(text) > 500_000 {
			t.Errorf("with %.40q the page has %d bytes", name, len(text))
		}
		for _, r := range text {
			if r < ' ' && r != '\n' || r == '\uFFFD' {
				t.Fatalf("with %.40q there is %q in the page", name, r)
			}
		}
	}
}

func TestSamePageSameBytes(t *testing.T) {
	text := func() string { return "name" }
	first := encoded(t, everywhere(text))
	if second := encoded(t, everywhere(text)); first != second {
		t.Error("two pages of one Page differ")
	}
}

// big is a page of many solvers on five thousand variables of long names.
func big() page.Page {
	const d = 5000
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("variable-%d-%s", i, strings.Repeat("n", 500))
	}
	p := page.Page{Kind: "Recovery", Title: "big"}
	var networks []page.Network
	var degrees []page.Degree
	curve := page.Chart{Title: "curve", X: "x", Y: "y"}
	for k := range 12 {
		s := page.NewStrongest(d, 0)
		for range 60_000 {
			i, j := rng.IntN(d), rng.IntN(d)
			if i != j {
				s.Add(page.Link{I: i, J: j, Score: rng.Float64(), Sign: 1})
			}
		}
		n := s.Network(names, nil)
		n.Name = fmt.Sprint("solver", k)
		networks, degrees = append(networks, n), append(degrees, page.Degree{Name: n.Name, Degrees: s.Degrees()})
		x, y := make([]float64, 100_000), make([]float64, 100_000)
		for i := range x {
			x[i], y[i] = float64(i), rng.Float64()
		}
		curve.Series = append(curve.Series, page.Series{Name: n.Name, X: x, Y: y})
	}
	comparison := page.Comparison{Title: "comparison", X: "AUPR", Y: "set"}
	for k := range 12 {
		dots := page.Dots{Name: fmt.Sprint("solver", k)}
		for i := range 500 {
			if k == 0 {
				comparison.Rows = append(comparison.Rows, names[i])
			}
			dots.Values, dots.Errors = append(dots.Values, rng.Float64()), append(dots.Errors, rng.Float64()/10)
		}
		comparison.Series = append(comparison.Series, dots)
	}
	p.Sections = []page.Section{
		{Title: "Comparison", Comparisons: []page.Comparison{comparison}},
		{Title: "Network", Networks: networks}, page.HeatSection(), {Title: "Degrees", Charts: []page.Chart{page.DegreeChart(degrees)}},
		{Title: "Curves", Charts: []page.Chart{curve}},
	}
	return p
}

func TestSizeIsBounded(t *testing.T) {
	if n := len(encoded(t, big())); n > 2_000_000 {
		t.Errorf("the page has %d bytes", n)
	}
}

func TestRefusesUnevenLines(t *testing.T) {
	p := page.Page{Sections: []page.Section{{Charts: []page.Chart{{Series: []page.Series{{Name: "a", X: []float64{1}}}}}}}}
	if err := p.Encode(new(bytes.Buffer)); err == nil {
		t.Error("a line of one abscissa and no ordinate is accepted")
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 4, "äöüß"}, {"äöüßx", 4, "äöü…"}, {"a\nb\x00", 5, "a b "}, {"\xff", 3, " "},
	} {
		if got := page.Short(c.text, c.n); got != c.want {
			t.Errorf("Short(%q, %d) is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
