package attack

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Clients that send next to nothing, or take nothing, hold up nobody else and are
// ended.
func TestSlowClients(t *testing.T) {
	onLinux(t)
	const most = 512 << 20
	s := serve(t, "--files", "none", "--idle-timeout", "1s")
	s.lives(t, "its start", most)
	before := descriptors(s.cmd.Process.Pid)
	preface := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	settings := []byte{0, 0, 0, 4, 0, 0, 0, 0, 0}
	headers := []byte{0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0, 1} // a frame of 16 MB that never comes
	var open []net.Conn
	for i := range times(60, 400) {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			break // there may be a limit
		}
		open = append(open, conn)
		switch i % 5 {
		case 1:
			conn.Write(preface[:i%len(preface)])
		case 2:
			conn.Write(bytes.Join([][]byte{preface, settings[:4]}, nil))
		case 3:
			conn.Write(bytes.Join([][]byte{preface, settings, headers}, nil))
		case 4:
			conn.Write([]byte("GET / HTTP/1.1\r\n"))
		}
	}
	began := time.Now()
	s.lives(t, "slow connections", most)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a good call takes %v beside %d slow connections", took, len(open))
	}
	for _, conn := range open {
		conn.Close()
	}
	eventually(t, 5*time.Second, "slow connections are still open", func() bool { return descriptors(s.cmd.Process.Pid) <= before+2 })
}

// Calls that wait for a message, or whose answer is not taken, end as idle.
func TestIdleCalls(t *testing.T) {
	t.Parallel()
	onLinux(t)
	s := serve(t, "--files", "none", "--idle-timeout", "1s")
	job := map[string]any{"solvers": []string{"bcd"}, "penalty": 0.3}
	messages := record(t, command(job), goodTable(), 10)
	echo := record(t, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{protocol.PathEcho}}, arrowiotest.Constant(1<<16, 8), 1<<13)
	for name, call := range map[string]func() error{
		"a put without a message": func() error {
			stream, err := s.flights.DoPut(soon(t))
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"a put that stops": func() error {
			stream, err := s.flights.DoPut(soon(t))
			if err == nil {
				err = stream.Send(messages[0])
			}
			for err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"an exchange that stops": func() error {
			stream, err := s.flights.DoExchange(soon(t))
			for i := 0; err == nil && i < 2; i++ {
				err = stream.Send(messages[i])
			}
			for err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"an echo that is not taken": func() error {
			stream, err := s.flights.DoExchange(soon(t))
			if err != nil {
				return err
			}
			go func() {
				for i := 0; stream.Send(echo[min(i, 1+i%(len(echo)-1))]) == nil; i++ {
				}
			}()
			time.Sleep(3 * time.Second) // what was sent before fills windows
			for {
				if _, err := stream.Recv(); err != nil {
					return err
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			err := call()
			f := protocol.FaultOf(err)
			if f == nil || f.Code != codes.DeadlineExceeded.String() || f.Reason != protocol.ReasonIdle || time.Since(began) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}
