package server

import (
	"cmp"
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"

	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/gate"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// A patience is how long connections are waited for.
type patience struct {
	// handshake is for all of TLS and the beginning of HTTP/2, however often
	// something of it arrives.
	handshake time.Duration
	// prove is until a first call has been let in, with its token if there are any.
	prove time.Duration
	// idle is without any call.
	idle time.Duration
	// request is for the handshake of TLS and the headers of a request for metrics.
	request time.Duration
}

func defaultPatience() patience {
	return patience{handshake: 10 * time.Second, prove: 30 * time.Second, idle: 10 * time.Minute, request: 5 * time.Second}
}

// maxHeaders is the size of a call's headers, in bytes as HTTP/2 counts them. A
// token and what traces carry take a few thousand.
const maxHeaders = 32 << 10

// boundConnections fills in the bounds of connections, of which the process has
// room for some; 0 if that is unknown.
func (c *ListenConfig) boundConnections(room int) error {
	switch {
	case c.MaxConnections < 0:
		return setting.Errorf(setting.MaxConnections, "%d leaves nothing; choose more than 0", c.MaxConnections)
	case c.MaxConnectionsPerPeer < 0:
		return setting.Errorf(setting.MaxConnectionsPerPeer, "%d leaves nothing; choose more than 0", c.MaxConnectionsPerPeer)
	case c.MaxConnectionsPerCaller < 0:
		return setting.Errorf(setting.MaxConnectionsPerCaller, "%d leaves nothing; choose more than 0", c.MaxConnectionsPerCaller)
	case room > 0 && c.MaxConnections > room:
		return setting.Errorf(setting.MaxConnections, "%d are more than the files that this process may open leave room for; choose %d at most, or raise that limit (ulimit -n)", c.MaxConnections, room)
	}
	if c.MaxConnections == 0 && 0 < room && room < DefaultMaxConnections {
		c.Logger.Warn("fewer connections are taken than by default: the process may open few files (ulimit -n)", "most", room)
		c.MaxConnections = room
	}
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultMaxConnections)
	c.MaxConnectionsPerPeer = cmp.Or(c.MaxConnectionsPerPeer, DefaultMaxConnectionsPerPeer)
	c.MaxConnectionsPerCaller = cmp.Or(c.MaxConnectionsPerCaller, (c.MaxConnections+1)/2)
	return nil
}

// bounded refuses connections beyond the bounds.
func (l *Listener) bounded(to net.Listener) *gate.Listener {
	return gate.New(to, gate.Config{
		Most: l.config.MaxConnections, MostPerPeer: l.config.MaxConnectionsPerPeer,
		MostPerCaller: l.config.MaxConnectionsPerCaller,
		ProveTime:     l.patience.prove, Logger: l.config.Logger,
	})
}

// connectionOptions end connections that waste their place. They come after those
// that look at tokens.
func (l *Listener) connectionOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ConnectionTimeout(l.patience.handshake),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingTime, Timeout: pongTime, MaxConnectionIdle: l.patience.idle}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := l.admit(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := l.admit(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(service, stream)
		}),
	}
}

// admit lets the connection of a call stay, or refuses the call: its caller has
// enough connections. Health, which needs no token, lets none stay where other calls
// need one.
func (l *Listener) admit(ctx context.Context, method string) error {
	if isHealth(method) && l.config.TokenFile != "" {
		return nil
	}
	p, ok := peer.FromContext(ctx)
	if !ok || gate.Admit(p.Addr, string(l.service.caller(ctx))) {
		return nil
	}
	return fault.New(codes.ResourceExhausted, protocol.ReasonLimit,
		"this caller has %d connections already, which is the most for one caller; call on one of them, close one, or raise gladflow serve --max-connections-per-caller", l.config.MaxConnectionsPerCaller)
}
