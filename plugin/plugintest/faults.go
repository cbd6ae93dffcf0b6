package plugintest

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A refusal is the error that a wrong call must have. What is empty may be
// anything.
type refusal struct {
	codes         []codes.Code
	reason        string
	field, column string
	row           int
}

func invalid(reason string) refusal {
	return refusal{codes: []codes.Code{codes.InvalidArgument}, reason: reason}
}

// check fails unless err is the refusal.
func (r refusal) check(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s must be refused with %v, and was not", what, r.codes)
		return
	}
	f := protocol.FaultOf(err)
	switch {
	case !slices.Contains(r.codes, f.StatusCode()):
		t.Errorf("%s must be refused with %v, not with %s: %s", what, r.codes, f.Code, f.Message)
	case f.Message == "":
		t.Errorf("%s: the error must have a message for people", what)
	case r.reason != "" && f.Reason != r.reason:
		t.Errorf("%s: the status must carry an ErrorInfo of the domain %q with the reason %s, and has %q: %s", what, protocol.Domain, r.reason, f.Reason, f.Message)
	case r.field != "" && f.Field != r.field:
		t.Errorf("%s: the metadata of the ErrorInfo must have field=%s, not %q: %s", what, r.field, f.Field, f.Message)
	case r.field != "" && !violates(err, r.field):
		t.Errorf("%s: the status must carry a BadRequest with the field %q: %s", what, r.field, f.Message)
	case r.column != "" && f.Column != r.column:
		t.Errorf("%s: the metadata of the ErrorInfo must have column=%s, not %q: %s", what, r.column, f.Column, f.Message)
	case r.row != 0 && f.Row != r.row:
		t.Errorf("%s: the metadata of the ErrorInfo must have row=%d, counted from 1 over the whole table, not %d: %s", what, r.row, f.Row, f.Message)
	}
}

// violates says whether an error has a BadRequest for a field.
func violates(err error, field string) bool {
	for _, d := range status.Convert(err).Details() {
		b, ok := d.(*errdetails.BadRequest)
		if !ok {
			continue
		}
		for _, v := range b.GetFieldViolations() {
			if v.GetField() == field {
				return true
			}
		}
	}
	return false
}

// within fails if f takes longer than limit.
func within(t testing.TB, limit time.Duration, what string, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit {
		t.Errorf("%s must take %v at most, and took %v", what, limit, took)
	}
}

// fatal stops a case over an error that should not have come.
func fatal(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// lives fails unless the service still does a job.
func (s *service) lives(t testing.TB, after string) {
	t.Helper()
	table := chain(99, 6, 100)
	records, err := s.exchange(soon(t), quick().command(), table.plain())
	if err != nil {
		t.Fatalf("after %s the service must go on as before; a job fails: %v", after, err)
	}
	rightEdges(t, table, edgesOf(t, records))
}

// eventually waits until f is true, and fails after limit.
func eventually(t testing.TB, limit time.Duration, what string, f func() bool) {
	t.Helper()
	for began := time.Now(); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Since(began) > limit {
			t.Fatalf("after %v: %s", limit, what)
		}
	}
}
