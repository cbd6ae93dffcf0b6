package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines"
)

// start runs a job whose samples, if they are streamed, open opens. The run is
// held after its end if hold says so.
func (s *Service) start(ctx context.Context, r *run, open func() (array.RecordReader, error), hold bool) {
	go func() {
		defer s.work.Done()
		defer r.cancel(nil)
		ctx := s.observer.RunStarted(ctx, r.id, r.job.Solvers)
		s.log.Info("run started", "run", r.id, "solvers", r.job.Solvers, "input", arrowio.Redacted(r.job.Input))
		done := make(chan outcome, 1)
		go func() { done <- s.do(ctx, r, open) }()
		o := r.await(ctx, done)
		f := faultOf(ctx, o.err)
		if f != nil {
			f.Run = r.id
		}
		took := s.retire(r, o, f, hold)
		s.logEnd(r, o.err)
		s.observer.RunEnded(ctx, r.info().State, took, f)
		if o.abandoned {
			<-done
			s.release()
		}
	}()
}

// An outcome is what pipelines.Run has returned, or that it has not yet.
type outcome struct {
	result    *pipelines.Result
	err       error
	abandoned bool
}

// graceTime is how long a run that was cancelled may take to end in order.
const graceTime = 100 * time.Millisecond

// await returns the outcome of a run's work, or soon after ctx has ended that it
// is abandoned: work that is inside a kernel of linear algebra, which on a busy
// machine may take a second, ends in the background, and what it still says is
// not heard. It keeps its place among the runs at work until then.
func (r *run) await(ctx context.Context, done <-chan outcome) outcome {
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o
	case <-time.After(graceTime):
		return outcome{err: r.interrupted(ctx), abandoned: true}
	}
}

// do does the work of a run.
func (s *Service) do(ctx context.Context, r *run, open func() (array.RecordReader, error)) (o outcome) {
	o.err = s.guarded(func() (err error) {
		o.result, err = s.execute(ctx, r, open)
		return err
	})
	return o
}

// execute is pipelines.Run with what a run of the service gives it.
func (s *Service) execute(ctx context.Context, r *run, open func() (array.RecordReader, error)) (result *pipelines.Result, err error) {
	host := pipelines.Host{
		Stdin:         strings.NewReader(""),
		Stores:        s.stores,
		MostVariables: s.limits.Variables,
		Progress: func(p pipelines.Progress) {
			r.progress(p)
			if p.Done {
				s.observer.StageDone(ctx, p)
			}
		},
		Solved: func(n pipelines.Network) error { return s.keep(r, n) },
	}
	if open != nil {
		records, err := open()
		if err != nil {
			return nil, asTable(err)
		}
		defer records.Release()
		host.Records = records
	}
	return s.run(ctx, r.job, host)
}

// asTable makes an error of the stream itself one of the job's input.
func asTable(err error) error {
	var input *arrowio.InputError
	var corrupt *batch.CorruptError
	switch {
	case errors.As(err, &input):
		return &pipelines.JobError{Field: "input", Err: input}
	case errors.As(err, &corrupt):
		return &pipelines.JobError{Field: "input", Err: corrupt}
	}
	return err
}

func (s *Service) logEnd(r *run, err error) {
	info := r.info()
	args := []any{"run", r.id, "state", string(info.State), "seconds", fmt.Sprintf("%.3f", info.Seconds)}
	f := info.Error
	if f == nil {
		s.log.Info("run ended", args...)
		return
	}
	args = append(args, "code", f.Code, "error", f.Message)
	if stack := stackOf(err); stack != nil {
		args = append(args, "stack", string(stack))
	}
	if f.StatusCode() == codes.Internal {
		s.log.Error("run ended", args...)
		return
	}
	s.log.Warn("run ended", args...)
}
