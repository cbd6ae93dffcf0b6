package arrowio

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

func TestReadNames(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"one a line":         {"n.txt", "b\na\nb\n", []string{"b", "a"}},
		"no end of line":     {"n.tsv", "b\r\na", []string{"b", "a"}},
		"gzip":               {"n.tsv.gz", arrowtest.Zipped("b\na\n"), []string{"b", "a"}},
		"header":             {"n.csv", "Gene ID,family\nb,x\na,y\n", []string{"b", "a"}},
		"first column":       {"n.csv", "b,x\na,y\n", []string{"b", "a"}},
		"a name as a header": {"n.txt", "gene1\ngene2\n", []string{"gene1", "gene2"}},
		"one":                {"n.txt", "araC", []string{"araC"}},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadNames(context.Background(), path, ListOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(got.Names, c.want) || len(got.SHA256) != 64 {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "n.parquet")
	if err := WriteTable(path, Parquet, []Column{{"tf", []string{"b", "a"}}, {"n", []float64{1, 2}}}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadNames(context.Background(), path, ListOptions{}); err != nil || !slices.Equal(got.Names, []string{"b", "a"}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReadNamesRefuses(t *testing.T) {
	folder := t.TempDir()
	numbers := filepath.Join(folder, "n.parquet")
	if err := WriteTable(numbers, Parquet, []Column{{"n", []float64{1, 2}}}, nil); err != nil {
		t.Fatal(err)
	}
	paths := []string{numbers, filepath.Join(folder, "missing.txt")}
	for i, text := range []string{"", "gene\n", "a\n,x\n", "a\n\xff\n"} {
		path := filepath.Join(folder, string(rune('a'+i))+".csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		var input *InputError
		if got, err := ReadNames(context.Background(), path, ListOptions{}); !errors.As(err, &input) {
			t.Errorf("%s: %v, %v", filepath.Base(path), got, err)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a\nb\n", "name\na\n", "a,1\nb,2\n", "\"a\nb\"\nc\n", "a b\n", "", "\n\n", arrowtest.Zipped("a\nb\n")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadNames(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
		if err == nil && (len(got.Names) == 0 || slices.Contains(got.Names, "")) {
			t.Fatalf("%+v", got)
		}
	})
}
