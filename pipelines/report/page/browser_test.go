package page_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/benchmark"
	"github.com/gladflow/gladflow/pipelines/dream5"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/browser"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
)

// views are those that every page is looked at in.
var views = map[string]browser.View{
	"wide":       {Width: 1280, Height: 900},
	"wide, dark": {Width: 1280, Height: 900, Dark: true},
	"narrow":     {Width: 390, Height: 844},
	"narrow, dark": {
		Width: 390, Height: 844, Dark: true,
	},
}

// written writes a page into a folder of its own and returns its path.
func written(t *testing.T, p page.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const data = "../../../examples/data/"

// recovered is the page of a recovery of the example, with every solver and scores.
func recovered(t *testing.T, out string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recovery.html")
	j := job.Job{
		Input: data + "expression.csv", IDColumn: "sample", Solvers: recovery.SelfSufficient(), Select: "ebic", Out: out,
		Reference: data + "known.csv", Population: "all", Undirected: true, Report: path,
	}
	if _, err := recovery.Run(t.Context(), j, recovery.Host{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// evaluated is the page of an evaluation of the edges that a recovery has left.
func evaluated(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "evaluation.html")
	e := job.Evaluation{EdgeList: filepath.Join(folder, "glad.edges.parquet"), Reference: data + "known.csv", Population: "all", Report: path}
	if _, err := evaluation.Run(t.Context(), e, table.Files{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// benchmarked is the page of a benchmark on two sets, the example twice.
func benchmarked(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for from, to := range map[string]string{"expression.csv": "NAME.csv", "known.csv": "NAME.reference.csv"} {
		text, err := os.ReadFile(data + from)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two"} {
			if err := os.WriteFile(filepath.Join(folder, strings.Replace(to, "NAME", name, 1)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "benchmark.html")
	b := job.Benchmark{Sets: folder, Solvers: []string{"correlation", "clr"}, IDColumn: "sample", Population: "all", Undirected: true, Metrics: []string{"auroc", "aupr"}, Report: path}
	if _, err := benchmark.Run(t.Context(), b, benchmark.Host{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// challenged is the page of the example as network 1 of DREAM5.
func challenged(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for from, to := range map[string]string{"expression.csv": "net1_expression_data.tsv", "known.csv": "net1_gold_standard.tsv"} {
		text, err := os.ReadFile(data + from)
		if err != nil {
			t.Fatal(err)
		}
		tabs := strings.ReplaceAll(string(text), ",", "\t")
		if err := os.WriteFile(filepath.Join(folder, to), []byte(tabs), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "dream5.html")
	d := job.Dream5{Folder: folder, Solvers: []string{"correlation", "clr", "glad"}, Baselines: []string{"correlation", "clr"}, Bootstrap: job.Bootstrap{Resamples: "20"}, Report: path}
	if _, err := dream5.Run(t.Context(), d, dream5.Host{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// hostileText returns one hostile name after the other.
func hostileText() func() string {
	k := 0
	return func() string { k++; return hostile[k%len(hostile)] }
}

// counts are what must be drawn. Painted is the number of pixels of edges, Heat that of cells of
// heat maps.
type counts struct{ Networks, Edges, Painted, Nodes, Labels, Plots, Curves, Dots, Heat, Coloured int }

const counting = `(n => ({Networks: n(".stage svg"), Edges: total(".stage canvas", "edges"), Painted: painted(".stage:not(.heat) canvas"), Nodes: n(".stage .node"), Labels: n(".stage text"),
	Plots: n(".plot svg"), Curves: n(".plot .curve"), Dots: n(".plot .dot"), Heat: total(".heat canvas", "cells"), Coloured: painted(".heat canvas")}))(s => document.querySelectorAll(s).length);
	function total(s, key) { return [...document.querySelectorAll(s)].reduce((sum, c) => sum + (+c.dataset[key] || 0), 0); }
	function painted(s) {
		const c = document.querySelector(s);
		if (!c) return 0;
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let k = 0; k < d.length; k += 4) n += d[k + 3] > 0 && Math.max(d[k], d[k + 1], d[k + 2]) - Math.min(d[k], d[k + 1], d[k + 2]) > 60; // of some colour
		return n;
	}`

// Every page draws what it says in every view, without an error, a request or a
// breach of its policy, and is no wider than the view.
func TestPagesInBrowser(t *testing.T) {
	b := browser.Start(t)
	folder := t.TempDir()
	for name, c := range map[string]struct {
		path string
		// networks, plots, curves and dots that there must be.
		networks, plots, curves, dots int
	}{
		// Three curves a solver and the reference's degrees, gap and objective of four
		// solvers, the steps of GLAD, and the two of the penalty.
		"recovery":   {recovered(t, folder), 1, 8, 3*len(recovery.SelfSufficient()) + 1 + 4 + 4 + 1 + 2, 0},
		"evaluation": {evaluated(t, folder), 1, 3, 1 + 1 + 2, 0},
		// ROC, precision and degrees of three rankings and the reference; two metrics on
		// three populations, and two differences from two baselines but of themselves.
		"dream5":  {challenged(t), 1, 3 + 4, 3 + 3 + 4, 2*3*3 + 2*(2+2)},
		"hostile": {written(t, everywhere(hostileText())), 1, 2, 2, 3},
		"big":     {written(t, big()), 1, 3, 24, 12 * 120},
	} {
		for view, v := range views {
			t.Run(name+" "+view, func(t *testing.T) {
				p := b.Open(t, c.path, v)
				var got counts
				p.Eval(t, counting, &got)
				drawn := c.networks > 0
				if got.Networks != c.networks || got.Edges > 0 != drawn || got.Painted > 100 != drawn || got.Heat > 0 != drawn || got.Coloured > 100 != drawn || got.Nodes > 0 != drawn || got.Labels > 0 != drawn || got.Plots != c.plots || got.Curves != c.curves || got.Dots != c.dots {
					t.Errorf("drawn are %+v, want %d networks, %d plots, %d curves and %d dots", got, c.networks, c.plots, c.curves, c.dots)
				}
				var size []float64
				p.Eval(t, "[document.documentElement.scrollWidth, innerWidth]", &size)
				if size[0] > float64(v.Width) || size[1] != float64(v.Width) {
					t.Errorf("the page is %v wide in a view of %v", size[0], size[1])
				}
				var wide []string
				p.Eval(t, `[...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, .skip, svg") && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 100))`, &wide)
				if len(wide) > 0 {
					t.Errorf("cut off are %q", wide)
				}
				var ground string
				p.Eval(t, "getComputedStyle(document.body).backgroundColor", &ground)
				if dark := strings.HasPrefix(ground, "rgb(20,"); dark != v.Dark {
					t.Errorf("the background is %s", ground)
				}
				var harm bool
				p.Eval(t, "'hacked' in window || document.images.length > 0", &harm)
				if harm {
					t.Error("a name has become a script or an image")
				}
				if problems := p.Problems(); len(problems) > 0 {
					t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
				}
			})
		}
	}
}

// The network is moved, zoomed and read with keys and with the pointer.
func TestNetworkInBrowser(t *testing.T) {
	p := browser.Start(t).Open(t, recovered(t, ""), views["wide"])
	text := func(expression string) string {
		t.Helper()
		var s string
		p.Eval(t, "String("+expression+")", &s)
		return s
	}
	const at = `[...document.querySelectorAll(".stage circle")].slice(0, 2).map(c => c.getAttribute("cx") + "," + c.getAttribute("cy")).join(" ")`
	changes := func(what string, do func()) {
		t.Helper()
		before := text(at)
		do()
		for began := time.Now(); text(at) == before; { // events wait for a frame
			if time.Since(began) > 5*time.Second {
				t.Errorf("%s does nothing: %s", what, before)
				return
			}
		}
	}
	// Everything that can be used is reached by Tab.
	var focusable int
	p.Eval(t, `[...document.querySelectorAll("a, button, input, summary, [tabindex='0']")].filter(e => e.checkVisibility()).length`, &focusable)
	seen := map[string]bool{}
	for range focusable + 5 {
		p.Key(t, "Tab")
		seen[text(`(e => e === document.body ? "" : (window.all ||= [...document.querySelectorAll("*")]).indexOf(e))(document.activeElement)`)] = true
	}
	delete(seen, "")
	if len(seen) < focusable {
		t.Errorf("Tab reaches %d of %d elements", len(seen), focusable)
	}
	text(`document.querySelector(".stage svg").focus()`)
	for _, key := range []string{"+", "ArrowLeft", "ArrowUp", "-", "0"} {
		changes("the key "+key, func() { p.Key(t, key) })
	}
	var box, node []float64
	p.Eval(t, `(b => [b.x + b.width / 2, b.y + b.height / 2])((s => (s.scrollIntoView({block: "center", behavior: "instant"}), s.getBoundingClientRect()))(document.querySelector(".stage svg")))`, &box)
	changes("the wheel", func() { p.Mouse(t, "mouseWheel", box[0], box[1], -120) })
	p.Key(t, "0")
	const first = `(c => [c.x + c.width / 2, c.y + c.height / 2])([...document.querySelectorAll(".stage circle")].at(-1).getBoundingClientRect())`
	p.Eval(t, first, &node)
	p.Mouse(t, "mouseMoved", node[0], node[1], 0)
	if tip := text(`document.querySelector(".stage .tip").innerText`); !strings.Contains(tip, "edges") {
		t.Errorf("at a node the tip says %q", tip)
	}
	p.Mouse(t, "mousePressed", node[0], node[1], 0)
	p.Mouse(t, "mouseReleased", node[0], node[1], 0)
	if said := text(`document.querySelector(".chosen").innerText`); !strings.Contains(said, "drawn here") {
		t.Errorf("of a node that is chosen the page says %q", said)
	}
	p.Key(t, "Escape")
	changes("dragging", func() {
		p.Mouse(t, "mousePressed", box[0]+200, box[1]+200, 0)
		p.Mouse(t, "mouseMoved", box[0]+230, box[1]+190, 0)
		p.Mouse(t, "mouseReleased", box[0]+230, box[1]+190, 0)
	})
	// A wheel over a drawing that does not have the focus scrolls the page.
	text(`document.activeElement.blur()`)
	before := text(at)
	p.Mouse(t, "mouseWheel", box[0], box[1], 120)
	text(`new Promise(r => setTimeout(r, 100))`)
	if text(at) != before {
		t.Error("the wheel zooms a drawing without the focus")
	}
	edges := func() string { return text(`document.querySelector(".stage canvas").dataset.edges`) }
	text(`(s => { s.value = 5; s.dispatchEvent(new Event("change")); })(document.querySelector("input[type=number]"))`)
	if n := edges(); n != "5" {
		t.Errorf("%s edges are drawn, and 5 were asked for", n)
	}
	text(`(s => { s.value = 0; s.dispatchEvent(new Event("input")); })(document.querySelector("input[type=range]"))`)
	if n := edges(); n != "1" {
		t.Errorf("%s edges are drawn at the lower end of the slider", n)
	}
	text(`[...document.querySelectorAll(".networks button")].find(b => b.textContent === "am").click()`)
	if n := edges(); n != "19" {
		t.Errorf("am is drawn with %s of its 20 edges, not with 19, as many as the reference has", n)
	}
	text(`(s => { s.value = "g04"; s.dispatchEvent(new Event("input")); })(document.querySelector("input[type=search]"))`)
	if said := text(`document.querySelector(".chosen").innerText`); !strings.HasPrefix(said, "g04: ") {
		t.Errorf("of g04 that is looked for the page says %q", said)
	}
	// A point of a curve is read with keys; a line is hidden by its button.
	text(`document.querySelector(".plot svg").focus()`)
	p.Key(t, "ArrowRight")
	p.Key(t, "ArrowRight")
	if tip := text(`document.querySelector(".plot .tip").innerText`); !strings.Contains(tip, "true positive rate") {
		t.Errorf("a point of the ROC curve says %q", tip)
	}
	text(`document.querySelector(".legend button").click()`)
	if n := text(`document.querySelector(".plot").querySelectorAll(".curve").length`); n != fmt.Sprint(len(recovery.SelfSufficient())-1) {
		t.Errorf("%s of %d curves stay when one is hidden", n, len(recovery.SelfSufficient()))
	}
	text(`(d => d.open = true)(document.querySelector("details"))`)
	// The page hears of it when it is next idle.
	text(`new Promise(done => { const look = n => n == 0 || document.querySelector("details tbody tr") ? done() : setTimeout(look, 20, n - 1); look(500); })`)
	if n := text(`document.querySelectorAll("details tbody tr").length`); n != "20" {
		t.Errorf("the table of edges has %s rows", n)
	}
	scores := `[...document.querySelectorAll("details tbody tr")].map(r => r.cells[2].textContent).join()`
	strongest := text(scores)
	text(`[...document.querySelectorAll("details thead button")].find(b => b.textContent === "score").click()`)
	text(`[...document.querySelectorAll("details thead button")].find(b => b.textContent === "score").click()`)
	if weakest := text(scores); weakest == strongest || !strings.HasSuffix(weakest, strings.Split(strongest, ",")[0]) {
		t.Errorf("by ascending score the table has %s, and had %s", weakest, strongest)
	}
	text(`(s => { s.value = "g04"; s.dispatchEvent(new Event("input")); })(document.querySelector("details input"))`)
	if without := text(`[...document.querySelectorAll("details tbody tr")].filter(r => !r.textContent.includes("g04")).length + "of" + document.querySelectorAll("details tbody tr").length`); !strings.HasPrefix(without, "0of") || without == "0of0" || without == "0of20" {
		t.Errorf("of the rows that the filter leaves, lack its variable %s", without)
	}
	// Cells of the heat map are read with keys.
	text(`document.querySelector(".cells").focus()`)
	p.Key(t, "ArrowRight")
	p.Key(t, "ArrowRight")
	if tip := text(`document.querySelector(".heat .tip").innerText`); !strings.Contains(tip, "—") {
		t.Errorf("a cell of the heat map says %q", tip)
	}
	order := `[...document.querySelectorAll("main table")[0].tBodies[0].rows].map(r => r.cells[0].textContent).join()`
	was := text(order)
	text(`[...document.querySelectorAll("thead button")].find(b => b.textContent === "iterations").click()`)
	if is := text(order); is == was {
		t.Errorf("sorting leaves the order %s", is)
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
}

// A table of many edges comes in pages.
func TestPagesOfEdgesInBrowser(t *testing.T) {
	p := browser.Start(t).Open(t, written(t, big()), views["narrow"])
	var got string
	p.Eval(t, `(d => d.open = true)(document.querySelector("details"))`, new(bool))
	p.Eval(t, `new Promise(done => { const look = n => n == 0 || document.querySelector("details tbody tr") ? done("") : setTimeout(look, 20, n - 1); look(500); })`, &got)
	const state = `document.querySelectorAll("details tbody tr").length + " rows, " + document.querySelector("details output").textContent`
	for _, c := range []struct{ click, want string }{
		{"", "100 rows, 1 to 100 of 1666"}, {"Next page", "100 rows, 101 to 200 of 1666"}, {"Page before", "100 rows, 1 to 100 of 1666"}, {"Page before", "100 rows, 1 to 100 of 1666"},
	} {
		if c.click != "" {
			p.Eval(t, fmt.Sprintf("document.querySelector('[aria-label=%q]').click(), ''", c.click), &got)
		}
		if p.Eval(t, state, &got); got != c.want {
			t.Errorf("after %q there are %s, not %s", c.click, got, c.want)
		}
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
}

// A network of 2000 variables is drawn with as many edges as a page has. How long it takes is
// logged: see docs/report.md.
func TestManyEdgesInBrowser(t *testing.T) {
	const d = 2000
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, d)
	for i := range names {
		names[i] = fmt.Sprintf("YAL%03dC_at", i)
	}
	s := page.NewStrongest(d, 0, page.Sure{Name: "edge_probability", Of: func(l page.Link) float64 { return l.Score }}, page.Sure{Name: "p_value", Of: func(l page.Link) float64 { return 1 - l.Score }})
	seen := make(map[[2]int]bool)
	for len(seen) < page.MaxEdges {
		i, j := int(d*math.Pow(rng.Float64(), 2.5)), rng.IntN(d)
		if pair := [2]int{min(i, j), max(i, j)}; i != j && !seen[pair] {
			seen[pair] = true
			s.Add(page.Link{I: pair[0], J: pair[1], Score: rng.Float64(), Sign: 1 - 2*(i*j%2)})
		}
	}
	path := written(t, page.Page{Title: "many", Sections: []page.Section{{Title: "Network", Networks: []page.Network{s.Network(names, nil)}}, page.HeatSection()}})
	info, err := os.Stat(path)
	if err != nil || info.Size() > 1_000_000 {
		t.Errorf("the page has %d bytes, %v", info.Size(), err)
	}
	p := browser.Start(t).Open(t, path, views["wide"])
	var drawn string
	var times []float64
	p.Eval(t, `(async () => {
		const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0))), all = document.querySelector("input[type=number]");
		const began = performance.now();
		all.value = all.max;
		all.dispatchEvent(new Event("change"));
		await frame();
		const shown = performance.now();
		document.querySelector(".stage svg").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
		await frame();
		return [performance.getEntriesByType("navigation")[0].domInteractive, shown - began, performance.now() - shown];
	})()`, &times)
	t.Logf("%d bytes; milliseconds to open %.0f, to draw all %.0f, to move %.0f", info.Size(), times[0], times[1], times[2])
	if p.Eval(t, `document.querySelector(".stage canvas").dataset.edges`, &drawn); drawn != fmt.Sprint(page.MaxEdges) {
		t.Errorf("%s edges are drawn", drawn)
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
}

// GLADFLOW_PICTURES=FOLDER leaves pictures of the pages of the tests, and of those that
// GLADFLOW_PAGES lists.
func TestPictures(t *testing.T) {
	to := os.Getenv("GLADFLOW_PICTURES")
	if to == "" {
		t.Skip("GLADFLOW_PICTURES names no folder")
	}
	b := browser.Start(t)
	folder := t.TempDir()
	for name, path := range map[string]string{
		"recovery": recovered(t, folder), "evaluation": evaluated(t, folder), "benchmark": benchmarked(t), "hostile": written(t, everywhere(hostileText())), "big": written(t, big()),
	} {
		for view, v := range views {
			b.Open(t, path, v).Screenshot(t, filepath.Join(to, fmt.Sprintf("%s, %s.png", name, view)), "html")
		}
	}
	for _, path := range filepath.SplitList(os.Getenv("GLADFLOW_PAGES")) {
		for view, v := range views {
			p := b.Open(t, path, v)
			p.Screenshot(t, filepath.Join(to, fmt.Sprintf("%s, %s.png", filepath.Base(path), view)), "html")
			var drawn bool
			if p.Eval(t, `document.querySelector(".stage") !== null`, &drawn); drawn {
				p.Screenshot(t, filepath.Join(to, fmt.Sprintf("%s, %s, network.png", filepath.Base(path), view)), ".stage")
			}
		}
	}
}

// The dots of a comparison are read with keys, row by row from the best.
func TestComparisonInBrowser(t *testing.T) {
	c := page.Comparison{Title: "AUPR", X: "AUPR", Y: "set", Rows: []string{"one", "two"}, Series: []page.Dots{
		{Name: "a", Values: []float64{0.1, 0.2}, Errors: []float64{0.01, 0.02}}, {Name: "b", Values: []float64{0.3, 0.1}},
	}}
	p := browser.Start(t).Open(t, written(t, page.Page{Sections: []page.Section{{Title: "c", Comparisons: []page.Comparison{c}}}}), views["narrow"])
	var tip string
	p.Eval(t, `document.querySelector(".plot svg").focus(), ""`, &tip)
	for _, want := range []string{"one, b: 0.3", "one, a: 0.1 ± 0.01", "two, a: 0.2 ± 0.02", "two, b: 0.1"} {
		p.Key(t, "ArrowDown")
		if p.Eval(t, `[...document.querySelectorAll(".tip div")].map(d => d.textContent).join(", ")`, &tip); tip != want {
			t.Errorf("a key leads to %q, not to %q", tip, want)
		}
	}
	if problems := p.Problems(); len(problems) > 0 {
		t.Errorf("problems:\n%s", strings.Join(problems, "\n"))
	}
}
