package server

import (
	"crypto/tls"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// A connection on which a caller, known by its certificate, only asks for the health
// of the service is one of those that it may have.
func TestHealthCountsWithTheConnectionsOfACaller(t *testing.T) {
	clients, services := newAuthority(t), newAuthority(t)
	config := ListenConfig{MaxConnectionsPerCaller: 1, ClientCAFile: clients.file}
	config.CertFile, config.KeyFile = services.pair(t, 2)
	l := listening(t, config)
	health := func(name string) codes.Code {
		c := services.client(t, "", "")
		c.Certificates = []tls.Certificate{*clients.identity(t, named(name))}
		_, err := grpc_health_v1.NewHealthClient(dial(t, l.target, withTLS(c))).Check(bg(t), &grpc_health_v1.HealthCheckRequest{})
		return status.Code(err)
	}
	if first, second, other := health("alice"), health("alice"), health("bob"); first != codes.OK || second != codes.ResourceExhausted || other != codes.OK {
		t.Errorf("the first connection of a caller: %v, the second: %v, that of another: %v", first, second, other)
	}
}
