package arrowio

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// Fuzz these with -fuzzminimizetime 5x: Arrow's pools make coverage vary from run
// to run, and minimising then takes all of the time.

// mustBeInput fails on an error that is not the input's: whatever the bytes,
// a reader neither panics nor reports a failure of the machine.
func mustBeInput(t *testing.T, err error) {
	var input *InputError
	if err != nil && !errors.As(err, &input) {
		t.Fatalf("%T: %v", err, err)
	}
}

func fuzzSamples(f *testing.F, format string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range []SampleOptions{{}, {IDColumn: "#1"}, {Orientation: Columns}} {
			o.Format, o.Stdin = format, bytes.NewReader(data)
			r, err := readAll(context.Background(), "-", o)
			mustBeInput(t, err)
			if err != nil {
				continue
			}
			if r.rows < 2 || len(r.names) == 0 || len(r.values) != r.rows*len(r.names) {
				t.Fatalf("%d×%d samples of %d values", r.rows, len(r.names), len(r.values))
			}
			for _, v := range r.values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("a value is %v", v)
				}
			}
		}
		_, _, _, err := ReadSquare(context.Background(), "-", SampleOptions{Format: format, Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
	})
}

func FuzzSampleText(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n3,4\n", "a\tb\r\r\n1\t2\r\r\n\r\n3\t4", "\xEF\xBB\xBFid;\"a\";b\n\"x\";1;2\ny; 3 ;4\n",
		"row,column,value\na,a,1\na,b,0.5\nb,b,2\n", ",a,b\na,1,0.5\nb,0.5,2\n", "a b\nr 1 2\ns 3 4\n",
		"a,b\n1,NA\n", "a,b\n1\n", "\"a\n\",b\n1,2\n", arrowtest.Zipped("a,b\n1,2\n3,4\n"), "a,a\n1,2\n", "", "\n",
	} {
		f.Add([]byte(s))
	}
	fuzzSamples(f, "")
}

func FuzzSampleIPC(f *testing.F) {
	for _, b := range binarySeeds(f, Arrow) {
		f.Add(b)
	}
	fuzzSamples(f, "arrow")
}

func FuzzSampleParquet(f *testing.F) {
	for _, b := range binarySeeds(f, Parquet) {
		f.Add(b)
	}
	fuzzSamples(f, "parquet")
}

// binarySeeds are small correct files.
func binarySeeds(t testing.TB, format string) [][]byte {
	var seeds [][]byte
	for _, columns := range [][]Column{
		{{"a", []float64{1, 2, 3}}, {"b", []float64{3, 1, 2}}},
		{{"id", []string{"x", "y", "x"}}, {"a", []int64{1, 2, 3}}, {"b", []int8{3, 1, 2}}},
		{{"variable", []string{"x"}}, {"values", FixedBinary{8, []byte{0, 0, 0, 0, 0, 0, 0xF0, 0x3F}}}},
	} {
		seeds = append(seeds, encoded(t, format, columns))
	}
	return seeds
}

func addLists(f *testing.F) {
	for _, s := range []string{
		"G1\tG2\t1\nG2\tG3\t0\n", "source,target,score\na,b,0.5\nb,a,-1\n", "TF target\na b\n", "a,b\r\na,b\r\n",
		"a\tb\t1\na\tb\t0\n", "a,a,1\n", "a,b,x\n", "a,b,1,2\n", "a\n", "\"a\"\"\",b,1\n", "a,b,NA\n",
	} {
		f.Add([]byte(s))
	}
}

func FuzzReference(f *testing.F) {
	addLists(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadReference(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
		if err != nil {
			return
		}
		seen := make(map[[2]string]bool)
		for i := range r.Len() {
			p := [2]string{r.Source[i], r.Target[i]}
			if seen[p] || p[0] == "" || p[1] == "" || !r.Labelled && !r.Label[i] {
				t.Fatalf("pair %d is %q, %v", i, p, r.Label[i])
			}
			seen[p] = true
		}
		if r.Len() == 0 || len(r.Label) != r.Len() || len(r.Target) != r.Len() {
			t.Fatal("lengths differ")
		}
	})
}

func FuzzEdges(f *testing.F) {
	addLists(f)
	for _, format := range []string{Parquet, Arrow} {
		for _, b := range binarySeeds(f, format) {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ReadEdges(context.Background(), "-", ListOptions{Stdin: bytes.NewReader(data)})
		mustBeInput(t, err)
		if err != nil {
			return
		}
		if len(e.Target) != e.Len() || e.Score != nil && len(e.Score) != e.Len() || e.Label != nil && len(e.Label) != e.Len() {
			t.Fatal("lengths differ")
		}
		for i := range e.Len() {
			if e.Source[i] == "" || e.Target[i] == "" || e.Score != nil && math.IsNaN(e.Score[i]) {
				t.Fatalf("edge %d is incomplete", i)
			}
		}
	})
}
