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
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// streamed is the input of a job whose samples the caller streams.
const streamed = job.Stdin

// parseJob reads a job as a call has it.
func (s *Service) parseJob(document []byte) (job.Job, error) {
	if object := bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")); !object || !json.Valid(document) {
		return job.Job{}, fault.New(codes.InvalidArgument, protocol.ReasonInvalidJob, "the job is no JSON object; send it as one")
	}
	j, err := job.Read(bytes.NewReader(document))
	if err != nil {
		return j, fault.Of(context.Background(), err)
	}
	if j.Input == "" {
		j.Input = streamed
	}
	for _, f := range job.Files(&j) {
		if f.IsStdin() && f.Key != "input" {
			return j, fault.Field(f.Key, "a service has no standard input; name a file")
		}
	}
	if j.Input == streamed {
		if field := ofFiles(j); field != "" {
			return j, fault.Field(field, "this is for files, and the samples are streamed as Arrow; leave it out")
		}
	}
	if err := s.checkFiles(j); err != nil {
		return j, err
	}
	if err := recovery.Validate(j); err != nil {
		return j, fault.Of(context.Background(), err)
	}
	return j, nil
}

// ofFiles is the first field of a job that says how a file of samples is written; empty for
// none.
func ofFiles(j job.Job) string {
	for _, f := range []struct {
		key   string
		given bool
	}{
		{"input_format", j.InputFormat != ""}, {"sheet", j.Sheet != ""}, {"no_header", j.NoHeader}, {"decimal", j.Decimal != ""},
		{"thousands", j.Thousands != ""}, {"na", len(j.NA) > 0},
	} {
		if f.given {
			return f.key
		}
	}
	return ""
}

// streamedJob reads the job of a call that streams the samples.
func (s *Service) streamedJob(d *flight.FlightDescriptor) (job.Job, error) {
	if d.Type != flight.DescriptorCMD {
		return job.Job{}, fault.Call("the descriptor is not a command; send the job, as JSON, as one")
	}
	return s.parseStreamed(d.Cmd)
}

// parseStreamed reads a job whose samples are those of the call.
func (s *Service) parseStreamed(document []byte) (job.Job, error) {
	j, err := s.parseJob(document)
	if err == nil && j.Input != streamed {
		err = fault.Field("input", "the samples of this call are streamed; leave this out, or start the job with the action %s", protocol.ActionRecover)
	}
	return j, err
}

// DoPut takes a job and its samples. See package protocol.
func (s *Service) DoPut(stream flight.FlightService_DoPutServer) error {
	u, err := s.beginUpload(stream.Context(), stream.Recv)
	if err != nil {
		return err
	}
	defer u.memory.End()
	if err := s.receive(u); err != nil {
		return err
	}
	if u.descriptor.Type == flight.DescriptorPATH {
		return s.putPath(stream, u)
	}
	j, err := s.streamedJob(u.descriptor)
	if err != nil {
		return err
	}
	r, err := s.runs.Start(stream.Context(), runs.Request{Caller: s.caller(stream.Context()), Job: j, Open: u.records, Upload: u.memory, Detached: true})
	if err != nil {
		return err
	}
	hangUp := context.AfterFunc(stream.Context(), func() { r.Cancel(fault.CallEnded(stream.Context())) })
	defer hangUp()
	if err := stream.Send(&flight.PutResult{AppMetadata: encode(protocol.Run{Run: r.ID()})}); err != nil {
		r.Cancel(fault.CallEnded(stream.Context()))
		return err
	}
	read := make(chan error, 1)
	go func() { read <- r.WaitRead() }()
	if err := u.idle.awaitResult(read); err != nil {
		r.Cancel(err)
		return err
	}
	return nil
}

// DoExchange takes a job and its samples and sends back the edges that one
// solver finds, or, for the path echo, the samples as they were read.
func (s *Service) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	u, err := s.beginUpload(stream.Context(), stream.Recv)
	if err != nil {
		return err
	}
	defer u.memory.End()
	if err := s.receive(u); err != nil {
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
		j.Solvers = recovery.Resolved(j).Solvers[:1]
	case 1:
	default:
		return fault.Field("solvers", "an exchange returns the edges of one solver, and %d are named; name one, or use DoPut and DoGet", len(j.Solvers))
	}
	r, err := s.runs.Start(stream.Context(), runs.Request{Caller: s.caller(stream.Context()), Job: j, Open: u.records, Upload: u.memory})
	if err != nil {
		return err
	}
	defer r.Cancel(nil)
	defer s.runs.Hold(r)()
	ended := make(chan error, 1)
	go func() { ended <- r.WaitEnd() }()
	if err := u.idle.awaitResult(ended); err != nil {
		r.Cancel(err)
		return err
	}
	found, err := r.WaitTables(stream.Context(), j.Solvers[0])
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
