package plugintest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

// The test binary is a port with a defect where a host starts it with this.
const portDefect = "PLUGINTEST_PORT"

func TestMain(m *testing.M) {
	defect := os.Getenv(portDefect)
	if defect == "" {
		os.Exit(m.Run())
	}
	if defect == "cookieless" {
		os.Setenv(protocol.CookieKey, protocol.CookieValue)
	}
	if os.Getenv(protocol.CookieKey) != protocol.CookieValue {
		fmt.Println("This is a plugin.")
		os.Exit(1)
	}
	if err := servePort(defect); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// servePort is a plugin as an author of a port may write it, around the real
// service. It does not look whether its host lives.
func servePort(defect string) error {
	if defect == "early chatter" {
		fmt.Println("hello")
	}
	service, err := server.New(server.Config{})
	if err != nil {
		return err
	}
	defer service.Close()
	stdout := os.Stdout // go-plugin replaces it
	switch defect {
	case "plain log":
		fmt.Fprintln(os.Stderr, "starting")
	case "interrupted":
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt)
		go func() {
			<-signals
			os.Exit(130)
		}()
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: protocol.Plugins(service.Register),
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			if defect != "small messages" {
				o = append(o, service.ServerOptions()...)
			}
			return grpc.NewServer(append(o, grpc.ChainStreamInterceptor(spoil(defect, stdout)))...)
		},
	})
	return nil
}

// spoil is what goes wrong with calls.
func spoil(defect string, stdout io.Writer) grpc.StreamServerInterceptor {
	return func(service any, stream grpc.ServerStream, call *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		switch defect {
		case "chatter":
			fmt.Fprintln(stdout, "hello")
		case "deaf":
			stream = deaf{stream}
		case "loads", "blind":
			stream = changed{stream}
		case "silent":
			if call.FullMethod == "/arrow.flight.protocol.FlightService/DoGet" {
				stream = halved{stream}
			}
		}
		err := next(service, stream)
		switch {
		case defect == "slow" && call.FullMethod == "/arrow.flight.protocol.FlightService/DoAction":
			time.Sleep(400 * time.Millisecond)
		case defect == "no details" && err != nil:
			s := status.Convert(err)
			err = status.Error(s.Code(), s.Message())
		}
		return err
	}
}

// deaf does not hear that the caller has hung up.
type deaf struct{ grpc.ServerStream }

func (d deaf) Context() context.Context { return context.WithoutCancel(d.ServerStream.Context()) }

// changed sends pages that load something, and looks that see nothing missing.
type changed struct{ grpc.ServerStream }

func (c changed) SendMsg(m any) error {
	switch m := m.(type) {
	case *flight.Result:
		m.Body = bytes.Replace(m.Body, []byte("<body>"), []byte(`<body><script src="https://example.org/x.js"></script>`), 1)
	case *flight.PutResult:
		m.AppMetadata = bytes.Replace(m.AppMetadata, []byte(`"whole_samples":199`), []byte(`"whole_samples":200`), 1)
	}
	return c.ServerStream.SendMsg(m)
}

// halved sends schemas and forgets batches.
type halved struct{ grpc.ServerStream }

func (h halved) SendMsg(m any) error {
	if d, ok := m.(*flight.FlightData); ok && len(d.DataBody) > 0 {
		return nil
	}
	return h.ServerStream.SendMsg(m)
}
