package server

import (
	"cmp"
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"

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
	case room > 0 && c.MaxConnections > room:
		return setting.Errorf(setting.MaxConnections, "%d are more than the files that this process may open leave room for; choose %d at most, or raise that limit (ulimit -n)", c.MaxConnections, room)
	}
	if c.MaxConnections == 0 && 0 < room && room < DefaultMaxConnections {
		c.Logger.Warn("fewer connections are taken than by default: the process may open few files (ulimit -n)", "most", room)
		c.MaxConnections = room
	}
	c.MaxConnections = cmp.Or(c.MaxConnections, DefaultMaxConnections)
	c.MaxConnectionsPerPeer = cmp.Or(c.MaxConnectionsPerPeer, DefaultMaxConnectionsPerPeer)
	return nil
}

// bounded refuses connections beyond the bounds.
func (l *Listener) bounded(to net.Listener) *gate.Listener {
	return gate.New(to, gate.Config{
		Most: l.config.MaxConnections, MostPerPeer: l.config.MaxConnectionsPerPeer,
		ProveTime: l.patience.prove, Logger: l.config.Logger,
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
			l.prove(ctx, info.FullMethod)
			return next(ctx, request)
		}),
		grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			l.prove(stream.Context(), info.FullMethod)
			return next(service, stream)
		}),
	}
}

// prove lets the connection of a call stay. Health, which needs no token, proves
// nothing where other calls need one.
func (l *Listener) prove(ctx context.Context, method string) {
	if isHealth(method) && l.config.TokenFile != "" {
		return
	}
	if p, ok := peer.FromContext(ctx); ok {
		gate.Prove(p.Addr)
	}
}
