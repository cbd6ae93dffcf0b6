package job

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	j := Job{Input: "x.csv", IDColumn: "id", Model: "general", Reference: "r.tsv", Out: "out", Format: "csv"}
	want := []NamedFile{{"input", ReadFile, "x.csv"}, {"model", ReadModel, "general"}, {"reference", ReadFile, "r.tsv"}, {"out", WriteFolder, "out"}}
	if got := Files(&j); !reflect.DeepEqual(got, want) {
		t.Errorf("a job names %+v, want %+v", got, want)
	}
	training := Training{Data: "tables", From: "m.json", Out: "n.json", Checkpoint: "n.checkpoint"}
	want = []NamedFile{{"from", ReadModel, "m.json"}, {"data", ReadFolder, "tables"}, {"out", WriteFile, "n.json"}, {"checkpoint", WriteFile, "n.checkpoint"}}
	if got := Files(&training); !reflect.DeepEqual(got, want) {
		t.Errorf("a training names %+v, want %+v", got, want)
	}
}

// A tag that Files does not know, or on a field that is no text, would let a
// path past the sandbox of a service.
func TestFileTags(t *testing.T) {
	for _, document := range []any{&Job{}, &Training{}, &Simulation{}, &GeneSimulation{}, &Evaluation{}} {
		typ := reflect.TypeOf(document).Elem()
		for i := range typ.NumField() {
			f := typ.Field(i)
			switch File(f.Tag.Get("file")) {
			case NoFile:
				for _, word := range []string{"file to ", "folder to ", "folder of tables to ", "path or a URL"} {
					if strings.Contains(f.Tag.Get("jsonschema_description"), word) && f.Type.Kind() == reflect.String {
						t.Errorf("%s.%s seems to name a file and has no tag", typ, f.Name)
					}
				}
			case ReadFile, ReadFolder, ReadModel, WriteFile, WriteFolder:
				if f.Type.Kind() != reflect.String {
					t.Errorf("%s.%s has the tag of a file and is %s", typ, f.Name, f.Type)
				}
			default:
				t.Errorf("%s.%s has the unknown tag %q", typ, f.Name, f.Tag.Get("file"))
			}
		}
	}
}

func TestRedact(t *testing.T) {
	j := Job{Input: "secret", IDColumn: "secret", Model: "secret", PenaltyMatrix: "secret", Reference: "secret", Out: "secret"}
	Redact(&j, func(path string) string { return strings.ReplaceAll(path, "secret", "x") })
	if want := (Job{Input: "x", IDColumn: "secret", Model: "x", PenaltyMatrix: "x", Reference: "x", Out: "x"}); !reflect.DeepEqual(j, want) {
		t.Errorf("%+v, want %+v", j, want)
	}
}

func TestStandardInputIsReadOnce(t *testing.T) {
	for _, c := range []struct {
		document any
		field    string
	}{
		{&Job{Input: Stdin, Out: Stdin, Model: Stdin}, ""}, // a folder and a file of that name
		{&Job{Input: "x", Reference: Stdin}, ""},
		{&Job{Input: Stdin, PenaltyMatrix: Stdin}, "penalty_matrix"},
		{&Job{Reference: Stdin, PenaltyMatrix: Stdin}, "reference"},
		{&Evaluation{EdgeList: Stdin, Reference: Stdin}, "reference"},
	} {
		err := checkStdin(c.document)
		var wrong *Error
		if errors.As(err, &wrong) != (c.field != "") || wrong != nil && wrong.Field != c.field {
			t.Errorf("%+v: %v, want an error about %q", c.document, err, c.field)
		}
	}
}

// There are no outputs to stores, whatever the document.
func TestNoURLIsWritten(t *testing.T) {
	for _, url := range []string{"s3://bucket/x", "file:///tmp/x", "HTTPS://h", "file:/tmp/x", "s3:/bucket/x"} {
		for key, document := range map[string]any{
			"out":        &Job{Out: url},
			"checkpoint": &Training{Out: "model.json", Checkpoint: url},
		} {
			err := CheckFields(document, Facts{})
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Field != key || !strings.Contains(wrong.Reason, "is a URL") {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
	for _, path := range []string{"a/b", "/a", `C:/a`, "a:b/c", "./s3:/a", "17:/a"} {
		if err := CheckFields(&Job{Input: "s3://bucket/x", Out: path}, Facts{}); err != nil {
			t.Error(err)
		}
	}
}
