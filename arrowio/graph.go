package arrowio

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Formats of networks, for edge lists alone.
const (
	GraphML = "graphml"
	CYJS    = "cyjs"
	SIFText = "sif"
)

// metaDirected is the key of the metadata that says that the edges of a list are directed.
const metaDirected = "gladflow.directed"

// graphFormats are GraphML (Brandes, Eiglsperger, Lerner and Pich 2013), the JSON of
// Cytoscape, and its simple interaction format. Nodes are the variables with an edge, by
// their names. Edges have every number of the list as an attribute, and the network the
// metadata; in SIF an edge has its sign only, positive, negative or unsigned, and the order
// of the lines is the rank.
func graphFormats() Formats[[]Column] {
	return Formats[[]Column]{
		graphFormat(GraphML, "GraphML", writeGraphML),
		graphFormat(CYJS, "JSON of Cytoscape", writeCYJS),
		graphFormat(SIFText, "simple interaction format", writeSIF),
	}
}

func graphFormat(name, title string, write func(*bufio.Writer, graph) error) Format[[]Column] {
	encoder := func(columns []Column, metadata map[string]string) (func(io.Writer) error, error) {
		g, err := graphOf(columns, metadata)
		if err != nil {
			return nil, err
		}
		return func(w io.Writer) error {
			b := bufio.NewWriter(w)
			if err := write(b, g); err != nil {
				return err
			}
			return b.Flush()
		}, CheckGraphNames(name, g.nodes)
	}
	return Format[[]Column]{Name: name, Title: title, Write: func(folder *os.Root, file string, columns []Column, metadata map[string]string) ([]Written, error) {
		encode, err := encoder(columns, metadata)
		if err != nil {
			return nil, err
		}
		written, err := ReplaceFileIn(folder, file, encode)
		if err != nil {
			return nil, err
		}
		return []Written{written}, nil
	}, Encode: func(w io.Writer, columns []Column, metadata map[string]string) error {
		encode, err := encoder(columns, metadata)
		if err != nil {
			return err
		}
		return encode(w)
	}}
}

// CheckGraphNames reports as an InputError the first of the names that a format of
// networks cannot hold: in SIF those with tabs, line breaks, or blanks at an end, and in
// GraphML those with characters that XML does not have. Other formats hold all.
func CheckGraphNames(format string, names []string) error {
	for _, name := range names {
		switch {
		case format == SIFText && (strings.ContainsAny(name, "\t\r\n") || strings.TrimSpace(name) != name):
			return fault("output", "the name %q has a tab, a line break or a blank at an end, which SIF cannot hold; choose graphml, cyjs or parquet", name)
		case format == GraphML && strings.ContainsFunc(name, func(c rune) bool { return !isXML(c) }):
			return fault("output", "the name %q has a character that XML, and so GraphML, cannot hold; choose cyjs or parquet", name)
		}
	}
	return nil
}

// isXML says whether XML 1.0 has the character.
func isXML(c rune) bool {
	return c == '\t' || c == '\n' || c == '\r' || c >= 0x20 && c <= 0xD7FF || c >= 0xE000 && c <= 0xFFFD || c >= 0x10000
}

// A graph is a list of edges as formats of networks take it.
type graph struct {
	source, target []string
	nodes          []string // in the order of the edges
	sign           []int8   // nil without one
	attributes     []attribute
	metadata       map[string]string
	directed       bool
}

// An attribute is a number of every edge.
type attribute struct {
	name  string
	whole bool
	text  func(k int) string
}

// graphOf reads columns as EdgeFormats have them.
func graphOf(columns []Column, metadata map[string]string) (graph, error) {
	g := graph{metadata: metadata, directed: metadata[metaDirected] == "true"}
	for _, c := range columns {
		switch values := c.Values.(type) {
		case []string:
			switch c.Name {
			case "source":
				g.source = values
			case "target":
				g.target = values
			}
		case []float64:
			g.attributes = append(g.attributes, attribute{c.Name, false, func(k int) string { return strconv.FormatFloat(values[k], 'g', -1, 64) }})
		case []int8:
			g.attributes = append(g.attributes, attribute{c.Name, true, func(k int) string { return strconv.Itoa(int(values[k])) }})
			if c.Name == columnSign {
				g.sign = values
			}
		default:
			return g, fmt.Errorf("arrowio: the column %q of a network has values of type %T", c.Name, c.Values)
		}
	}
	if len(g.source) != len(g.target) {
		return g, fmt.Errorf("arrowio: a network has %d sources and %d targets", len(g.source), len(g.target))
	}
	known := make(map[string]bool)
	for k := range g.source {
		for _, name := range [2]string{g.source[k], g.target[k]} {
			if !known[name] {
				known[name] = true
				g.nodes = append(g.nodes, name)
			}
		}
	}
	return g, nil
}

