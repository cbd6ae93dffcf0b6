package arrowio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// The rule for headers, case by case.
func TestIsHeader(t *testing.T) {
	for line, want := range map[string]bool{
		"source,target": true, "Source,Target": true, "TF,gene": true, "#TF,Target gene": true, "Cause,Effect": true,
		"from,to": true, "target,source": true, "regulator,target,label": true, "x,y,weight": true, "x,y,z": true, "a,b,c,d": true,
		"G1,G2": false, "gene1,gene2": false, "acrR,acrA": false, "tf,G2": false, "G1,gene": false, "source": false,
		"G1,G2,1": false, "source,target,1": false, "x,y,-0.5e3": false, "x,y,1e999": false, "x,y,": false, "x,y,NA": false,
		"x,y,-": false, "x,y,true": false, "x,y,inf": false,
	} {
		if got := isHeader(strings.Split(line, ",")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestReadEdges(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		score      []float64
		label      []bool
	}{
		"two columns":        {"e.tsv", "b\ta\na\tb\na\ta\na\tb\n", nil, nil},
		"three columns":      {"e.tsv", "b\ta\t3\na\tb\t0.5\na\ta\t1\na\tb\t-1e-3\n", []float64{3, 0.5, 1, -1e-3}, nil},
		"doubled CR":         {"e.tsv", "b\ta\t3\r\r\na\tb\t0.5\r\r\na\ta\t1\r\r\na\tb\t-1e-3\r\r\n", []float64{3, 0.5, 1, -1e-3}, nil},
		"gzip":               {"e.tsv.gz", arrowtest.Zipped("b\ta\t3\na\tb\t0.5\na\ta\t1\na\tb\t-1e-3\n"), []float64{3, 0.5, 1, -1e-3}, nil},
		"header":             {"e.csv", "TF,target,importance\nb,a,3\na,b,0.5\na,a,1\na,b,-1e-3\n", []float64{3, 0.5, 1, -1e-3}, nil},
		"header, two":        {"e.csv", "regulator,gene\nb,a\na,b\na,a\na,b\n", nil, nil},
		"header, unknown":    {"e.csv", "p,q,r\nb,a,3\na,b,0.5\na,a,1\na,b,-1e-3\n", []float64{3, 0.5, 1, -1e-3}, nil},
		"other order":        {"e.csv", "weight,to,from\n3,a,b\n0.5,b,a\n1,a,a\n-1e-3,b,a\n", []float64{3, 0.5, 1, -1e-3}, nil},
		"more columns":       {"e.csv", "n,source,target,score,label\n1,b,a,3,1\n2,a,b,0.5,0\n3,a,a,1,0\n4,a,b,-1e-3,1\n", []float64{3, 0.5, 1, -1e-3}, []bool{true, false, false, true}},
		"spaces, no headers": {"e.txt", "b a 3\na b 0.5\na a 1\na b -1e-3\n", []float64{3, 0.5, 1, -1e-3}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := ReadEdges(context.Background(), put(t, c.file, c.text), ListOptions{Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(e.Source, "") != "baaa" || strings.Join(e.Target, "") != "abab" ||
				!slices.Equal(e.Score, c.score) || (e.Score == nil) != (c.score == nil) || !slices.Equal(e.Label, c.label) {
				t.Errorf("%+v", e)
			}
			if e.SelfLoops != 1 || e.Duplicates != 1 || len(e.SHA256) != 64 || e.Metadata != nil {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Columnar lists come with every kind of strings and numbers.
func TestReadEdgesColumnar(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	for name, sch := range map[string]*arrow.Schema{
		"utf8":       fields("source", arrow.BinaryTypes.String, "target", arrow.BinaryTypes.String, "score", arrow.PrimitiveTypes.Float64),
		"large":      fields("tf", arrow.BinaryTypes.LargeString, "gene", arrow.BinaryTypes.LargeString, "weight", arrow.PrimitiveTypes.Float32),
		"dictionary": fields("x", dictionary, "y", dictionary, "z", arrow.PrimitiveTypes.Int16),
	} {
		for _, format := range []string{"parquet", "arrow", "arrows"} {
			f := sch.Fields()
			rows := strings.NewReplacer("S", f[0].Name, "T", f[1].Name, "V", f[2].Name).Replace(
				`[{"S":"b","T":"a","V":3},{"S":"a","T":"b","V":-2}]`)
			e, err := ReadEdges(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(fileOf(t, format, record(t, sch, rows))), Memory: arrowtest.Checked(t)})
			if err != nil || strings.Join(e.Source, "") != "ba" || strings.Join(e.Target, "") != "ab" || !slices.Equal(e.Score, []float64{3, -2}) {
				t.Errorf("%s, %s: %+v, %v", name, format, e, err)
			}
		}
	}
	sch := fields("source", arrow.BinaryTypes.String, "target", arrow.BinaryTypes.String, "label", arrow.FixedWidthTypes.Boolean)
	r, err := ReadReference(context.Background(), "-", ListOptions{Memory: arrowtest.Checked(t),
		Stdin: bytes.NewReader(fileOf(t, "parquet", record(t, sch, `[{"source":"b","target":"a","label":true},{"source":"a","target":"b","label":false}]`)))})
	if err != nil || !slices.Equal(r.Label, []bool{true, false}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadReference(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		label      []bool
		labelled   bool
		loops, dup int
	}{
		"labels":      {"b\ta\t1\na\tb\t0\n", []bool{true, false}, true, 0, 0},
		"header":      {"TF,gene,label\nb,a,1\na,b,0\n", []bool{true, false}, true, 0, 0},
		"weight":      {"TF,gene,weight\nb,a,1.0\na,b,0e0\n", []bool{true, false}, true, 0, 0},
		"positives":   {"b\ta\na\tb\n", []bool{true, true}, false, 0, 0},
		"names":       {"Cause\tEffect\nb\ta\na\tb\n", []bool{true, true}, false, 0, 0},
		"duplicates":  {"b,a,1\na,b,0\nb,a,1\na,b,0\na,b,0\n", []bool{true, false}, true, 0, 3},
		"loops":       {"b,b,1\na,a,0\n", []bool{true, false}, true, 2, 0},
		"more":        {"n,source,target,label\n9,b,a,1\n9,a,b,0\n", []bool{true, false}, true, 0, 0},
		"true, false": {"b,a,true\na,b,false\n", []bool{true, false}, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadReference(context.Background(), "-", ListOptions{Stdin: strings.NewReader(c.text), Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Fatal(err)
			}
			positives := 0
			for _, l := range c.label {
				if l {
					positives++
				}
			}
			if strings.Join(r.Source, "") != "ba" || !slices.Equal(r.Label, c.label) || r.Labelled != c.labelled ||
				r.SelfLoops != c.loops || r.Duplicates != c.dup || r.Positives() != positives || len(r.SHA256) != 64 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestListsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		reference bool
		words     []string
	}{
		"one column":       {"a\nb\n", false, []string{"one column", "source and target"}},
		"empty":            {"", true, []string{"empty"}},
		"header only":      {"source,target\n", true, []string{"no pairs"}},
		"label 2":          {"a,b,1\n\na,c,2\n", true, []string{"line 3", "is 2", "0 or 1"}},
		"label text":       {"a,b,1\na,c,yes\n", true, []string{"line 2", `"yes"`, "0 or 1"}},
		"label missing":    {"a,b,1\na,c,\n", true, []string{"line 2", "missing", "0 or 1"}},
		"label sign":       {"a\tb\t-\na\tc\t+\n", true, []string{"line 1", `"-"`, "0 or 1"}},
		"label NaN":        {"a,b,nan\n", true, []string{"line 1", "0 or 1"}},
		"scores as labels": {"source,target,score\na,b,0.3\n", true, []string{"line 2", "0.3", "0 or 1"}},
		"contradiction":    {"a,b,1\nb,a,1\na,b,0\n", true, []string{"line 3", `"a", "b"`, "keep one"}},
		"four columns":     {"a,b,1,2\n", true, []string{"4 columns", "label"}},
		"four with header": {"source,target,p,q\na,b,1,2\n", true, []string{"4 columns", "label"}},
		"no source":        {"a,b,1\n,c,1\n", true, []string{"line 2", "source", "empty"}},
		"no target":        {"a,b,1\nc,,1\n", true, []string{"line 2", "target", "empty"}},
		"not UTF-8":        {"a,b,1\nc,\xFF,1\n", true, []string{"line 2", "UTF-8"}},
		"ragged":           {"a,b,1\na,c\n", true, []string{"line 2", "2 cells"}},
		"ragged later":     {"a,b,1\na,c,1\na,d\n", true, []string{"line 3", "as many cells"}},
		"score text":       {"a,b,1\na,c,x\n", false, []string{"line 2", `"x"`, "finite"}},
		"score infinite":   {"a,b,1\na,c,inf\n", false, []string{"line 2", `"inf"`, "finite"}},
		"edge label":       {"source,target,label\na,c,3\n", false, []string{"line 2", "is 3", "0 or 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := ListOptions{Stdin: strings.NewReader(c.text), Memory: arrowtest.Checked(t)}
			var err error
			if c.reference {
				_, err = ReadReference(context.Background(), "-", o)
			} else {
				_, err = ReadEdges(context.Background(), "-", o)
			}
			wantInputError(t, err, c.words...)
		})
	}
	null := fields("source", arrow.BinaryTypes.String, "target", arrow.BinaryTypes.String, "score", arrow.PrimitiveTypes.Float64)
	for rows, word := range map[string]string{
		`[{"source":"a","target":"b","score":1},{"source":"a","target":"b","score":null}]`: "score",
		`[{"source":"a","target":"b","score":1},{"source":null,"target":"b","score":1}]`:   "source",
	} {
		data := fileOf(t, "arrow", record(t, null, rows))
		_, err := ReadEdges(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(data), Memory: arrowtest.Checked(t)})
		wantInputError(t, err, word, "row 2")
	}
}

// Lists as long as those of the DREAM5 challenge for E. coli: 152,280 labelled
// pairs of 141 regulators with 1081 genes, and a list of 100,000 scored edges.
func TestLongLists(t *testing.T) {
	const regulators, genes, pairs = 141, 1081, 152280
	var known, ranked strings.Builder
	positives := 0
	for k := range pairs {
		i, j := k%regulators, k/regulators
		if j >= i {
			j++ // a regulator is one of the genes; no pair with itself
		}
		label := k * 2066 / pairs % 2
		positives += label
		fmt.Fprintf(&known, "G%d\tG%d\t%d\n", i, j, label)
		if k < 100000 {
			fmt.Fprintf(&ranked, "G%d\tG%d\t%d.5\n", i, j, pairs-k)
		}
	}
	text := zipped(known.String())
	r, err := ReadReference(context.Background(), put(t, "known.tsv.gz", text), ListOptions{Memory: arrowtest.Checked(t)})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(text))
	if r.Len() != pairs || r.Positives() != positives || r.SelfLoops != 0 || r.Duplicates != 0 ||
		r.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%d pairs, %d positive, %d loops, %d duplicates", r.Len(), r.Positives(), r.SelfLoops, r.Duplicates)
	}
	if i, j := r.Source[pairs-1], r.Target[pairs-1]; i != "G140" && i != "G139" || j != fmt.Sprintf("G%d", genes-1) {
		t.Errorf("the last pair is %s, %s", i, j)
	}
	e, err := ReadEdges(context.Background(), put(t, "ranked.tsv.gz", zipped(ranked.String())), ListOptions{Memory: arrowtest.Checked(t)})
	if err != nil || e.Len() != 100000 || len(e.Score) != 100000 || e.Score[99999] != pairs-99999+0.5 {
		t.Errorf("%d edges, %v", e.Len(), err)
	}
}
