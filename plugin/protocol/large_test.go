package protocol

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gRPC answers a message that is far too large itself: whoever reads faults is told
// what the service would have said.
func TestMessageTooLarge(t *testing.T) {
	f := FaultOf(status.Error(codes.ResourceExhausted, "grpc: received message larger than max (160000577 vs. 83886080)"))
	if f.Reason != ReasonLimit || !strings.HasPrefix(f.Message, "a message of 152.6 MiB is larger than the limit of 80.0 MiB; send samples in batches of 1 to 4 MB") {
		t.Errorf("%+v", f)
	}
	for _, text := range []string{"grpc: received message larger than max", "slow down"} {
		if f := FaultOf(status.Error(codes.ResourceExhausted, text)); f.Reason != "" || f.Message != text {
			t.Errorf("%+v", f)
		}
	}
}

// An answer is not so long that clients refuse it.
func TestLongFault(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	f := &Fault{Code: codes.InvalidArgument.String(), Reason: ReasonInvalidJob, Message: "x: " + long + " is unknown; did you mean y?", Field: long, Column: long}
	s := f.GRPCStatus()
	got := FaultOf(s.Err())
	if len(got.Message) > 1000 || !utf8.ValidString(got.Message) || !strings.HasPrefix(got.Message, "x: ä") || !strings.HasSuffix(got.Message, "did you mean y?") {
		t.Errorf("the message is %q", got.Message)
	}
	if n := len(s.Proto().String()); n > 20_000 || got.Reason != ReasonInvalidJob || !strings.HasPrefix(got.Field, "ä") {
		t.Errorf("the status has %d bytes; %.100s", n, got.Field)
	}
	if f.Field != long {
		t.Error("the fault itself was changed")
	}
}
