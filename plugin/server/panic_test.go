package server

import (
	"context"
	"regexp"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Of a panic its caller is told that there was one; the words of Go are in the log.
func TestPanicOfTheRuntimeIsNotTold(t *testing.T) {
	_, c := servedWith(t, Config{}, func(_ context.Context, j job.Job, _ recovery.Host) (*job.Result, error) {
		return nil, job.Interrupted([]context.Context{}[len(j.Labels)])
	})
	_, err := put(bg(t), t, c, `{}`, sampled(t, 3, 10))
	f := wantFault(t, err, codes.Internal, protocol.ReasonPanic, "")
	if said := regexp.MustCompile(`runtime error|index out of range`).FindString(f.Message); said != "" {
		t.Errorf("%q: %s", said, f.Message)
	}
}
