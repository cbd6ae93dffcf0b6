package server

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// A caller that does not take the list of its runs is not waited for without end.
func TestIdleList(t *testing.T) {

	l := listening(t, ListenConfig{Insecure: true, Config: Config{Limits: protocol.Limits{IdleSeconds: 0.2}}})
	ctx := bg(t)
	var labels []string
	for i := range 32 {
		labels = append(labels, fmt.Sprintf(`"k%d":"%s"`, i, strings.Repeat("v", 256)))
	}
	c := flight.NewClientFromConn(dial(t, l.target, grpc.WithInitialWindowSize(65535), grpc.WithInitialConnWindowSize(65535)), nil)
	for range 20 { // of which the list has 400 kB
		if _, err := put(ctx, t, c, `{"solvers":["bcd"],"penalty":0.1,"labels":{`+strings.Join(labels, ",")+`}}`, sampled(t, 3, 10)); err != nil {
			t.Fatal(err)
		}
	}
	stream, err := c.ListFlights(ctx, &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	for err == nil {
		_, err = stream.Recv()
	}
	if err == io.EOF {
		t.Fatal("the service has waited for its caller")
	}
	wantFault(t, err, codes.DeadlineExceeded, protocol.ReasonIdle, "")
}
