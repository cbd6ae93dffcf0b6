package plugin

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A download is a stream of a call that tables come from.
type download struct {
	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	stream flight.DataStreamReader
	// sent is where the error of the goroutine that writes samples is, once
	// it has ended; nil where there is none.
	sent <-chan error

	failure error // of stream
	once    sync.Once
	err     error
}

// next is that of batch.NewReader.
func (d *download) next() (metadata, body []byte, err error) {
	for {
		data, err := d.stream.Recv()
		if err != nil {
			if err != io.EOF {
				d.failure = err
			}
			return nil, nil, err
		}
		// A message may hold metadata of the application only.
		if len(data.DataHeader) > 0 {
			return data.DataHeader, data.DataBody, nil
		}
	}
}

// records begins to read the table.
func (d *download) records() (array.RecordReader, error) {
	r, err := batch.NewReader(d.next, d.client.mem)
	if err != nil {
		return nil, d.end(err)
	}
	t := &table{RecordReader: r, download: d}
	t.count.Store(1)
	return t, nil
}

// end ends the call, waits for its goroutine, and returns what is to be told of
// it; err is what reading has ended with. What counts is the first call.
func (d *download) end(err error) error {
	d.once.Do(func() {
		switch {
		case d.failure == nil && err != nil: // corrupt, or without a table
			d.err = err
			d.cancel(nil)
			d.wait()
		default:
			d.err = d.client.outcome(d.ctx, d.failure, d.wait())
		}
		d.cancel(nil)
	})
	return d.err
}

// wait returns what send has, once it has. A stream that has ended ends it.
func (d *download) wait() error {
	if d.sent == nil {
		return nil
	}
	return <-d.sent
}

// A table is what a call returns.
type table struct {
	array.RecordReader
	download *download
	count    atomic.Int64
	err      error
}

// Retain implements array.RecordReader.
func (t *table) Retain() { t.count.Add(1) }

// Release implements array.RecordReader. The last ends the call.
func (t *table) Release() {
	if t.count.Add(-1) == 0 {
		t.download.cancel(nil)
		t.download.end(nil)
		t.RecordReader.Release()
	}
}

// Next implements array.RecordReader.
func (t *table) Next() bool {
	if t.RecordReader.Next() {
		return true
	}
	t.err = t.download.end(t.RecordReader.Err())
	return false
}

// Err implements array.RecordReader.
func (t *table) Err() error { return t.err }
