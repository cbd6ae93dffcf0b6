package arrowio

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// graphFormatOf is GraphML or CYJS where the name of a file says so, and empty for others.
func graphFormatOf(path string) string {
	ext := strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(strings.ToLower(pathOf(path)), ".gz")), ".")
	if ext == GraphML || ext == CYJS {
		return ext
	}
	return ""
}

// graphGrowth is how much more memory than text a network takes that is read.
const graphGrowth = 8

// A graphFile is a network as it stands in a file. Attributes are by name.
type graphFile struct {
	directed bool
	metadata map[string]string
	edges    []graphEdge
}

type graphEdge struct {
	source, target string
	attributes     map[string]string
}

// edgesOfGraph reads a list of edges in GraphML or the JSON of Cytoscape.
func edgesOfGraph(ctx context.Context, path, format string, o ListOptions) (_ *EdgeList, err error) {
	src, err := open(ctx, path, o.Stdin, o.Root, o.Stores, o.Limits)
	if err != nil {
		return nil, err
	}
	defer src.close()
	text := &textFile{src: src, what: "network"}
	defer func() { err = src.explain(err, text.what) }()
	in, err := text.unpack()
	if err != nil {
		return nil, err
	}
	most := src.limits.Most() / graphGrowth
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fault(src.name, "the network is larger than %d bytes; give the list of edges as Parquet or CSV", most)
	}
	if err := src.counter.Keep(graphGrowth * int64(len(data))); err != nil {
		return nil, err
	}
	parse := parseGraphML
	if format == CYJS {
		parse = parseCYJS
	}
	g, err := parse(data)
	if err != nil {
		return nil, fault(src.name, "this is no network in the format %s: %v", format, err)
	}
	e, err := g.list(src.name)
	if err != nil {
		return nil, err
	}
	e.SHA256, err = src.sum()
	return e, err
}

// list is the network as a list of edges. Of the attributes it takes those that a list has,
// where every edge has one; the score may be called weight.
func (g graphFile) list(name string) (*EdgeList, error) {
	e := &EdgeList{Metadata: g.metadata, Unordered: !g.directed}
	if e.Metadata == nil {
		e.Metadata = make(map[string]string)
	}
	all := func(key string) bool {
		return len(g.edges) > 0 && !slices.ContainsFunc(g.edges, func(x graphEdge) bool { _, ok := x.attributes[key]; return !ok })
	}
	score := "score"
	if !all(score) {
		score = "weight"
	}
	var keys []string
	for _, key := range append([]string{score, columnPrecision, columnPartial, columnSign}, ConfidenceColumns()...) {
		if all(key) && (key == score || all(columnSign)) {
			keys = append(keys, key)
		}
	}
	seen := make(map[[2]string]bool)
	for k, x := range g.edges {
		if x.source == "" || x.target == "" {
			return nil, fault(name, "edge %d has an end without a name", k+1)
		}
		e.Source, e.Target = append(e.Source, x.source), append(e.Target, x.target)
		if x.source == x.target {
			e.SelfLoops++
		}
		if pair := [2]string{x.source, x.target}; seen[pair] {
			e.Duplicates++
		} else {
			seen[pair] = true
		}
		for _, key := range keys {
			v, err := strconv.ParseFloat(x.attributes[key], 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fault(name, "the %s of edge %d is %q; every number must be finite", key, k+1, x.attributes[key])
			}
			if key == score {
				e.Score = append(e.Score, v)
			} else {
				e.keep(key, v)
			}
		}
	}
	return e, nil
}

// parseGraphML reads the first graph of a document.
func parseGraphML(data []byte) (graphFile, error) {
	type datum struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	}
	var doc struct {
		XMLName xml.Name `xml:"graphml"`
		Keys    []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"attr.name,attr"`
		} `xml:"key"`
		Graph struct {
			Direction string  `xml:"edgedefault,attr"`
			Data      []datum `xml:"data"`
			Nodes     []struct {
				ID   string  `xml:"id,attr"`
				Data []datum `xml:"data"`
			} `xml:"node"`
			Edges []struct {
				Source string  `xml:"source,attr"`
				Target string  `xml:"target,attr"`
				Data   []datum `xml:"data"`
			} `xml:"edge"`
		} `xml:"graph"`
	}
	if err := xml.Unmarshal(data, &doc); err != nil {
		return graphFile{}, err
	}
	attribute := make(map[string]string, len(doc.Keys))
	for _, k := range doc.Keys {
		attribute[k.ID] = k.Name
	}
	g := graphFile{directed: doc.Graph.Direction != "undirected", metadata: make(map[string]string)}
	for _, d := range doc.Graph.Data {
		g.metadata[attribute[d.Key]] = d.Text
	}
	names := make(map[string]string)
	for _, n := range doc.Graph.Nodes {
		for _, d := range n.Data {
			if attribute[d.Key] == "name" && d.Text != "" {
				names[n.ID] = d.Text
			}
		}
	}
	for _, x := range doc.Graph.Edges {
		edge := graphEdge{named(names, x.Source), named(names, x.Target), make(map[string]string)}
		for _, d := range x.Data {
			edge.attributes[attribute[d.Key]] = strings.TrimSpace(d.Text)
		}
		g.edges = append(g.edges, edge)
	}
	return g, nil
}

// named is the name of a node, or its id where it has none.
func named(names map[string]string, id string) string {
	if name, ok := names[id]; ok {
		return name
	}
	return id
}

// parseCYJS reads a document of Cytoscape.
func parseCYJS(data []byte) (graphFile, error) {
	type element struct {
		Data map[string]any `json:"data"`
	}
	var doc struct {
		Directed *bool          `json:"directed"`
		Data     map[string]any `json:"data"`
		Elements struct {
			Nodes []element `json:"nodes"`
			Edges []element `json:"edges"`
		} `json:"elements"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return graphFile{}, err
	}
	word := func(v any) string {
		switch v := v.(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return ""
	}
	g := graphFile{directed: doc.Directed == nil || *doc.Directed, metadata: make(map[string]string)}
	for key, v := range doc.Data {
		g.metadata[key] = word(v)
	}
	names := make(map[string]string)
	for _, n := range doc.Elements.Nodes {
		if name := word(n.Data["name"]); name != "" {
			names[word(n.Data["id"])] = name
		}
	}
	for _, x := range doc.Elements.Edges {
		edge := graphEdge{named(names, word(x.Data["source"])), named(names, word(x.Data["target"])), make(map[string]string)}
		for key, v := range x.Data {
			if text := word(v); text != "" {
				edge.attributes[key] = text
			}
		}
		g.edges = append(g.edges, edge)
	}
	return g, nil
}