// interaction is the type of edge k: its sign in a word.
func (g graph) interaction(k int) string {
	switch {
	case g.sign == nil || g.sign[k] == 0:
		return "unsigned"
	case g.sign[k] > 0:
		return "positive"
	}
	return "negative"
}

func writeSIF(w *bufio.Writer, g graph) error {
	for k := range g.source {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", g.source[k], g.interaction(k), g.target[k]); err != nil {
			return err
		}
	}
	return nil
}

func writeGraphML(w *bufio.Writer, g graph) error {
	escaped := func(text string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
		return b.String()
	}
	fmt.Fprint(w, xml.Header, `<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">`, "\n")
	keys := slices.Sorted(maps.Keys(g.metadata))
	for i, key := range keys {
		fmt.Fprintf(w, "<key id=\"g%d\" for=\"graph\" attr.name=\"%s\" attr.type=\"string\"/>\n", i, escaped(key))
	}
	fmt.Fprintln(w, `<key id="name" for="node" attr.name="name" attr.type="string"/>`)
	fmt.Fprintln(w, `<key id="interaction" for="edge" attr.name="interaction" attr.type="string"/>`)
	for i, a := range g.attributes {
		kind := "double"
		if a.whole {
			kind = "int"
		}
		fmt.Fprintf(w, "<key id=\"e%d\" for=\"edge\" attr.name=\"%s\" attr.type=\"%s\"/>\n", i, escaped(a.name), kind)
	}
	direction := "undirected"
	if g.directed {
		direction = "directed"
	}
	fmt.Fprintf(w, "<graph id=\"network\" edgedefault=\"%s\">\n", direction)
	for i, key := range keys {
		fmt.Fprintf(w, "<data key=\"g%d\">%s</data>\n", i, escaped(g.metadata[key]))
	}
	for _, name := range g.nodes {
		fmt.Fprintf(w, "<node id=\"%[1]s\"><data key=\"name\">%[1]s</data></node>\n", escaped(name))
	}
	for k := range g.source {
		fmt.Fprintf(w, "<edge source=\"%s\" target=\"%s\"><data key=\"interaction\">%s</data>", escaped(g.source[k]), escaped(g.target[k]), g.interaction(k))
		for i, a := range g.attributes {
			fmt.Fprintf(w, "<data key=\"e%d\">%s</data>", i, a.text(k))
		}
		if _, err := fmt.Fprint(w, "</edge>\n"); err != nil {
			return err // of any line before: a bufio.Writer keeps it
		}
	}
	fmt.Fprint(w, "</graph>\n</graphml>\n")
	return nil
}

func writeCYJS(w *bufio.Writer, g graph) error {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // a string or a map of strings
		}
		return string(b)
	}
	metadata := map[string]string{"name": "network"}
	maps.Copy(metadata, g.metadata)
	fmt.Fprintf(w, "{\"format_version\":\"1.0\",\"generated_by\":\"gladflow\",\"target_cytoscapejs_version\":\"~2.1\",\"directed\":%t,\"multigraph\":false,\n\"data\":%s,\n\"elements\":{\"nodes\":[", g.directed, text(metadata))
	for k, name := range g.nodes {
		if k > 0 {
			fmt.Fprint(w, ",")
		}
		// id, and value for readers such as networkx.
		fmt.Fprintf(w, "\n{\"data\":{\"id\":%[1]s,\"name\":%[1]s,\"value\":%[1]s}}", text(name))
	}
	fmt.Fprint(w, "],\n\"edges\":[")
	for k := range g.source {
		if k > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, "\n{\"data\":{\"id\":\"e%d\",\"source\":%s,\"target\":%s,\"interaction\":\"%s\"", k+1, text(g.source[k]), text(g.target[k]), g.interaction(k))
		for _, a := range g.attributes {
			fmt.Fprintf(w, ",%s:%s", text(a.name), a.text(k))
		}
		if _, err := fmt.Fprint(w, "}}"); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "]}}\n")
	return nil
}
