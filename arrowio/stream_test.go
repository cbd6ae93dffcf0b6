package arrowio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// message is one of an IPC stream.
type message struct{ metadata, body []byte }

// taken collects messages as Arrow Flight would send them.
type taken []message

func (*taken) Start() error { return nil }
func (*taken) Close() error { return nil }
func (m *taken) WritePayload(p ipc.Payload) error {
	meta := p.Meta()
	defer meta.Release()
	var body bytes.Buffer
	if err := p.SerializeBody(&body); err != nil {
		return err
	}
	*m = append(*m, message{slices.Clone(meta.Bytes()), body.Bytes()})
	return nil
}

// messages writes a table in batches of so many rows.
func messages(t testing.TB, table arrow.Record, rows int64) []message {
	t.Helper()
	var m taken
	w := ipc.NewWriterWithPayloadWriter(&m, ipc.WithSchema(table.Schema()))
	for at := int64(0); at < table.NumRows(); at += rows {
		piece := table.NewSlice(at, min(at+rows, table.NumRows()))
		if err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
		piece.Release()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// replay hands messages out one after the other, and then last.
func replay(list []message, last error) func() ([]byte, []byte, error) {
	return func() (metadata, body []byte, err error) {
		if len(list) == 0 {
			return nil, nil, last
		}
		m := list[0]
		list = list[1:]
		return m.metadata, m.body, nil
	}
}

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
func streamOf(t testing.TB, list []message, o SampleOptions) (read, error) {
	t.Helper()
	r, err := batch.NewReader(replay(list, io.EOF), checked(t))
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
			got, err := streamOf(t, messages(t, table, rows), SampleOptions{})
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
	if got, err := streamOf(t, messages(t, other, 3), SampleOptions{}); err != nil || got.sha == want {
		t.Errorf("%v: another value, the same checksum", err)
	}
	renamed := SampleRecord(SampleSchema([]string{"a", "b"}), []float64{1, 2, 3, 5, 8, 13}, 3)
	defer renamed.Release()
	if got, err := streamOf(t, messages(t, renamed, 3), SampleOptions{}); err != nil || got.sha == want {
		t.Errorf("%v: another name, the same checksum", err)
	}
}

func TestStreamedSquare(t *testing.T) {
	table, err := NewRecord([]Column{{"a", []float64{2, 0.5}}, {"b", []float64{0.5, 3}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	r, err := batch.NewReader(replay(messages(t, table, 1), io.EOF), checked(t))
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
	_, err := streamOf(t, messages(t, table, 3), SampleOptions{MostVariables: 1})
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
	list := messages(t, table, 1)
	broken := errors.New("the wire is cut")
	damaged := slices.Clone(list)
	damaged[2].body = damaged[2].body[:8]
	// In Go's heap: Arrow forgets the buffer at which it panics.
	r, err := batch.NewReader(replay(damaged, io.EOF), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	_, err = readAll(context.Background(), "-", SampleOptions{Records: r})
	wantInputError(t, err, "the stream", "corrupt")
	r, err = batch.NewReader(replay(list[:2], broken), nil)
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
	r, err = batch.NewReader(replay(list, io.EOF), nil)
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
