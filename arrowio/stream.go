package arrowio

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// openStream makes a table of batches. The caller keeps records.
func openStream(ctx context.Context, records array.RecordReader, mem memory.Allocator, limits batch.Limits) (*table, error) {
	src := &input{ctx: ctx, name: batch.StreamName, in: strings.NewReader(""), hash: sha256.New(), stream: true,
		limits: limits, counter: batch.Counter{Limits: limits}}
	src.Reader = bufio.NewReader(rawReader{src})
	if records.Schema().NumFields() == 0 {
		return nil, fault(batch.StreamName, "the table has no columns")
	}
	return &table{src: src, mem: mem, records: &streamReader{src: src, records: records}}, nil
}

// A streamReader delivers batches that someone else has made.
type streamReader struct {
	src     *input
	records array.RecordReader
}

func (r *streamReader) schema() *arrow.Schema { return r.records.Schema() }

func (r *streamReader) line(int) int { return 0 }

func (r *streamReader) close() {}

func (r *streamReader) read() (arrow.Record, error) {
	if err := r.src.ctx.Err(); err != nil {
		return nil, r.src.explain(err, "")
	}
	if r.records.Next() {
		return r.records.Record(), nil
	}
	err := r.records.Err()
	if err == nil || err == io.EOF {
		return nil, io.EOF
	}
	var input *InputError
	var corrupt *batch.CorruptError
	switch {
	case errors.As(err, &corrupt):
		err = &InputError{Path: batch.StreamName, Reason: corrupt.Reason, Err: corrupt}
	case !errors.As(err, &input):
		r.src.failed(err) // whoever sends it knows better what has failed
	}
	return nil, r.src.explain(err, "stream")
}

// A digest is the checksum of a table that has no bytes of its own.
type digest struct{ hash hash.Hash }

func newDigest(names []string) *digest {
	d := &digest{sha256.New()}
	head, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings have JSON
	}
	d.hash.Write(append(head, '\n'))
	return d
}

// add hashes values as they lie in memory, which is little-endian on every
// machine that Arrow's Go readers read without swapping.
func (d *digest) add(values []float64) {
	d.hash.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values)))
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }
