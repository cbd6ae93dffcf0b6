package server

import (
	"context"
	"errors"
	"io"
	"reflect"

	generated "github.com/apache/arrow/go/v15/arrow/flight/gen/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// Register adds the Flight service to a server. The health service is left to
// the caller.
//
// All methods are registered as ones that stream in both directions, which is the
// same on the wire. gRPC would take the message of a unary call before it calls
// interceptors, so before the token is looked at, and would answer a call without a
// message itself.
func (s *Service) Register(g *grpc.Server) error {
	s.register(g, generated.FlightService_ServiceDesc, s)
	return nil
}

// registerHealth adds the health service in the same way.
func (s *Service) registerHealth(g *grpc.Server, health grpc_health_v1.HealthServer) {
	s.register(g, grpc_health_v1.Health_ServiceDesc, health)
}

func (s *Service) register(g *grpc.Server, d grpc.ServiceDesc, service any) {
	streams := make([]grpc.StreamDesc, 0, len(d.Methods)+len(d.Streams))
	for _, m := range d.Methods {
		streams = append(streams, grpc.StreamDesc{StreamName: m.MethodName, Handler: func(service any, stream grpc.ServerStream) error {
			reply, err := m.Handler(service, stream.Context(), stream.RecvMsg, nil)
			if err != nil {
				return err
			}
			return stream.SendMsg(reply)
		}})
	}
	streams = append(streams, d.Streams...)
	for i, m := range streams {
		streams[i].ServerStreams, streams[i].ClientStreams = true, true
		if !m.ClientStreams {
			streams[i].Handler = s.awaitRequest(m.Handler)
		}
	}
	d.Methods, d.Streams = nil, streams
	g.RegisterService(&d, service)
}

// awaitRequest ends a call of one message whose caller does not send it, or does not
// take what is sent back.
func (s *Service) awaitRequest(handler grpc.StreamHandler) grpc.StreamHandler {
	return func(service any, stream grpc.ServerStream) error {
		idle := s.idleTimer()
		return idle.await(func() error { return handler(service, &request{stream, s, idle}) })
	}
}

// A request is a stream of which one message is read.
type request struct {
	grpc.ServerStream
	service *Service
	idle    *idleTimer
}

// RecvMsg implements grpc.ServerStream.
func (r *request) RecvMsg(m any) error {
	end, err := r.service.runs.AwaitMessage(r.Context(), r.service.caller(r.Context()), connection(r.Context()))
	if err != nil {
		return err
	}
	defer end()
	err = r.idle.duringRequest(func() error { return r.ServerStream.RecvMsg(m) })
	if err == io.EOF {
		return fault.Call("the call has no message; send one")
	}
	return err
}

// connection tells the connection of a call from others.
func connection(ctx context.Context) any {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil || !reflect.TypeOf(p.Addr).Comparable() {
		return nil
	}
	return p.Addr // a pointer, one for every connection
}

// SendMsg implements grpc.ServerStream.
func (r *request) SendMsg(m any) error {
	return r.idle.during(func() error { return r.ServerStream.SendMsg(m) })
}

// callOptions make a server tell callers in words what is wrong with a call.
func (s *Service) callOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			return fault.New(codes.Unimplemented, protocol.ReasonInvalidCall, "there is no method %q; call those of %s", method, flightService)
		}),
		grpc.ChainUnaryInterceptor(s.catchUnary),
		grpc.ChainStreamInterceptor(s.catchStream),
	}
}

// catchUnary turns panics of a call into errors.
func (s *Service) catchUnary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (reply any, err error) {
	err = fault.Catch(s.log, func() (err error) {
		reply, err = next(ctx, request)
		return err
	})
	return reply, err
}

// catchStream turns panics of a call into errors, and refuses messages that cannot
// be read, and calls beyond those that may be open.
func (s *Service) catchStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	end, err := s.runs.BeginCall(s.caller(stream.Context()))
	if err != nil {
		return err
	}
	defer end()
	err = fault.Catch(s.log, func() error { return next(service, &readable{stream}) })
	if known := new(protocol.Fault); err == nil || errors.As(err, &known) || isHealth(info.FullMethod) {
		return err
	}
	return fault.OfCall(stream.Context(), err)
}

// A readable is a stream whose messages the codec could read.
type readable struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (r *readable) RecvMsg(m any) error {
	if err := r.ServerStream.RecvMsg(m); err != nil {
		return fault.Received(err)
	}
	if unreadable(m) {
		return fault.Call("a message cannot be read as one of Arrow Flight's: it is cut short or broken; send it with a Flight client")
	}
	return nil
}
