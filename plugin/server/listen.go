package server

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gladflow/gladflow/plugin/server/internal/gate"
	"github.com/gladflow/gladflow/plugin/server/internal/security"
	"github.com/gladflow/gladflow/plugin/server/internal/setting"
	"github.com/gladflow/gladflow/plugin/server/internal/telemetry"
)

// Defaults of a ListenConfig.
const (
	DefaultAddress      = "127.0.0.1:8815"
	DefaultDrainTimeout = 30 * time.Second

	DefaultMaxConnections        = 1000
	DefaultMaxConnectionsPerPeer = 100
)

// ErrRunsCancelled is what Serve returns when runs had not ended by the end of
// the drain, or Stop was called.
var ErrRunsCancelled = errors.New("runs were cancelled, since they had not ended when the service did")

// A ListenConfig says where the service is offered to other processes, and to
// whom. Either a certificate or Insecure is needed.
type ListenConfig struct {
	Config
	// Address is host:port, or unix: and the path of a socket. Who may connect
	// to a socket is what the process's umask leaves. Default: DefaultAddress.
	Address string
	// CertFile and KeyFile are the certificate (with those between it and its
	// authority) and its key, in PEM. They are read again when they change.
	CertFile, KeyFile string
	// ClientCAFile holds the authorities, in PEM, that sign the certificates of
	// clients. Without it clients need no certificate.
	ClientCAFile string
	// TokenFile holds bearer tokens, one a line; lines that begin with # are
	// not. Every call but those of health needs one of them. It is read again
	// when it changes. Without it calls need no token.
	//
	// A line "# caller: NAME" directly above a token says whose it is: tokens of
	// one name are one caller. A token without a name is a caller of its own.
	TokenFile string
	// Insecure serves without TLS, on addresses of this machine alone.
	Insecure bool
	// MaxConnections is the number of connections at the same time. Default (0):
	// DefaultMaxConnections, or fewer if the process may not open so many files.
	MaxConnections int
	// MaxConnectionsPerPeer is how many of them one peer may have: an address of
	// IPv4, a network of 64 bits of IPv6, and on Unix sockets a user, or on other
	// systems than Linux everyone. Default (0): DefaultMaxConnectionsPerPeer.
	MaxConnectionsPerPeer int
	// MaxConnectionsPerCaller is on how many connections one caller may make calls,
	// where callers are known; calls on others are refused. Default (0): half of
	// MaxConnections.
	MaxConnectionsPerCaller int
	// MetricsAddress is host:port of /metrics and /healthz: over plain HTTP on
	// addresses of this machine alone, and over TLS with CertFile elsewhere, where
	// /metrics wants a token of TokenFile or a certificate of ClientCAFile.
	// Default: neither.
	MetricsAddress string
	// MetricsInsecure serves them over plain HTTP to all who can connect.
	MetricsInsecure bool
	// DrainTimeout is how long runs and calls may go on once the service has
	// been told to end. Default (0): DefaultDrainTimeout; negative: not at all.
	DrainTimeout time.Duration
}

// A Listener offers the service at an address, from Serve on.
type Listener struct {
	service   *Service
	grpc      *grpc.Server
	health    *health.Server
	listener  *gate.Listener
	http      *httpServer          // nil without MetricsAddress
	telemetry *telemetry.Telemetry // nil if off
	config    ListenConfig
	patience  patience

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	ending   chan struct{} // closed when the last calls end
}

// Listen takes the address; calls wait until Serve. Errors are a *SettingError
// where c cannot be used.
//
// Traces and metrics are exported as the OTEL_* variables of the environment
// say: with OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER, or with an endpoint
// (OTEL_EXPORTER_OTLP_ENDPOINT, or that of traces or metrics), and without
// OTEL_SDK_DISABLED. The other variables of OpenTelemetry's specification hold as
// well. By default nothing is exported.
func Listen(ctx context.Context, c ListenConfig) (*Listener, error) {
	return listen(ctx, c, defaultPatience())
}

