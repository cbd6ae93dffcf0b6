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
		o := s.outcome(ctx, r, open)
		f := faultOf(ctx, o.err)
		if f != nil {
			f.Run = r.id
		}
		took := r.end(o.result, f)
		s.retire(r, hold)
		s.logEnd(r, o.err)
		s.observer.RunEnded(ctx, r.info().State, took, f)
	}()
}

// An outcome is what pipelines.Run has returned.
type outcome struct {
	result *pipelines.Result
	err    error
}

// graceTime is how long a run that was cancelled may take to end in order.
const graceTime = 100 * time.Millisecond

// outcome does the work of a run. It returns with the work, or soon after ctx
// has ended: work that is inside a kernel of linear algebra, which on a busy
// machine may take a second, then ends in the background, and what it still
// says is not heard. Close waits for it.
func (s *Service) outcome(ctx context.Context, r *run, open func() (array.RecordReader, error)) outcome {
	done := make(chan outcome, 1)
	s.work.Go(func() {
		var o outcome
		o.err = s.guarded(func() (err error) {
			o.result, err = s.execute(ctx, r, open)
			return err
		})
		done <- o
	})
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o
	case <-time.After(graceTime):
		return outcome{err: r.interrupted(ctx)}
	}
}

// execute is pipelines.Run with what a run of the service gives it.
func (s *Service) execute(ctx context.Context, r *run, open func() (array.RecordReader, error)) (result *pipelines.Result, err error) {
	host := pipelines.Host{
		Stdin:         strings.NewReader(""),
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
	if errors.As(err, &input) {
		return &pipelines.JobError{Field: "input", Err: input}
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
