package arrowio

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// markup are names that formats must escape.
var markup = []string{`a"&<>'`, "]]>", "b\tc\nd", "é 遺伝子 🧬", "</node>", `\u0041`}

// markupList is a list between them, with all that a list may have.
func markupList() ([]Column, map[string]string) {
	var edges []Edge
	var known Confidence
	for k := range len(markup) - 1 {
		v := 1 / float64(k+3)
		edges = append(edges, Edge{markup[k], markup[k+1], 1 - v, v, float64(1-2*(k%2)) * (1 - v)})
		known.EdgeProbability = append(known.EdgeProbability, v)
		known.QValue = append(known.QValue, 1e-300*v)
	}
	slices.SortFunc(edges, CompareEdges)
	return append(EdgeColumns(edges), known.Columns()...), map[string]string{"gladflow.solver": "bcd", "gladflow.directed": "false", "gladflow.variables": `["<a>","&"]`}
}

// What is written as GraphML and as the JSON of Cytoscape is read back whole.
func TestGraphsRoundTrip(t *testing.T) {
	columns, metadata := markupList()
	read := func(format string, metadata map[string]string) *EdgeList {
		t.Helper()
		path := filepath.Join(t.TempDir(), "list."+format)
		if err := EdgeFormats().write(path, format, columns, metadata); err != nil {
			t.Fatal(err)
		}
		list, err := ReadEdges(t.Context(), path, ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list.SHA256 = ""
		return list
	}
	want := read(Parquet, metadata)
	for _, format := range []string{GraphML, CYJS} {
		got := read(format, metadata)
		delete(got.Metadata, "name")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", format, got, want)
		}
		directed := maps.Clone(metadata)
		directed["gladflow.directed"] = "true"
		if read(format, directed).Unordered {
			t.Errorf("%s: edges that are directed are not any more", format)
		}
	}
}

// A name that a format cannot hold is refused, and nothing is written.
func TestGraphsRefuseNames(t *testing.T) {
	for format, names := range map[string][]string{
		SIFText: {"a\tb", "a\n", " a", "a "},
		GraphML: {"a\x01", "\x1b[31m", "\ufffe"},
	} {
		for _, name := range names {
			folder := t.TempDir()
			err := EdgeFormats().write(filepath.Join(folder, "list."+format), format, EdgeColumns([]Edge{{name, "b", 1, 1, 1}}), nil)
			wantInputError(t, err, "cannot hold")
			if left, _ := filepath.Glob(filepath.Join(folder, "*")); left != nil {
				t.Errorf("%s: left are %q", format, left)
			}
		}
	}
}

// Networks of other programs: Cytoscape numbers its nodes, and calls scores weights.
func TestGraphsOfOthers(t *testing.T) {
	const graphML = `<graphml><key id="d0" for="node" attr.name="name"/><key id="d1" for="edge" attr.name="weight"/>
<graph edgedefault="directed"><node id="61"><data key="d0">tp53</data></node><node id="62"/>
<edge source="61" target="62"><data key="d1"> 2.5 </data></edge></graph></graphml>`
	const cyjs = `{"elements":{"nodes":[{"data":{"id":"61","name":"tp53"}},{"data":{"id":"62"}}],"edges":[{"data":{"id":"70","source":"61","target":"62","weight":2.5,"selected":false}}]}}`
	for name, text := range map[string]string{"n.graphml": graphML, "n.cyjs": cyjs} {
		l, err := ReadEdges(t.Context(), put(t, name, text), ListOptions{})
		if err != nil || l.Unordered || !slices.Equal(l.Source, []string{"tp53"}) || !slices.Equal(l.Target, []string{"62"}) || !slices.Equal(l.Score, []float64{2.5}) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	for name, text := range map[string]string{"n.graphml": "<html/>", "m.graphml": graphML[:200], "n.cyjs": cyjs[:60], "m.cyjs": "[]"} {
		_, err := ReadEdges(t.Context(), put(t, name, text), ListOptions{})
		wantInputError(t, err, "this is no network in the format")
	}
	_, err := ReadEdges(t.Context(), put(t, "n.cyjs", `{"elements":{"edges":[{"data":{"source":"a","target":"b","score":"NaN"}}]}}`), ListOptions{})
	wantInputError(t, err, "every number must be finite")
	_, err = ReadEdges(t.Context(), put(t, "n.cyjs", `{"elements":{"edges":[{"data":{"source":"a"}}]}}`), ListOptions{})
	wantInputError(t, err, "an end without a name")
}

func FuzzGraph(f *testing.F) {
	columns, metadata := markupList()
	for _, format := range []string{GraphML, CYJS} {
		path := filepath.Join(f.TempDir(), "list."+format)
		if err := EdgeFormats().write(path, format, columns, metadata); err != nil {
			f.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, format == CYJS)
	}
	f.Fuzz(func(t *testing.T, data []byte, json bool) {
		format := map[bool]string{false: GraphML, true: CYJS}[json]
		e, err := edgesOfGraph(context.Background(), "-", format, ListOptions{Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
		if err == nil && (len(e.Target) != e.Len() || e.Score != nil && len(e.Score) != e.Len() || e.Sign != nil && len(e.Sign) != e.Len()) {
			t.Fatalf("%+v", e)
		}
	})
}

const networkxReads = `
import json, networkx as nx
from networkx.readwrite.json_graph import cytoscape_graph
graphs = {"graphml": nx.read_graphml("list.graphml"), "cyjs": cytoscape_graph(json.load(open("list.cyjs")))}
out = {}
for name, g in graphs.items():
    edges = sorted(([sorted([a, b]), {k: v for k, v in d.items() if k not in ("id", "source", "target")}] for a, b, d in g.edges(data=True)), key=lambda e: -e[1]["score"])
    out[name] = {"directed": g.is_directed(), "nodes": sorted(g.nodes), "edges": edges, "solver": g.graph["gladflow.solver"]}
print(json.dumps(out))
`

// networkx reads both, with the names, the numbers and the metadata.
func TestNetworkxReadsOurs(t *testing.T) {
	if exec.Command("python3", "-c", "import networkx").Run() != nil {
		t.Skip("python3 with networkx is not installed")
	}
	folder := t.TempDir()
	columns, metadata := markupList()
	for _, format := range []string{GraphML, CYJS} {
		if err := EdgeFormats().write(filepath.Join(folder, "list."+format), format, columns, metadata); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("python3", "-c", networkxReads)
	c.Dir = folder
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var got map[string]struct {
		Directed bool
		Nodes    []string
		Edges    [][2]any
		Solver   string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(markup)
	slices.Sort(names)
	for format, g := range got {
		slices.Sort(g.Nodes)
		if g.Directed || g.Solver != "bcd" || !slices.Equal(g.Nodes, names) || len(g.Edges) != len(markup)-1 {
			t.Errorf("%s: %+v", format, g)
		}
		for k, e := range g.Edges {
			ends := []string{columns[0].Values.([]string)[k], columns[1].Values.([]string)[k]}
			slices.Sort(ends)
			if fmt.Sprint(e[0]) != fmt.Sprint(ends) {
				t.Errorf("%s: edge %d joins %v, want %v", format, k, e[0], ends)
			}
			numbers := e[1].(map[string]any)
			for _, c := range columns[2:] {
				want := 0.0
				switch values := c.Values.(type) {
				case []float64:
					want = values[k]
				case []int8:
					want = float64(values[k])
				}
				if numbers[c.Name] != want {
					t.Errorf("%s: the %s of edge %d is %v, want %v", format, c.Name, k, numbers[c.Name], want)
				}
			}
		}
	}
}
