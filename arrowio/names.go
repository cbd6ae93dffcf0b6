package arrowio

import (
	"context"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// Names are a list of variables, in the order of their file.
type Names struct {
	// Names are what the file lists, each once.
	Names []string
	// SHA256 is the checksum of the file's bytes, in hexadecimal.
	SHA256 string
}

// nameRole is what the header of a list of variables may say.
func nameRole() role {
	return role{"name", "name names gene genes geneid genename id symbol regulator regulators tf tfs transcriptionfactor transcriptionfactors variable"}
}

// ReadNames reads a list of variables, "-" for standard input: one a line, or the first
// column of a table. The first line of a text is a header if its first cell is a word for
// such a list, such as name, gene, regulator or tf. Names that repeat count once.
//
// An empty name and a list without names are InputErrors. The end of the context ends the
// reading as in OpenSamples.
func ReadNames(ctx context.Context, path string, o ListOptions) (*Names, error) {
	return attended(ctx, path, func() (*Names, error) { return readNames(ctx, path, o) }, nil)
}

func readNames(ctx context.Context, path string, o ListOptions) (_ *Names, err error) {
	defer func() { err = advised(err, o.Fixed) }()
	t, err := openTable(ctx, path, SampleOptions{Format: o.Format, Stdin: o.Stdin, Root: o.Root, Stores: o.Stores, Memory: o.Memory, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.text != nil {
		columns := t.columnNames()
		header := nameRole().matches(columns[0]) && !strings.ContainsAny(columns[0], "0123456789")
		fields := make([]arrow.Field, len(columns))
		for i := range fields {
			fields[i] = arrow.Field{Name: strconv.Itoa(i + 1), Type: arrow.BinaryTypes.String}
		}
		const chunk = 16 << 10
		t.records = t.text.records(arrow.NewSchema(fields, nil), header, chunk, t.mem)
	}
	names, known, rows := &Names{}, make(map[string]bool), 0
	for {
		record, err := t.records.read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		err = batch.Guard(func() error {
			if err := t.src.counter.Keep(lineBytes * record.NumRows()); err != nil {
				return err
			}
			if !isText(record.Column(0).DataType()) {
				return unusableType(t.src.name, record.Schema().Field(0))
			}
			name := texts(record.Column(0))
			for i := range int(record.NumRows()) {
				n := name(i)
				if n == "" || !utf8.ValidString(n) {
					return &InputError{Path: t.src.name, Row: rows + i + 1, Line: t.records.line(rows + i), Reason: "the name is empty or not UTF-8"}
				}
				if !known[n] {
					n = strings.Clone(n)
					known[n] = true
					names.Names = append(names.Names, n)
				}
			}
			return nil
		})
		if err != nil {
			return nil, t.src.explain(err, "list")
		}
		rows += int(record.NumRows())
	}
	if len(names.Names) == 0 {
		return nil, fault(t.src.name, "the list has no names; write one a line")
	}
	if names.SHA256, err = t.src.sum(); err != nil {
		return nil, t.src.explain(err, "list")
	}
	return names, nil
}
