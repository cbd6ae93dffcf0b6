// Package drawing draws a list of edges as a picture, SVG or PNG.
//
//	r, err := drawing.Run(ctx, job.Drawing{EdgeList: "network/glad.edges.parquet", Out: "network.svg"}, table.Files{})
package drawing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/report"
	"github.com/gladflow/gladflow/pipelines/report/page"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A Result says what was drawn.
type Result struct {
	// Lines is the number of lines of the list, Edges that of the edges drawn, Variables that
	// of the variables.
	Lines, Edges, Variables int
	// File is the picture, under the name that the document gives it.
	File job.WrittenFile
}

// Run draws the strongest edges of a list: those of the highest scores or, without scores,
// the first. Pairs that repeat and those of a variable with itself are drawn once and not at
// all. What the user can put right is a *job.Error.
func Run(ctx context.Context, d job.Drawing, files table.Files) (*Result, error) {
	g, result, err := read(ctx, &d, files)
	if err != nil {
		return nil, err
	}
	file, err := output.OpenFileIn(files.Root, "out", d.Out)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	written, err := file.Write(func(w io.Writer) error { return g.Encode(w, d.Picture()) })
	if err != nil {
		file.Discard()
		return nil, err
	}
	written.Name = d.Out
	result.File = written
	return result, nil
}

// Encode is Run for a picture that goes into w: of d.Out it takes the format. The Result
// has no File.
func Encode(ctx context.Context, d job.Drawing, files table.Files, w io.Writer) (*Result, error) {
	g, result, err := read(ctx, &d, files)
	if err != nil {
		return nil, err
	}
	return result, g.Encode(w, d.Picture())
}

// read reads the list of a drawing, which it resolves, and says what is to be drawn of it.
func read(ctx context.Context, d *job.Drawing, files table.Files) (report.Graph, *Result, error) {
	var none report.Graph
	if err := d.Validate(); err != nil {
		return none, nil, err
	}
	job.Resolve(d, job.Facts{})
	options := files.Lists()
	options.Records = files.Records
	list, err := arrowio.ReadEdges(ctx, d.EdgeList, options)
	if err != nil {
		return none, nil, job.InterruptedOr(ctx, table.FieldError("edge_list", err))
	}
	if list.Matrix || list.Metadata[output.MetaMatrix] != "" {
		return none, nil, job.Errorf("edge_list", "%s is a precision matrix; give the list of edges, which recover writes as SOLVER.edges", named(*d, files))
	}
	g, err := graph(list, *d, named(*d, files))
	if err != nil {
		return none, nil, err
	}
	if d.EdgeList == job.Stdin && files.Records != nil {
		g.Title = shown(cmp.Or(list.Metadata[output.MetaSolver], "Network"), 80)
	}
	return g, &Result{Lines: list.Len(), Edges: len(g.Edges), Variables: len(g.Names)}, nil
}

// named is what the list is called.
func named(d job.Drawing, files table.Files) string {
	switch {
	case d.EdgeList != job.Stdin:
		return arrowio.Redacted(d.EdgeList)
	case files.Records != nil:
		return "the stream"
	}
	return "standard input"
}

// graph is the picture of a list of that name.
func graph(list *arrowio.EdgeList, d job.Drawing, name string) (report.Graph, error) {
	directed := !list.Unordered && list.Metadata[output.MetaDirected] != "false"
	names := make(map[string]int)
	var all []string
	number := func(name string) int {
		i, known := names[name]
		if !known {
			i = len(all)
			names[name] = i
			all = append(all, name)
		}
		return i
	}
	n := list.Len()
	links := page.NewStrongest(2*n, max(1, d.Top))
	seen := make(map[[2]int]bool)
	for k := range n {
		i, j := number(list.Source[k]), number(list.Target[k])
		if !directed && i > j {
			i, j = j, i
		}
		if i == j || seen[[2]int{i, j}] {
			continue
		}
		seen[[2]int{i, j}] = true
		l := page.Link{I: i, J: j, Score: float64(n-k) / float64(n)}
		if list.Score != nil {
			l.Score = list.Score[k]
		}
		if list.Sign != nil {
			l.Sign = int(list.Sign[k])
		}
		links.Add(l)
	}
	best := links.Links()
	if len(best) == 0 {
		return report.Graph{}, job.Errorf("edge_list", "%s has no edges to draw", name)
	}
	g := report.Graph{Directed: directed, Dark: d.Theme == job.ThemeDark, Labels: !d.NoLabels}
	drawn := make(map[int]int)
	node := func(i int) int {
		k, known := drawn[i]
		if !known {
			k = len(g.Names)
			drawn[i] = k
			g.Names = append(g.Names, shown(all[i], 24))
		}
		return k
	}
	top, least := best[0].Score, best[len(best)-1].Score
	signs := make(map[int]bool)
	for _, l := range best {
		strength := 0.5
		if top > least {
			strength = (l.Score - least) / (top - least)
		}
		g.Edges = append(g.Edges, report.GraphEdge{From: node(l.I), To: node(l.J), Strength: strength, Sign: l.Sign})
		signs[l.Sign] = true
	}
	g.Title = shown(filepath.Base(name), 80)
	var words []string
	for _, s := range []struct {
		sign int
		text string
	}{{1, "blue: positive"}, {-1, "dashed orange: negative"}, {0, "grey: sign unknown"}} {
		if signs[s.sign] {
			words = append(words, s.text)
		}
	}
	g.Caption = fmt.Sprintf("%d strongest of %d edges, %d variables; wider lines: higher scores; %s", len(best), len(seen), len(g.Names), strings.Join(words, ", "))
	return g, nil
}

// shown is a text that a picture can hold: what cannot be seen is a question mark.
func shown(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, "?"))
	if len(runes) > most {
		runes = append(slices.Clone(runes[:most-1]), '…')
	}
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = '?'
		}
	}
	return string(runes)
}
