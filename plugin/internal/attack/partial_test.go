package attack

import (
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// Messages that come but for their last byte are counted while they come: many of them
// do not take more memory than the limit, and other calls are taken meanwhile.
func TestMessagesInPart(t *testing.T) {
	onLinux(t)
	const limit, message = 512 << 20, 60 << 20
	flight := "/arrow.flight.protocol.FlightService/"
	methods := []string{flight + "DoPut", flight + "DoAction", flight + "DoExchange", flight + "GetFlightInfo", "/grpc.health.v1.Health/Check"}
	for _, method := range methods[:times(2, len(methods))] {
		t.Run(method, func(t *testing.T) {
			s := serve(t, "--files", "none", "--idle-timeout", "3s", "--max-memory", "512MiB")
			s.lives(t, "its start", limit)
			if _, err := s.action(t, protocol.ActionDescribe, nil); err != nil { // connects
				t.Fatal(err)
			}
			var group sync.WaitGroup
			var longest time.Duration
			end := make(chan struct{})
			for range 4 { // connections
				var protocols http.Protocols
				protocols.SetUnencryptedHTTP2(true)
				client := &http.Client{Transport: &http.Transport{Protocols: &protocols, MaxConnsPerHost: 1}}
				defer client.CloseIdleConnections()
				for range times(8, 40) {
					group.Go(func() {
						body := &inPart{left: 5 + message - 1, end: end}
						request, err := http.NewRequest("POST", "http://"+s.address+method, body)
						if err != nil {
							t.Error(err)
							return
						}
						request.Header.Set("Content-Type", "application/grpc")
						request.Header.Set("Te", "trailers")
						if reply, err := client.Do(request); err == nil {
							io.Copy(io.Discard, reply.Body)
							reply.Body.Close()
						}
					})
				}
			}
			for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(100 * time.Millisecond) {
				call := time.Now()
				if _, err := s.action(t, protocol.ActionDescribe, nil); err != nil {
					t.Errorf("meanwhile: %v", err)
				}
				longest = max(longest, time.Since(call))
			}
			close(end)
			group.Wait()
			s.lives(t, "messages in part", limit)
			t.Logf("the process has taken %d MiB, and other calls took %v at the most", peak(s.cmd.Process.Pid)>>20, longest)
		})
	}
}

// inPart is the body of a call: the head of a message, and all of it but the last byte.
type inPart struct {
	read, left int
	end        <-chan struct{}
}

// Read implements io.Reader.
func (b *inPart) Read(p []byte) (int, error) {
	if b.left == 0 {
		<-b.end
		return 0, io.ErrUnexpectedEOF
	}
	p = p[:min(len(p), b.left)]
	clear(p)
	if b.read == 0 && len(p) >= 5 {
		binary.BigEndian.PutUint32(p[1:], uint32(b.left-5+1))
	}
	b.read += len(p)
	b.left -= len(p)
	return len(p), nil
}
