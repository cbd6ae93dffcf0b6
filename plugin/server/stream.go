package server

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// An upload is the table that a caller streams.
type upload struct {
	idle       *idleTimer
	recv       func() (*flight.FlightData, error)
	first      *flight.FlightData // which came with the descriptor
	bytes      int64
	limit      int64 // of bytes
	message    int   // limit of the bytes of a message
	memory     *runs.Upload
	descriptor *flight.FlightDescriptor
}

// beginUpload counts a call that streams samples by recv. Its memory must be ended.
func (s *Service) beginUpload(ctx context.Context, recv func() (*flight.FlightData, error)) (*upload, error) {
	m, err := s.runs.BeginUpload(s.caller(ctx))
	if err != nil {
		return nil, err
	}
	return &upload{idle: s.idleTimer(), recv: recv, limit: s.limits.UploadBytes, message: s.limits.MessageBytes, memory: m}, nil
}

// receive takes the first message of a call, which has the descriptor.
func (s *Service) receive(u *upload) error {
	err := u.idle.await(func() error {
		return u.idle.during(func() (err error) {
			u.first, err = u.recv()
			return err
		})
	})
	if err != nil {
		return err
	}
	u.descriptor = u.first.FlightDescriptor
	if u.descriptor == nil {
		return fault.Call("the first message has no descriptor; send the job as its command")
	}
	return nil
}

// records opens the table. The end of ctx ends its unpacking.
func (u *upload) records(ctx context.Context, l batch.Limits) (array.RecordReader, error) {
	return batch.NewLimitedReader(ctx, u.next, nil, l)
}

// next is the next message of Arrow's; those that carry something else are
// passed over.
func (u *upload) next() (metadata, body []byte, err error) {
	for {
		data := u.first
		u.first = nil
		if data == nil {
			err := u.idle.during(func() (err error) {
				data, err = u.recv()
				return err
			})
			if err != nil {
				return nil, nil, err
			}
		}
		if len(data.DataHeader) == 0 {
			continue
		}
		size := len(data.DataHeader) + len(data.DataBody)
		if size > u.message {
			return nil, nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit, "%s", protocol.MessageTooLarge(int64(size), int64(u.message)))
		}
		u.bytes += int64(size)
		if u.bytes > u.limit {
			return nil, nil, fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
				"the samples take more than %d bytes, which is the limit; send fewer, or raise it", u.limit)
		}
		return data.DataHeader, data.DataBody, nil
	}
}

// sender is a stream that takes batches.
type sender interface {
	Send(*flight.FlightData) error
}

// A timedSender measures how long the caller does not take what is sent.
type timedSender struct {
	sender
	idle *idleTimer
}

// Send implements sender.
func (t timedSender) Send(d *flight.FlightData) error {
	return t.idle.during(func() error { return t.sender.Send(d) })
}

// send streams a table.
func (s *Service) send(to sender, table arrow.Record) error {
	idle := s.idleTimer()
	return idle.await(func() error {
		w := flight.NewRecordWriter(timedSender{to, idle}, ipc.WithSchema(table.Schema()))
		defer w.Close()
		if table.NumRows() > 0 {
			if err := batch.Split(table, batch.Bytes, w.Write); err != nil {
				return err
			}
		}
		return w.Close() // which sends the schema of an empty table
	})
}
