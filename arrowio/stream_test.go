package arrowio

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// three is three samples of two variables, as lists or as columns.
func three(t testing.TB, lists bool) arrow.Record {
	names, rows := []string{"a", "ü"}, []float64{1, 2, 3, 5, 8, 13}
	if lists {
		return SampleRecord(SampleSchema(names), rows, 3)
	}
	r, err := NewRecord([]Column{{names[0], []float64{1, 3, 8}}, {names[1], []float64{2, 5, 13}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// streamOf is what OpenSamples reads from messages.
func streamOf(t testing.TB, list []arrowtest.Message, o SampleOptions) (read, error) {
	t.Helper()
	r, err := batch.NewReader(arrowtest.Replay(list, io.EOF), arrowtest.Checked(t))
	if err != nil {
		return read{}, err
	}
	defer r.Release()
	o.Records = r
	return readAll(context.Background(), "-", o)
}

// Lists and columns, in one batch or in many, are the same table with the same
// checksum, which is another as soon as a name or a value is.
func TestStreamIsTheTable(t *testing.T) {
	want := ""
	for _, lists := range []bool{true, false} {
		for _, rows := range []int64{1, 2, 3} {
			table := three(t, lists)
			got, err := streamOf(t, arrowtest.Messages(t, table, rows), SampleOptions{})
			table.Release()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.names, []string{"a", "ü"}) || !slices.Equal(got.values, []float64{1, 2, 3, 5, 8, 13}) || got.rows != 3 || len(got.sha) != 64 {
				t.Errorf("lists %v, batches of %d: %+v", lists, rows, got)
			}
			if want == "" {
				want = got.sha
			}
			if got.sha != want {
				t.Errorf("lists %v, batches of %d: checksum %s, want %s", lists, rows, got.sha, want)
			}
		}
	}
	other := SampleRecord(SampleSchema([]string{"a", "ü"}), []float64{1, 2, 3, 5, 8, 14}, 3)
	defer other.Release()
	if got, err := streamOf(t, arrowtest.Messages(t, other, 3), SampleOptions{}); err != nil || got.sha == want {
		t.Errorf("%v: another value, the same checksum", err)
	}
	renamed := SampleRecord(SampleSchema([]string{"a", "b"}), []float64{1, 2, 3, 5, 8, 13}, 3)
	defer renamed.Release()
	if got, err := streamOf(t, arrowtest.Messages(t, renamed, 3), SampleOptions{}); err != nil || got.sha == want {
		t.Errorf("%v: another name, the same checksum", err)
	}
}

func TestStreamedSquare(t *testing.T) {
	table, err := NewRecord([]Column{{"a", []float64{2, 0.5}}, {"b", []float64{0.5, 3}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	r, err := batch.NewReader(arrowtest.Replay(arrowtest.Messages(t, table, 1), io.EOF), arrowtest.Checked(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	names, values, sha, err := ReadSquare(context.Background(), "-", SampleOptions{Records: r})
	if err != nil || !slices.Equal(names, []string{"a", "b"}) || !slices.Equal(values, []float64{2, 0.5, 0.5, 3}) || len(sha) != 64 {
		t.Error(names, values, sha, err)
	}
}

func TestTooManyVariables(t *testing.T) {
	table := three(t, true)
	defer table.Release()
	_, err := streamOf(t, arrowtest.Messages(t, table, 3), SampleOptions{MostVariables: 1})
	wantInputError(t, err, "2 variables", "1")
	if !errors.Is(err, ErrTooManyVariables) {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"grid.csv": "a,b\n2,0\n0,2\n", "long.csv": "row,column,value\na,a,1\nb,b,1\n",
	} {
		if _, _, _, err := ReadSquare(context.Background(), put(t, name, text), SampleOptions{MostVariables: 1}); !errors.Is(err, ErrTooManyVariables) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamErrors(t *testing.T) {
	table := three(t, true)
	defer table.Release()
	list := arrowtest.Messages(t, table, 1)
	broken := errors.New("the wire is cut")
	damaged := slices.Clone(list)
	damaged[2].Body = damaged[2].Body[:8]
	// In Go's heap: Arrow forgets the buffer at which it panics.
	r, err := batch.NewReader(arrowtest.Replay(damaged, io.EOF), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	_, err = readAll(context.Background(), "-", SampleOptions{Records: r})
	wantInputError(t, err, "the stream", "corrupt")
	r, err = batch.NewReader(arrowtest.Replay(list[:2], broken), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	_, err = readAll(context.Background(), "-", SampleOptions{Records: r})
	var input *InputError
	if !errors.Is(err, broken) || errors.As(err, &input) {
		t.Errorf("a cut wire: %v", err)
	}
	_, err = streamOf(t, list[:2], SampleOptions{})
	wantInputError(t, err, "one sample")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = batch.NewReader(arrowtest.Replay(list, io.EOF), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if _, err := readAll(ctx, "-", SampleOptions{Records: r}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// The record of lists is what Arrow itself reads back.
func TestSampleRecord(t *testing.T) {
	table := three(t, true)
	defer table.Release()
	list := table.Column(0).(*array.FixedSizeList)
	from, to := list.ValueOffsets(1)
	if v := list.ListValues().(*array.Float64).Float64Values()[from:to]; !slices.Equal(v, []float64{3, 5}) {
		t.Errorf("the second sample is %v", v)
	}
}