func listen(ctx context.Context, c ListenConfig, p patience) (*Listener, error) {
	c.Address = cmp.Or(c.Address, DefaultAddress)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if err := c.boundConnections(gate.Room()); err != nil {
		return nil, err
	}
	if c.MetricsInsecure && c.MetricsAddress == "" {
		return nil, setting.Errorf(setting.MetricsInsecure, "there are no metrics; give their address with %s, or leave this out", setting.MetricsAddress)
	}
	secured := c.security()
	options, err := secured.Options(isHealth)
	if err != nil {
		return nil, err
	}
	if c.Caller == nil && secured.KnowsCallers() {
		c.Caller = security.CallerOf
	}
	l := &Listener{patience: p, stop: make(chan struct{}), ending: make(chan struct{})}
	var registry *prometheus.Registry
	if c.MetricsAddress != "" {
		registry = prometheus.NewRegistry()
	}
	l.telemetry = telemetry.New(ctx, telemetry.Config{
		Registry: registry, Console: os.Stderr, Logger: c.Logger, Next: c.Observer,
	})
	if l.telemetry != nil {
		c.Observer = l.telemetry
	}
	l.config = c
	if err := l.open(ctx, registry, options); err != nil {
		if l.listener != nil {
			l.listener.Close()
		}
		l.telemetry.Shutdown(ctx)
		return nil, err
	}
	return l, nil
}

func (c *ListenConfig) security() security.Config {
	return security.Config{
		CertFile: c.CertFile, KeyFile: c.KeyFile, ClientCAFile: c.ClientCAFile, TokenFile: c.TokenFile,
		Insecure: c.Insecure, Logger: c.Logger,
	}
}

// open makes the service and takes the addresses.
func (l *Listener) open(ctx context.Context, registry *prometheus.Registry, options []grpc.ServerOption) error {
	bound, err := bind(ctx, &l.config)
	if err != nil {
		return err
	}
	l.listener = l.bounded(bound)
	if l.config.MetricsAddress != "" {
		if l.http, err = listenHTTP(ctx, &l.config, l.patience, registry); err != nil {
			return err
		}
	}
	if l.service, err = New(l.config.Config); err != nil {
		l.http.close()
		return err
	}
	l.telemetry.Measure(l.service.resultBytes)
	l.telemetry.MeasureConnections(l.listener.Stats)

	// Who calls comes before whatever else looks at a call.
	options = append(options, l.watchOption())
	options = append(options, l.service.ServerOptions()...)
	options = append(options, l.connectionOptions()...)
	l.grpc = grpc.NewServer(append(options, l.telemetry.ServerOptions(flightService)...)...)
	if err := l.service.Register(l.grpc); err != nil {
		l.http.close()
		l.service.Close()
		return err
	}
	l.health = health.NewServer()
	for _, name := range []string{"", flightService} {
		l.health.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	l.service.registerHealth(l.grpc, l.health)
	return nil
}

// Names of services on the wire.
const (
	flightService = "arrow.flight.protocol.FlightService"
	healthPrefix  = "/grpc.health.v1.Health/"
)

// isHealth says whether a method is one of the health service.
func isHealth(method string) bool { return strings.HasPrefix(method, healthPrefix) }

// A SettingError says which setting of a ListenConfig cannot be used: Setting is
// its field, such as CertFile, and Reason(name) says what is wrong and what to do,
// with other settings called what name returns for their fields. The user can put
// it right, so commands exit with code 2.
type SettingError = setting.Error

// bind takes the address.
func bind(ctx context.Context, c *ListenConfig) (net.Listener, error) {
	if path, ok := strings.CutPrefix(c.Address, "unix:"); ok {
		return bindSocket(ctx, strings.TrimPrefix(path, "//"))
	}
	at, err := security.ParseAddress(ctx, setting.Address, c.Address)
	if err != nil {
		return nil, err
	}
	if c.Insecure && !at.Local {
		return nil, setting.Errorf(setting.Insecure, "%s can be reached from other machines; listen on 127.0.0.1, or secure connections with %s and %s",
			c.Address, setting.CertFile, setting.KeyFile)
	}
	return bindTCP(ctx, setting.Address, at)
}

// Address is where the service is, as Arrow Flight writes locations:
// grpc://127.0.0.1:8815, grpc+tls:// or grpc+unix://.
func (l *Listener) Address() string {
	address := l.listener.Addr()
	switch {
	case address.Network() == "unix":
		return "grpc+unix://" + address.String()
	case l.config.Insecure:
		return "grpc://" + address.String()
	}
	return "grpc+tls://" + address.String()
}

// MetricsAddress is host:port of /metrics and /healthz; empty if there are none.
func (l *Listener) MetricsAddress() string { return l.http.address() }

// Serve serves until ctx ends, and then lets runs and calls end: new runs are
// refused, health is NOT_SERVING, everything else goes on for DrainTimeout at
// the most. It returns nil if all runs have ended by themselves, and
// ErrRunsCancelled if not. It is called once.
func (l *Listener) Serve(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- l.grpc.Serve(l.listener) }()
	l.http.serve()
	l.config.Logger.Info("listening", "address", l.Address(), "tls", !l.config.Insecure,
		"client_certificates", l.config.ClientCAFile != "", "tokens", l.config.TokenFile != "")
	var err error
	select {
	case err = <-served: // it cannot accept connections any more
	case <-ctx.Done():
		err = l.drain()
	case <-l.stop:
		err = l.drain()
	}
	l.cancelRuns()
	l.grpc.Stop()
	l.http.close()
	flushing, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	l.telemetry.Shutdown(flushing)
	return err
}

