package arrowio

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/uri"
)

// sidecarSuffix makes the path of a CSV file that of its description
// (Metadata Vocabulary for Tabular Data, W3C 2015, section 5.3).
const sidecarSuffix = "-metadata.json"

// A sidecar describes a CSV file.
type sidecar struct {
	Context     string              `json:"@context"`
	URL         string              `json:"url"`
	TableSchema sidecarSchema       `json:"tableSchema"`
	Notes       []map[string]string `json:"notes"`
}

type sidecarSchema struct {
	Columns []sidecarColumn `json:"columns"`
}

type sidecarColumn struct {
	Titles   string `json:"titles"`
	Datatype string `json:"datatype"`
}

// datatype is the name that CSV on the Web has for a type.
func datatype(t arrow.DataType) string {
	switch t.ID() {
	case arrow.FLOAT64:
		return "double"
	case arrow.INT64:
		return "long"
	case arrow.INT32:
		return "int"
	case arrow.INT8:
		return "byte"
	case arrow.BOOL:
		return "boolean"
	case arrow.FIXED_SIZE_BINARY:
		return "base64Binary"
	}
	return "string"
}

// commitWithSidecar names a staged CSV file and its description: first the
// description, so that no CSV file stands without, and neither if one fails: then the
// description that was there before is there again.
func commitWithSidecar(file *staged, sch *arrow.Schema) ([]Written, error) {
	s := sidecar{
		Context: "http://www.w3.org/ns/csvw",
		URL:     file.name,
		Notes:   []map[string]string{{}},
	}
	for _, f := range sch.Fields() {
		s.TableSchema.Columns = append(s.TableSchema.Columns, sidecarColumn{f.Name, datatype(f.Type)})
	}
	m := sch.Metadata()
	for i, k := range m.Keys() {
		s.Notes[0][k] = m.Values()[i]
	}
	name := file.name + sidecarSuffix
	beside, err := stage(file.folder, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
	if err != nil {
		file.discard()
		return nil, unwritten(file.folder, name, err)
	}
	before := keep(file.folder, name)
	if err := beside.commit(); err != nil {
		file.discard()
		if before != nil {
			before.discard()
		}
		return nil, unwritten(file.folder, name, err)
	}
	if err := file.commit(); err != nil {
		if before == nil || before.commit() != nil {
			file.folder.Remove(name)
		}
		return nil, unwritten(file.folder, file.name, err)
	}
	if before != nil {
		before.discard()
	}
	return []Written{file.written, beside.written}, nil
}

// readSidecar returns the notes of the description of the CSV file at path,
// nil if there is none.
func readSidecar(ctx context.Context, path string, root *Root, stores Opener) (map[string]string, error) {
	at := beside(path, sidecarSuffix)
	if at == "" {
		return nil, nil
	}
	s, err := open(ctx, at, nil, root, stores, batch.Limits{})
	// A store that may not be listed denies what is not there.
	if errors.Is(err, fs.ErrNotExist) || uri.Is(at) && errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.close()
	var described sidecar
	if err := json.NewDecoder(s).Decode(&described); err != nil {
		return nil, s.explain(err, "description of the CSV file")
	}
	var notes map[string]string
	for _, n := range described.Notes {
		if notes == nil {
			notes = make(map[string]string)
		}
		for k, v := range n {
			notes[k] = v
		}
	}
	return notes, nil
}
