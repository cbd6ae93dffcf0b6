// Package drawing draws a list of edges as a picture, SVG or PNG.
//
//	r, err := drawing.Run(ctx, job.Drawing{EdgeList: "network/glad.edges.parquet", Out: "network.svg"}, table.Files{})
package drawing

import (
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
	if err := d.Validate(); err != nil {
		return nil, err
	}
	job.Resolve(&d, job.Facts{})
	list, err := arrowio.ReadEdges(ctx, d.EdgeList, files.Lists())
	if err != nil {
		return nil, job.InterruptedOr(ctx, table.FieldError("edge_list", err))
	}
	if list.Matrix || list.Metadata[output.MetaMatrix] != "" {
		return nil, job.Errorf("edge_list", "%s is a precision matrix; give the list of edges, which recover writes as SOLVER.edges", arrowio.Redacted(d.EdgeList))
	}
	g, err := graph(list, d)
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
	return &Result{Lines: list.Len(), Edges: len(g.Edges), Variables: len(g.Names), File: written}, nil
}

// graph is the picture of a list.
func graph(list *arrowio.EdgeList, d job.Drawing) (report.Graph, error) {
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
		return report.Graph{}, job.Errorf("edge_list", "%s has no edges to draw", arrowio.Redacted(d.EdgeList))
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
	g.Title = "standard input"
	if d.EdgeList != job.Stdin {
		g.Title = shown(filepath.Base(arrowio.Redacted(d.EdgeList)), 80)
	}
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
