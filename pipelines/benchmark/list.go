package benchmark

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A Set is a table with a known network. In lists the keys are the names of columns,
// or of YAML; only table and reference must be there.
type Set struct {
	// Name is that of the set. Default: that of the table, without extensions.
	Name string `json:"name"`
	// Group is what the set is averaged with. Default: the name.
	Group string `json:"group"`
	// Table is the samples, Reference the known network.
	Table     string `json:"table"`
	Reference string `json:"reference"`
	// Orientation, IDColumn, Population and Background are as in job.Benchmark, whose
	// fields are their defaults.
	Orientation string `json:"orientation,omitzero" jsonschema:"enum=rows,enum=columns"`
	IDColumn    string `json:"id_column,omitzero"`
	Population  string `json:"population,omitzero" jsonschema:"enum=labelled,enum=all"`
	Background  string `json:"background,omitzero"`
	// Undirected is true or false. Default: that of the benchmark.
	Undirected string `json:"undirected,omitzero" jsonschema:"enum=true,enum=false"`

	// found says that the set was found in a folder, whose labels of rows nobody has
	// named.
	found bool
}

// Bounds of a list, far above any that one would write.
const (
	listBytes = 4 << 20
	mostSets  = 10_000
)

// An entry is the keys and values of a set in a list, in their order.
type entry struct {
	where string // for errors
	pairs [][2]string
}

// readList reads a list of sets. Paths are relative to root or, without one, to the
// folder of the list.
func readList(path, root string) ([]Set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, job.FileError("sets", path, err)
	}
	if len(data) > listBytes {
		return nil, job.Errorf("sets", "%s: the list is larger than 4 MB, so it is no list of sets", path)
	}
	var entries []entry
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		entries, err = parseYAML(data)
	case ".tsv":
		entries, err = parseTable(data, '\t')
	default:
		entries, err = parseTable(data, ',')
	}
	if err == nil && len(entries) == 0 {
		err = errors.New("there is no set in the list")
	}
	if err == nil && len(entries) > mostSets {
		err = fmt.Errorf("there are more than %d sets in the list", mostSets)
	}
	if err != nil {
		return nil, &job.Error{Field: "sets", Reason: path + ": " + err.Error(), Err: err}
	}
	if root == "" {
		root = filepath.Dir(path)
	}
	var sets []Set
	for _, e := range entries {
		s, err := e.set(root)
		if err != nil {
			return nil, job.Errorf("sets", "%s: %s: %v", path, e.where, err)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// parseTable reads a list with a header.
func parseTable(data []byte, comma rune) ([]entry, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))))
	r.Comma, r.Comment, r.TrimLeadingSpace = comma, '#', comma != '\t'
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var entries []entry
	for i, row := range rows[1:] {
		e := entry{where: fmt.Sprintf("set %d", i+1)}
		for k, value := range row {
			if value = strings.TrimSpace(value); value != "" {
				e.pairs = append(e.pairs, [2]string{strings.TrimSpace(rows[0][k]), value})
			}
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseYAML reads a sequence of mappings.
func parseYAML(data []byte) ([]entry, error) {
	const mostBrackets = 1000 // which the parser takes minutes for
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > mostBrackets {
		return nil, fmt.Errorf("there are more than %d brackets; write one key: value on every line", mostBrackets)
	}
	var list []yaml.MapSlice
	if err := yaml.Unmarshal(data, &list); err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			return nil, fmt.Errorf("line %d: %s", syntax.GetToken().Position.Line, syntax.GetMessage())
		}
		return nil, errors.New("this is not a list of sets; write a dash before each, and one key: value on every line")
	}
	var entries []entry
	for i, item := range list {
		e := entry{where: fmt.Sprintf("set %d", i+1)}
		for _, pair := range item {
			switch pair.Value.(type) {
			case nil:
				continue
			case string, bool, int, int64, uint64, float64:
			default:
				return nil, fmt.Errorf("set %d: %v: the value must be a text", i+1, pair.Key)
			}
			e.pairs = append(e.pairs, [2]string{fmt.Sprint(pair.Key), fmt.Sprint(pair.Value)})
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// set is the set of an entry.
func (e entry) set(root string) (Set, error) {
	var s Set
	seen := make(map[string]bool)
	for _, pair := range e.pairs {
		if seen[pair[0]] {
			return s, job.Errorf(pair[0], "the key is there twice")
		}
		seen[pair[0]] = true
		if err := job.Set(&s, pair[0], pair[1]); err != nil {
			return s, err
		}
	}
	switch {
	case s.Table == "":
		return s, job.Errorf("table", "no table is named")
	case s.Reference == "":
		return s, job.Errorf("reference", "no reference is named")
	}
	for _, path := range []*string{&s.Table, &s.Reference} {
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(root, *path)
		}
	}
	return s, job.CheckFields(&s, job.Facts{})
}
