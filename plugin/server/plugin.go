package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin/internal/socket"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/telemetry"
)

// endTime is what a plugin has to end in, from the moment it knows that it
// must: a host waits for 2 s before it kills, and the death of a host is seen
// after parentInterval at the latest.
const endTime = 1500 * time.Millisecond

// Plugin serves as the plugin of the host that has started this process with
// the cookie of package protocol in its environment. The handshake is the only
// thing it writes to standard output; the log goes to standard error, as JSON
// that go-plugin's hosts understand, unless c has a Logger.
//
// It returns nil after the host has asked for the end, has died, or ctx has
// ended; runs are cancelled and what they had half written is removed. That
// takes less than 2 s, counted from the host's death; an error says that
// something had not ended by then. The caller must let the process end: the
// standard output and error of package os are go-plugin's afterwards.
//
// Its socket is in a folder of its own in that for temporary files, and goes with
// it; what plugins that were killed have left there goes at the next start. A host
// that sets PLUGIN_UNIX_SOCKET_DIR chooses the folder.
//
// The OTEL_* variables hold as they do for Listen.
func Plugin(ctx context.Context, c Config) error {
	parent := currentParent()
	// Held until the end: go-plugin replaces both, and the garbage collector
	// closes files that nobody holds.
	stdout, stderr := os.Stdout, os.Stderr
	defer runtime.KeepAlive(stdout)
	// A line of the log that goes to a dead host must fail instead of ending
	// the process before it has cleaned up. An interrupt is the host's to act on,
	// also in the moment between the handshake and go-plugin's taking notice.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE, os.Interrupt)
	defer signal.Stop(ignored)

	if c.Logger == nil {
		// Everything but traces: the host chooses what to show.
		c.Logger = hclog.New(&hclog.LoggerOptions{
			Name: protocol.Name, Level: hclog.Debug, Output: stderr, JSONFormat: true,
		})
	}
	folder, noFolder := socketFolder(c.Logger)
	defer folder.Remove()
	p, err := newPluginServer(ctx, c, stderr)
	if err != nil {
		return err
	}
	p.noFolder = noFolder
	watching, stop := context.WithCancel(ctx)
	defer stop()
	died := parent.watch(watching) // before the handshake, see there
	go p.serve(c.Logger)
	hostDied := false
	select {
	case <-p.served:
	case <-died:
		hostDied = true
		c.Logger.Warn("the host has died; ending")
	case <-ctx.Done():
		c.Logger.Info("told to end")
	}
	return errors.Join(p.failed(), p.end(hostDied))
}

// A pluginServer is the service on go-plugin's server.
type pluginServer struct {
	service   *Service
	telemetry *telemetry.Telemetry
	served    chan struct{} // closed when go-plugin has returned
	noFolder  error         // why none could be made for the socket
	// test is nil for a plugin that a host has started.
	test *plugin.ServeTestConfig

	mu      sync.Mutex
	grpc    *grpc.Server // nil until go-plugin asks for it
	stopped bool         // before that
	err     error        // of registering the service
}

func newPluginServer(ctx context.Context, c Config, console io.Writer) (*pluginServer, error) {
	p := &pluginServer{
		telemetry: telemetry.New(ctx, telemetry.Config{Console: console, Logger: c.Logger, Next: c.Observer}),
		served:    make(chan struct{}),
	}
	if p.telemetry != nil {
		c.Observer = p.telemetry
	}
	var err error
	if p.service, err = New(c); err != nil {
		p.telemetry.Shutdown(ctx)
		return nil, err
	}
	p.telemetry.Measure(p.service.resultBytes)
	return p, nil
}

func (p *pluginServer) serve(log hclog.Logger) {
	defer close(p.served)
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  protocol.Handshake(),
		VersionedPlugins: protocol.Plugins(p.register),
		GRPCServer:       p.newServer,
		Logger:           log.Named("go-plugin"),
		Test:             p.test,
	})
}

// newServer lifts gRPC's limit of 4 MiB, which go-plugin keeps.
func (p *pluginServer) newServer(options []grpc.ServerOption) *grpc.Server {
	options = append(options, p.service.ServerOptions()...)
	s := grpc.NewServer(append(options, p.telemetry.ServerOptions(flightService)...)...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grpc = s
	if p.stopped {
		// It will serve nothing, and return at once.
		s.Stop()
	}
	return s
}

func (p *pluginServer) register(s *grpc.Server) error {
	err := p.service.Register(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
	return err
}

// failed says why go-plugin has returned without having served.
func (p *pluginServer) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.grpc == nil {
		select {
		case <-p.served:
			if p.noFolder != nil {
				return fmt.Errorf("the plugin could not listen: %w", p.noFolder)
			}
			return errors.New("the plugin could not listen; see the log, and whether there is room for a socket in the folder for temporary files")
		default:
		}
	}
	return p.err
}

// stop makes go-plugin return, which removes its socket.
func (p *pluginServer) stop() {
	p.mu.Lock()
	s := p.grpc
	p.stopped = true
	p.mu.Unlock()
	if s != nil {
		s.Stop()
	}
}

// end ends everything orderly. It returns after endTime even if something has not
// ended.
func (p *pluginServer) end(hostDied bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.stop()
		<-p.served
		if hostDied {
			removeSocketFolder()
		}
		p.service.Close()
		p.telemetry.Shutdown(ctx)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("a run or the export of telemetry had not ended when the plugin had to")
	}
}

// socketFolder makes the folder for the socket, of which go-plugin hears by its
// variable, unless the host has made one: nil then. It is nil too if none can be
// made, which the error says: go-plugin does without.
func socketFolder(log hclog.Logger) (*socket.Folder, error) {
	if os.Getenv(plugin.EnvUnixSocketDir) != "" {
		return nil, nil
	}
	f, err := socket.Open(os.TempDir())
	if err == nil && f != nil {
		err = os.Setenv(plugin.EnvUnixSocketDir, f.Path())
	}
	if err != nil {
		log.Warn("the plugin's socket has no folder of its own", "error", err)
	}
	return f, err
}

// removeSocketFolder removes the folder that a host makes for the plugin's
// socket, which a host that dies leaves behind. It is never removed with
// something in it.
func removeSocketFolder() {
	if folder := os.Getenv(plugin.EnvUnixSocketDir); folder != "" {
		_ = os.Remove(folder)
	}
}