// Stop makes Serve return at once, with or without a drain under way.
func (l *Listener) Stop() { l.stopOnce.Do(func() { close(l.stop) }) }

// flushTimeout is how long the last traces and metrics may take to be exported,
// cancelTimeout how long runs may take to end when they are cancelled, and then
// calls to hear of it.
const (
	flushTimeout  = 2 * time.Second
	cancelTimeout = 500 * time.Millisecond
)

// drain lets runs and then calls end.
func (l *Listener) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.config.DrainTimeout)
	defer cancel()
	go func() {
		select {
		case <-l.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	log := l.config.Logger
	log.Info("ending: new runs are refused", "running", l.service.Stats().Running, "timeout", l.config.DrainTimeout.String())
	l.health.Shutdown()
	l.http.drain()
	if l.service.Drain(ctx) == nil {
		l.endCalls(ctx)
		return nil
	}
	log.Warn("runs are cancelled: they had not ended in time", "running", l.service.Stats().Running)
	l.cancelRuns()
	last, cancelLast := context.WithTimeout(context.Background(), cancelTimeout)
	defer cancelLast()
	l.endCalls(last)
	return ErrRunsCancelled
}

// cancelRuns cancels the runs that are left, and waits no longer than cancelTimeout
// for work that does not hear of it: it ends with the process.
func (l *Listener) cancelRuns() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		l.service.Close()
	}()
	select {
	case <-closed:
	case <-time.After(cancelTimeout):
		l.config.Logger.Warn("runs are left behind: they did not end when they were cancelled")
	}
}

// endCalls takes no more calls and lets those under way end, until ctx does.
func (l *Listener) endCalls(ctx context.Context) {
	close(l.ending)
	graceful := make(chan struct{})
	go func() {
		defer close(graceful)
		l.grpc.GracefulStop()
	}()
	select {
	case <-graceful:
	case <-ctx.Done():
		l.config.Logger.Warn("calls are broken off: they had not ended in time")
		l.grpc.Stop()
		<-graceful
	}
	l.config.Logger.Info("ended")
}

// watchOption ends those who watch health, when only they are left: by
// themselves they never do.
func (l *Listener) watchOption() grpc.ServerOption {
	return grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if !isHealth(info.FullMethod) {
			return next(service, stream)
		}
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		go func() {
			select {
			case <-l.ending:
				cancel()
			case <-ctx.Done():
			}
		}()
		return next(service, security.WithContext(stream, ctx))
	})
}
