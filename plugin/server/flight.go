package server

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// streamed is the input of a job whose samples the caller streams.
const streamed = job.Stdin

// parseJob reads a job as a call has it.
func (s *Service) parseJob(document []byte) (job.Job, error) {
	if object := bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")); !object || !json.Valid(document) {
		return job.Job{}, fault(codes.InvalidArgument, protocol.ReasonInvalidJob, "the job is no JSON object; send it as one")
	}
	j, err := job.Read(bytes.NewReader(document))
	if err != nil {
		return j, faultOf(context.Background(), err)
	}
	if j.Input == "" {
		j.Input = streamed
	}
	for _, f := range job.Files(&j) {
		if f.Path == job.Stdin && f.Key != "input" {
			return j, badField(f.Key, "a service has no standard input; name a file")
		}
	}
	if j.Input == streamed && j.InputFormat != "" {
		return j, badField("input_format", "the samples are streamed as Arrow; leave this out")
	}
	if err := recovery.Validate(j); err != nil {
		return j, faultOf(context.Background(), err)
	}
	return j, s.checkFiles(j)
}

// streamedJob reads the job of a call that streams the samples.
func (s *Service) streamedJob(d *flight.FlightDescriptor) (job.Job, error) {
	if d.Type != flight.DescriptorCMD {
		return job.Job{}, badCall("the descriptor is not a command; send the job, as JSON, as one")
	}
	j, err := s.parseJob(d.Cmd)
	if err == nil && j.Input != streamed {
		err = badField("input", "the samples of this call are streamed; leave this out, or start the job with the action %s", protocol.ActionRecover)
	}
	return j, err
}

// DoPut takes a job and its samples. See package protocol.
func (s *Service) DoPut(stream flight.FlightService_DoPutServer) error {
	u, err := s.receive(stream.Recv)
	if err != nil {
		return err
	}
	j, err := s.streamedJob(u.descriptor)
	if err != nil {
		return err
	}
	ctx, cancel := s.lifetime(stream.Context())
	r, err := s.admit(j, cancel)
	if err != nil {
		cancel(nil)
		return err
	}
	s.start(ctx, r, u.records, true)
	hangUp := context.AfterFunc(stream.Context(), func() { cancel(callEnded(stream.Context())) })
	defer hangUp()
	if err := stream.Send(&flight.PutResult{AppMetadata: encode(protocol.Run{Run: r.id})}); err != nil {
		cancel(callEnded(stream.Context()))
		return err
	}
	read := make(chan error, 1)
	go func() { read <- r.accepts(ctx) }()
	if err := s.attend(&u.pulse, read); err != nil {
		cancel(err)
		return err
	}
	return nil
}

// accepts waits until the samples have been read, and returns what is wrong
// with them. ctx is the run's: a run that is cancelled while it waits for samples
// gets no further before the call that they come from has ended.
func (r *run) accepts(ctx context.Context) error {
	select {
	case <-r.read:
		return nil
	case <-r.done:
	case <-ctx.Done():
	}
	select {
	case <-r.read: // several: what failed came later
		return nil
	default:
		return r.ending(ctx)
	}
}

// ending is failure, or why a run is about to end that has not yet.
func (r *run) ending(ctx context.Context) error {
	select {
	case <-r.done:
		return r.failure()
	default:
		f := faultOf(ctx, context.Cause(ctx))
		f.Run = r.id
		return f
	}
}

// failure is the fault of a run that has failed; nil before that.
func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault == nil {
		return nil
	}
	return r.fault
}

// DoExchange takes a job and its samples and sends back the edges that one
// solver finds, or, for the path echo, the samples as they were read.
func (s *Service) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	u, err := s.receive(stream.Recv)
	if err != nil {
		return err
	}
	if u.descriptor.Type == flight.DescriptorPATH {
		return s.echo(stream, u)
	}
	j, err := s.streamedJob(u.descriptor)
	if err != nil {
		return err
	}
	switch len(j.Solvers) {
	case 0:
		j.Solvers = j.Resolved().Solvers[:1]
	case 1:
	default:
		return badField("solvers", "an exchange returns the edges of one solver, and %d are named; name one, or use DoPut and DoGet", len(j.Solvers))
	}
	ctx, cancel := context.WithCancelCause(stream.Context())
	defer cancel(nil)
	s.endWith(ctx, cancel)
	r, err := s.admit(j, cancel)
	if err != nil {
		return err
	}
	s.start(ctx, r, u.records, false)
	ended := make(chan error, 1)
	go func() {
		select {
		case <-r.done:
		case <-ctx.Done():
		}
		ended <- r.ending(ctx)
	}()
	if err := s.attend(&u.pulse, ended); err != nil {
		cancel(err)
		return err
	}
	found, err := r.wait(ctx, j.Solvers[0])
	if err != nil {
		return err
	}
	return s.send(stream, found[protocol.TableEdges])
}

// encode is a message as JSON. Every message of the protocol has it.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
