package plugin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// An AttachConfig says where a service is.
type AttachConfig struct {
	// Address is host:port, or unix:path.
	Address string
	// TLS is the configuration of the connection; &tls.Config{} trusts what
	// this machine trusts. Certificates in it are for mutual TLS.
	TLS *tls.Config
	// Insecure is a connection without TLS. Exactly one of the two is given.
	Insecure bool
	// Token is the bearer token that the service asks for, if it does. Without
	// TLS it is sent to loopback addresses and Unix sockets only.
	Token string
	// BatchBytes is as in Config.
	BatchBytes int
}

// Attach connects to a service that gladflow serve --listen has started. It
// returns when the service has answered, so a wrong address, certificate or
// token fails here.
func Attach(ctx context.Context, c AttachConfig) (*Client, error) {
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	target := c.Address
	if !strings.HasPrefix(target, "unix:") {
		target = "dns:///" + target
	}
	conn, err := grpc.NewClient(target, options...)
	if err != nil {
		return nil, fmt.Errorf("plugin: %q is no address; give host:port or unix:path: %w", c.Address, err)
	}
	client := newClient(conn, nil, c.BatchBytes)
	if err := client.Ping(ctx); err != nil {
		client.Close()
		return nil, c.explain(ctx, err)
	}
	return client, nil
}

func (c AttachConfig) options() ([]grpc.DialOption, error) {
	local, err := c.local()
	switch {
	case err != nil:
		return nil, err
	case c.Insecure == (c.TLS != nil):
		return nil, errors.New("plugin: set exactly one of AttachConfig.TLS and AttachConfig.Insecure")
	case c.Token != "" && c.Insecure && !local:
		return nil, fmt.Errorf("plugin: a token would be readable on its way to %s; set AttachConfig.TLS", c.Address)
	}
	options := append(throughput(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 10 * time.Second}),
		// A machine that vanishes must not hold a call for ever. Servers that
		// do not say otherwise take pings every five minutes for abuse.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 6 * time.Minute, Timeout: 20 * time.Second}),
	)
	if c.Insecure {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	} else {
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(c.TLS)))
	}
	if c.Token != "" {
		options = append(options, grpc.WithPerRPCCredentials(token{c.Token, !c.Insecure}))
	}
	return options, nil
}

// local says whether what is sent to the address stays on this machine.
func (c AttachConfig) local() (bool, error) {
	if path, ok := strings.CutPrefix(c.Address, "unix:"); ok && path != "" {
		return true, nil
	}
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil || port == "" || strings.Contains(c.Address, "/") {
		return false, fmt.Errorf("plugin: %q is no address; give host:port or unix:path", c.Address)
	}
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || ip != nil && ip.IsLoopback(), nil
}

func (c AttachConfig) explain(ctx context.Context, err error) error {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied:
		return fmt.Errorf("plugin: the service at %s does not let this host in; check AttachConfig.Token and the certificate: %w", c.Address, err)
	case codes.Unimplemented:
		return fmt.Errorf("plugin: what answers at %s is no gladflow service; check the address: %w", c.Address, err)
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable:
		return fmt.Errorf("plugin: no gladflow service answers at %s; check that gladflow serve runs there, with TLS or without as here: %w", c.Address, err)
	}
	return fmt.Errorf("plugin: the service at %s: %w", c.Address, err)
}

// A token is sent with every call.
type token struct {
	token  string
	secure bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + t.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (t token) RequireTransportSecurity() bool { return t.secure }
