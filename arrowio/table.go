package arrowio

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A recordReader delivers a table batch by batch.
type recordReader interface {
	schema() *arrow.Schema
	// read returns the next batch, valid until the next call, and io.EOF
	// after the last. Its errors are explained.
	read() (arrow.Record, error)
	// line is the line of a text file on which a row stands, both counted as
	// in InputError but the row from 0; 0 for other formats.
	line(row int) int
	close()
}

// A table is an opened file of rows and columns of which nothing but the
// schema has been read. Exactly one of text and records is set: text has
// names of columns at most, and its types are for the reader to choose.
type table struct {
	src     *input
	mem     memory.Allocator
	text    *textFile
	records recordReader
}

// openTable opens the table at path. Of the options it takes Format, Sheet, Text, Memory, Stdin,
// Records, Root, Stores and Limits.
func openTable(ctx context.Context, path string, o SampleOptions) (*table, error) {
	mem := o.Memory
	if mem == nil {
		mem = memory.DefaultAllocator
	}
	if path == stdinPath && o.Records != nil {
		return openStream(ctx, o.Records, mem, o.Limits)
	}
	s, err := open(ctx, path, o.Stdin, o.Root, o.Stores, o.Limits)
	if err != nil {
		return nil, err
	}
	t := &table{src: s, mem: mem}
	f, err := formatOf(s, path, o.Format)
	if err == nil {
		err = o.checkFormat(s, f)
	}
	if err == nil {
		switch f {
		case parquetFormat:
			t.records, err = openParquet(s, mem)
		case arrowFormat, streamFormat:
			t.records, err = openIPC(s, f, mem)
		case xlsxFormat:
			t.text, err = openWorkbook(s, o.Sheet, o.Text)
		default:
			t.text, err = openText(s, f, o.Text)
		}
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *table) close() error {
	if t.records != nil {
		t.records.close()
		t.records = nil
	}
	return t.src.close()
}

// columnNames are the names of the columns; of a text file, its first line.
func (t *table) columnNames() []string {
	if t.text != nil {
		return t.text.header
	}
	fields := t.records.schema().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// metadata is what the schema carries, less Arrow's own copy of the schema;
// nil for text.
func (t *table) metadata() map[string]string {
	if t.text != nil {
		return nil
	}
	m := t.records.schema().Metadata()
	out := make(map[string]string, m.Len())
	for i, k := range m.Keys() {
		if k != schemaKey {
			out[k] = m.Values()[i]
		}
	}
	return out
}

// findColumn returns the position of the column that the caller names, by its
// name or as #N, the N-th.
func findColumn(src *input, names []string, wanted string) (int, error) {
	found := -1
	for i, n := range names {
		if n != wanted {
			continue
		}
		if found >= 0 {
			return 0, columnFault(src.name, wanted, "two columns have this name; name the id column by position, as #%d", found+1)
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	var n int
	if _, err := fmt.Sscanf(wanted, "#%d", &n); err == nil && n >= 1 && n <= len(names) {
		return n - 1, nil
	}
	return 0, fault(src.name, "there is no column %q; the columns are %s", wanted, listOf(names))
}

// listOf quotes the first few names.
func listOf(names []string) string {
	const few = 5
	quoted := make([]string, 0, few+1)
	for i, n := range names {
		if i == few {
			quoted = append(quoted, fmt.Sprintf("… (%d in all)", len(names)))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	return strings.Join(quoted, ", ")
}
