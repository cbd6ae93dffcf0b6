package arrowio

import (
	"cmp"
	"context"
	"slices"
)

// An EdgeList is a network as a list of pairs, in the order of its file.
type EdgeList struct {
	// Source and Target are the ends of edge i, of equal length.
	Source, Target []string
	// Score ranks the edges, highest first; nil when the file has none, and
	// then its order is the rank.
	Score []float64
	// Label says which pairs are edges; nil when the file has no labels.
	Label []bool
	// Precision and PartialCorrelation are those of WriteEdges, and Sign is −1, 0 or 1,
	// of every edge; nil in files that lack them. Confidence is what the file says of the
	// edges besides. All are read from lists with the columns source, target, score and
	// sign only, as this package writes them.
	Precision, PartialCorrelation []float64
	Sign                          []int8
	Confidence                    Confidence
	// Unordered says that the file has the columns of WriteEdges, each of whose
	// pairs stands for both directions. A CSV that has lost its companion is
	// known by them.
	Unordered bool
	// Matrix says that the file has the columns of WritePrecision and a diagonal: its
	// values are no scores.
	Matrix bool
	// Metadata is what the file's schema carries, for CSV what its companion
	// FILE-metadata.json does; nil for neither.
	Metadata map[string]string
	// SelfLoops counts the pairs whose ends are the same variable. They are
	// kept.
	SelfLoops int
	// Duplicates counts the pairs that stand in the list again, in the same
	// direction. They are kept.
	Duplicates int
	// SHA256 is the checksum of the file's bytes, in hexadecimal; empty for a list that
	// came as batches.
	SHA256 string
}

// Len is the number of pairs.
func (e *EdgeList) Len() int { return len(e.Source) }

// ReadEdges reads a list of edges, "-" for standard input: one that this
// package has written, or a published one of two or three columns, source,
// target and score.
//
// Columns are known by their names (source, target, score and what is usual
// for them: regulator, tf, from, gene, to, weight, importance, label …), and
// otherwise by their order. A file called .sif or .sif.gz is read by ReadSIF: its edges,
// best first, with the signs that their types say; .graphml and .cyjs, also .gz, are read
// with the score (or weight) and the other numbers that every edge has. Text may lack a header: its first line is one if
// its third cell is not a number or, of two cells, if they name a source and a
// target.
//
// A score that is no finite number and a name that is empty are InputErrors.
//
// The end of the context ends the reading as in OpenSamples.
func ReadEdges(ctx context.Context, path string, o ListOptions) (*EdgeList, error) {
	if o.Records != nil && path == stdinPath {
		return readEdges(ctx, path, o) // as OpenSamples does
	}
	return attended(ctx, path, func() (*EdgeList, error) { return readEdges(ctx, path, o) }, nil)
}

