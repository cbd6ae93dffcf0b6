package arrowio

import (
	"bufio"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// A SIF is a network in the simple interaction format of Cytoscape: the edges, each
// with a word on its type.
type SIF struct {
	// Source, Type and Target are those of edge i, of equal length, in the order of
	// the file. Edges may repeat, also with another type, and may be self-loops.
	Source, Type, Target []string
	// Nodes are the names, each once, in order of appearance, with those of nodes
	// that have no edge.
	Nodes []string
	// SHA256 is the checksum of the file's bytes, in hexadecimal.
	SHA256 string
}

// Len is the number of edges.
func (s *SIF) Len() int { return len(s.Source) }

// ReadSIF reads a network in the simple interaction format, gzip-compressed or not,
// "-" for standard input. A line is
//
//	source type target [target ...]
//
// or the name of a node without edges. A line with a tab is separated by tabs, so
// that names may have blanks in them, and any other by blanks. There is no header.
//
// A line of two words, an empty name and a file without edges are InputErrors. Of
// the options Format is not used. The end of the context ends the reading as in
// OpenSamples.
func ReadSIF(ctx context.Context, path string, o ListOptions) (*SIF, error) {
	return attended(ctx, path, func() (*SIF, error) { return readSIF(ctx, path, o) }, nil)
}

// ReadNetwork reads a network with types of its edges: a file called .sif or .sif.gz
// as ReadSIF does, and any other as ReadReference does, whose edges have the type "".
func ReadNetwork(ctx context.Context, path string, o ListOptions) (*SIF, error) {
	if o.Format == "" && isSIF(path) {
		return ReadSIF(ctx, path, o)
	}
	r, err := ReadReference(ctx, path, o)
	if err != nil {
		return nil, err
	}
	s := &SIF{SHA256: r.SHA256}
	known := make(map[string]bool)
	for i, source := range r.Source {
		for _, name := range []string{source, r.Target[i]} {
			if !known[name] {
				known[name] = true
				s.Nodes = append(s.Nodes, name)
			}
		}
		if r.Label[i] {
			s.Source, s.Type, s.Target = append(s.Source, source), append(s.Type, ""), append(s.Target, r.Target[i])
		}
	}
	if s.Len() == 0 {
		return nil, fault(Redacted(path), "the network has no edges; one pair at least has the label 1")
	}
	return s, nil
}

// isSIF reports whether the name of a file says that it is a SIF.
func isSIF(path string) bool {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(pathOf(path)), ".gz")) == ".sif"
}

func readSIF(ctx context.Context, path string, o ListOptions) (_ *SIF, err error) {
	src, err := open(ctx, path, o.Stdin, o.Root, o.Stores, o.Limits)
	if err != nil {
		return nil, err
	}
	defer src.close()
	text := &textFile{src: src, what: "SIF file"}
	defer func() { err = src.explain(err, text.what) }()
	in, err := text.unpack()
	if err != nil {
		return nil, err
	}
	r := sifReader{src: src, known: make(map[string]string)}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestRecord)
	// What comes before an error of reading is the part of a line.
	for n := 1; lines.Scan() && lines.Err() == nil; n++ {
		if err := r.line(n, lines.Text()); err != nil {
			return nil, err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, fault(src.name, "a line does not end, so this is no SIF file")
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if r.sif.Len() == 0 {
		return nil, fault(src.name, "the network has no edges; a line of a SIF file is a source, a type and a target")
	}
	if r.sif.SHA256, err = src.sum(); err != nil {
		return nil, err
	}
	return &r.sif, nil
}

// A sifReader gathers a network line by line.
type sifReader struct {
	src   *input
	sif   SIF
	known map[string]string
}

// line takes line n, from 1.
func (r *sifReader) line(n int, text string) error {
	wrong := func(reason string) error { return &InputError{Path: r.src.name, Line: n, Reason: reason} }
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return wrong("this is not text in UTF-8, so this is no SIF file")
	}
	words := strings.Fields(text)
	if strings.Contains(strings.TrimSpace(text), "\t") {
		words = strings.Split(strings.TrimRight(text, "\r\n\t "), "\t")
		for i, w := range words {
			if words[i] = strings.TrimSpace(w); words[i] == "" {
				return wrong("a name is empty; write one tab between two names")
			}
		}
	}
	if err := r.src.counter.Keep(lineBytes * int64(len(words))); err != nil {
		return err
	}
	switch len(words) {
	case 0:
	case 1:
		r.name(words[0])
	case 2:
		return wrong("the line has two words; write source, type and target, or the name of a node alone")
	default:
		source, kind := r.name(words[0]), strings.Clone(words[1])
		for _, target := range words[2:] {
			r.sif.Source = append(r.sif.Source, source)
			r.sif.Type = append(r.sif.Type, kind)
			r.sif.Target = append(r.sif.Target, r.name(target))
		}
	}
	return nil
}

// name returns one copy of every name, and adds it to the nodes.
func (r *sifReader) name(s string) string {
	if kept, ok := r.known[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	r.known[s] = s
	r.sif.Nodes = append(r.sif.Nodes, s)
	return s
}

// edgesOfSIF is a network as a list, whose order is the rank.
func edgesOfSIF(ctx context.Context, path string, o ListOptions) (*EdgeList, error) {
	s, err := readSIF(ctx, path, o)
	if err != nil {
		return nil, err
	}
	e := &EdgeList{Source: s.Source, Target: s.Target, SHA256: s.SHA256}
	seen := make(map[[2]string]bool, s.Len())
	signed := true
	for i, source := range s.Source {
		pair := [2]string{source, s.Target[i]}
		if source == s.Target[i] {
			e.SelfLoops++
		}
		if seen[pair] {
			e.Duplicates++
		}
		seen[pair] = true
		sign, known := map[string]int8{"positive": 1, "negative": -1, "unsigned": 0}[s.Type[i]]
		signed = signed && known
		e.Sign = append(e.Sign, sign)
	}
	if !signed {
		e.Sign = nil
	}
	return e, nil
}

// reference is the network without the types: a pair that stands there again, with
// whatever type, is a duplicate.
func (s *SIF) reference() *Reference {
	r := &Reference{SHA256: s.SHA256}
	seen := make(map[[2]string]struct{}, s.Len())
	for i, source := range s.Source {
		pair := [2]string{source, s.Target[i]}
		if _, ok := seen[pair]; ok {
			r.Duplicates++
			continue
		}
		seen[pair] = struct{}{}
		r.Source = append(r.Source, pair[0])
		r.Target = append(r.Target, pair[1])
		r.Label = append(r.Label, true)
		if pair[0] == pair[1] {
			r.SelfLoops++
		}
	}
	return r
}
