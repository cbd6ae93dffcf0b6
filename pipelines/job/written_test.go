package job

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Files are objects, and names alone in documents of version 0.1.0.
func TestWrittenFiles(t *testing.T) {
	one := WrittenFile{Name: "bcd.edges.parquet", Bytes: 7, SHA256: strings.Repeat("ab", 32)}
	text, err := json.Marshal(SolverResult{Files: []WrittenFile{one}})
	want := `"files":[{"name":"bcd.edges.parquet","bytes":7,"sha256":"` + one.SHA256 + `"}]`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("%s, %v", text, err)
	}
	for document, files := range map[string][]WrittenFile{
		string(text):                  {one},
		`{"files":["a.csv","b.csv"]}`: {{Name: "a.csv"}, {Name: "b.csv"}},
		`{"files":[]}`:                {},
		`{}`:                          nil,
	} {
		var back SolverResult
		if err := json.Unmarshal([]byte(document), &back); err != nil || !slices.Equal(back.Files, files) {
			t.Errorf("%s is read as %+v, %v", document, back.Files, err)
		}
	}
	for _, document := range []string{`{"files":[3]}`, `{"files":[{"bytes":"many"}]}`} {
		if err := json.Unmarshal([]byte(document), new(SolverResult)); err == nil {
			t.Errorf("%s is read", document)
		}
	}
}