func readEdges(ctx context.Context, path string, o ListOptions) (_ *EdgeList, err error) {
	defer func() { err = advised(err, o.Fixed) }()
	if o.Format == "" {
		switch {
		case isSIF(path):
			return edgesOfSIF(ctx, path, o)
		case graphFormatOf(path) != "":
			return edgesOfGraph(ctx, path, graphFormatOf(path), o)
		}
	}
	l, err := openList(ctx, path, o, scoreRole())
	if err != nil {
		return nil, err
	}
	defer l.close()
	l.keepMore(append([]string{columnPrecision, columnPartial, columnSign}, ConfidenceColumns()...))
	e := &EdgeList{Metadata: l.metadata(), Unordered: isEdgeTable(l.columnNames())}
	seen := make(map[[2]string]struct{})
	err = l.each(func(row int, p pair) error {
		e.Source = append(e.Source, p.source)
		e.Target = append(e.Target, p.target)
		if l.score >= 0 {
			e.Score = append(e.Score, p.score)
		}
		for k, v := range p.more {
			e.keep(l.more[k].name, v)
		}
		if l.label >= 0 {
			if p.label != 0 && p.label != 1 {
				return l.fault(row, "", "the label is %v; a label is 0 or 1", p.label)
			}
			e.Label = append(e.Label, p.label == 1)
		}
		if p.source == p.target {
			e.SelfLoops++
		}
		key := [2]string{p.source, p.target}
		if _, ok := seen[key]; ok {
			e.Duplicates++
		}
		seen[key] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.Matrix = isMatrixTable(l.columnNames()) && e.SelfLoops > 0 && e.SelfLoops >= len(l.interned)
	if l.src.stream {
		return e, nil
	}
	if e.SHA256, err = l.src.sum(); err != nil {
		return nil, l.src.explain(err, "file")
	}
	if l.text != nil && path != stdinPath {
		if e.Metadata, err = readSidecar(ctx, path, o.Root, o.Stores); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// keep appends a number to the column of its name.
func (e *EdgeList) keep(name string, v float64) {
	var to *[]float64
	switch name {
	case columnSign:
		e.Sign = append(e.Sign, int8(cmp.Compare(v, 0)))
		return
	case columnPrecision:
		to = &e.Precision
	case columnPartial:
		to = &e.PartialCorrelation
	default:
		to = e.Confidence.Column(name)
	}
	*to = append(*to, v)
}

// isEdgeTable reports whether a table has the columns that WriteEdges writes and
// no other list has.
func isEdgeTable(names []string) bool {
	return slices.Contains(names, columnPartial) && slices.Contains(names, columnSign)
}

// isMatrixTable reports whether a table has the columns that WritePrecision writes. Lists
// of others may have them too.
func isMatrixTable(names []string) bool {
	return slices.Equal(names, []string{"row", "column", "value"})
}

// A Reference is a network that is held to be true.
type Reference struct {
	// Source and Target are the ends of pair i, of equal length, every
	// ordered pair once.
	Source, Target []string
	// Label says whether pair i is an edge.
	Label []bool
	// Labelled says whether the file has labels. If not, every pair that it
	// lists is an edge.
	Labelled bool
	// SelfLoops counts the pairs whose ends are the same variable. They are
	// kept.
	SelfLoops int
	// Duplicates counts the lines that repeat a pair with the same label.
	// They are left out.
	Duplicates int
	// SHA256 is the checksum of the file's bytes, in hexadecimal.
	SHA256 string
}

// Len is the number of pairs.
func (r *Reference) Len() int { return len(r.Source) }

// Positives is the number of pairs that are edges.
func (r *Reference) Positives() int {
	n := 0
	for _, l := range r.Label {
		if l {
			n++
		}
	}
	return n
}

// ReadReference reads a reference network, "-" for standard input: source,
// target and, if the file has a third column, label 0 or 1. Headers and names
// of columns are as in ReadEdges. A file called .sif or .sif.gz is read by
// ReadSIF: its edges, without their types.
//
// Labels other than 0 and 1, a pair with both, an empty name and a list
// without pairs are InputErrors.
//
// The end of the context ends the reading as in OpenSamples.
func ReadReference(ctx context.Context, path string, o ListOptions) (*Reference, error) {
	return attended(ctx, path, func() (*Reference, error) { return readReference(ctx, path, o) }, nil)
}

func readReference(ctx context.Context, path string, o ListOptions) (_ *Reference, err error) {
	defer func() { err = advised(err, o.Fixed) }()
	if o.Format == "" && isSIF(path) {
		network, err := readSIF(ctx, path, o)
		if err != nil {
			return nil, err
		}
		return network.reference(), nil
	}
	l, err := openList(ctx, path, o, labelRole())
	if err != nil {
		return nil, err
	}
	defer l.close()
	if l.label < 0 && l.score >= 0 {
		// A list of three columns whose third is called a score may still
		// hold labels; each is checked.
		l.label, l.score = l.score, -1
	}
	r := &Reference{Labelled: l.label >= 0}
	seen := make(map[[2]string]int)
	err = l.each(func(row int, p pair) error {
		if r.Labelled && p.label != 0 && p.label != 1 {
			return l.fault(row, "", "the label of %q, %q is %v; a label is 0 or 1", p.source, p.target, p.label)
		}
		edge := !r.Labelled || p.label == 1
		key := [2]string{p.source, p.target}
		if i, ok := seen[key]; ok {
			if r.Label[i] != edge {
				return l.fault(row, "", "the pair %q, %q has the label %v here and another one before; keep one", p.source, p.target, p.label)
			}
			r.Duplicates++
			return nil
		}
		seen[key] = len(r.Source)
		r.Source = append(r.Source, p.source)
		r.Target = append(r.Target, p.target)
		r.Label = append(r.Label, edge)
		if p.source == p.target {
			r.SelfLoops++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.Len() == 0 {
		return nil, fault(l.src.name, "the reference lists no pairs")
	}
	if r.SHA256, err = l.src.sum(); err != nil {
		return nil, l.src.explain(err, "file")
	}
	return r, nil
}
