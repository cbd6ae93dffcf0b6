package arrowio

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

func TestReadSIF(t *testing.T) {
	const text = "a ac b\nb\tre\tc d\r\n\nlone\na du a\na re b c\n"
	for name, file := range map[string][2]string{
		"plain": {"n.sif", text},
		"gzip":  {"n.SIF.gz", arrowtest.Zipped(text)},
		"named": {"n.txt", text},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadSIF(context.Background(), put(t, file[0], file[1]), ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Source, []string{"a", "b", "a", "a", "a"}) || !slices.Equal(s.Type, []string{"ac", "re", "du", "re", "re"}) ||
				!slices.Equal(s.Target, []string{"b", "c d", "a", "b", "c"}) || !slices.Equal(s.Nodes, []string{"a", "b", "c d", "lone", "c"}) || len(s.SHA256) != 64 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A reference that is called .sif has every pair once, without its type.
func TestReadReferenceSIF(t *testing.T) {
	r, err := ReadReference(context.Background(), put(t, "n.sif", "a ac b\na re b\nb du b\n"), ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 2 || r.Labelled || r.Positives() != 2 || r.Duplicates != 1 || r.SelfLoops != 1 || len(r.SHA256) != 64 {
		t.Errorf("%+v", r)
	}
}

func TestReadSIFRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "the network has no edges",
		"a\nb\n":                        "the network has no edges",
		"a ac b\na b\n":                 "line 2: the line has two words",
		"a\tac\t\tb\n":                  "line 1: a name is empty",
		"a ac b\nx \xff y\n":            "line 2: this is not text",
		arrowtest.Zipped("a ac b")[:15]: "truncated",
	} {
		_, err := ReadSIF(context.Background(), put(t, "n.sif", text), ListOptions{})
		var wrong *InputError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadSIF(context.Background(), "missing.sif", ListOptions{}); err == nil || !strings.Contains(err.Error(), "missing.sif: there is no such file") {
		t.Errorf("missing: %v", err)
	}
}

func FuzzSIF(f *testing.F) {
	for _, s := range []string{"a ac b\n", "a\tre\tb c\td\n", "lone\n", "a b\n", arrowtest.Zipped("a ac b c\n"), ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSIF(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
		if err != nil {
			return
		}
		if s.Len() == 0 || len(s.Type) != s.Len() || len(s.Target) != s.Len() || slices.Contains(s.Nodes, "") {
			t.Fatalf("%+v", s)
		}
	})
}

// A network comes from a SIF with its types, and from any list of pairs without.
func TestReadNetwork(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		text, types string
	}{
		"n.sif": {"a ac b\nb re c\nd\n", "ac re"},
		"n.csv": {"source,target,label\na,b,1\nb,c,1\nd,a,0\n", " "},
	} {
		n, err := ReadNetwork(ctx, put(t, name, c.text), ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(n.Nodes, ""); got != "abcd" || strings.Join(n.Type, " ") != c.types || n.Len() != 2 || n.Target[1] != "c" || len(n.SHA256) != 64 {
			t.Errorf("%s: %+v", name, n)
		}
	}
	var input *InputError
	if _, err := ReadNetwork(ctx, put(t, "none.csv", "a,b,0\n"), ListOptions{}); !errors.As(err, &input) || !strings.Contains(err.Error(), "the network has no edges") {
		t.Errorf("%v", err)
	}
}
