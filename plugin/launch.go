package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/gladflow/gladflow/plugin/internal/socket"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A Config says what to launch.
type Config struct {
	// Path is the gladflow binary: a path, or a name to be found in $PATH.
	Path string
	// Checksum is the SHA-256 of the binary in hex, checked before it is
	// started: ChecksumOf finds it in the SHA256SUMS of a release. On Linux the
	// file that was checked is started whatever has been put in its place
	// meanwhile; nobody else may be able to write to the file itself, nor, on
	// other systems, to its folder. Default: any.
	Checksum string
	// Args are limits of the service, flags as of gladflow serve such as
	// --max-variables=50000 and --files=none, and nothing else: the binary refuses
	// to start with others; Env additional variables
	// ("NAME=value") of its environment, which is that of the host otherwise.
	Args, Env []string
	// Dir is the folder that paths in jobs are relative to. Default: the
	// host's.
	Dir string
	// Logger hears what the plugin logs. Default: one that writes warnings and
	// errors to standard error.
	Logger hclog.Logger
	// DisableMTLS leaves the connection, a Unix socket where there are any,
	// without TLS: for tests and for debugging.
	DisableMTLS bool
	// StartTimeout is how long the binary may take to answer. Default: 10 s.
	StartTimeout time.Duration
	// BatchBytes is about how large the batches are that samples are sent in.
	// Default: 2 MiB.
	BatchBytes int
	// Reattach is the line that gladflow plugin prints when it was started by
	// hand, in a debugger: Launch then connects to that process, without TLS and on
	// a socket of this user only, and Close leaves it alone. Path, Args, Env and
	// Dir are not used. It is for development; hosts that can be debugged set it to
	// os.Getenv(plugin.ReattachVariable). Default: "", a process of its own.
	Reattach string
}

const (
	defaultStartTimeout = 10 * time.Second
	// go-plugin gives a plugin 2 s to end by itself; one that does not even
	// answer, because it was stopped, is killed after this.
	closeTimeout = 4 * time.Second
)

// Launch starts a gladflow binary as a plugin and connects to it over gRPC
// with mutual TLS. ctx bounds the start only: when it ends before Launch has
// returned, the process is killed. Afterwards the plugin lives until Close, or
// until the host has died.
//
// The plugin is a process group of its own, so that a Ctrl-C at the terminal is
// the host's to handle.
//
// With Config.Reattach it starts nothing.
func Launch(ctx context.Context, c Config) (*Client, error) {
	if c.Reattach != "" {
		return c.reattach(ctx)
	}
	path, err := c.resolve()
	if err != nil {
		return nil, err
	}
	if err := c.checkDir(); err != nil {
		return nil, err
	}
	alive, kill := context.WithCancel(context.Background())
	cmd, done, err := c.command(alive, path)
	if err != nil {
		kill()
		return nil, err
	}
	defer done()
	ownGroup(cmd)

	log := newStartLog(c.logger(), filepath.Base(path))
	config := protocol.ClientConfig(cmd)
	config.AutoMTLS = !c.DisableMTLS
	// go-plugin would put the host's environment behind Env, where it wins.
	config.SkipHostEnv = true
	config.StartTimeout = c.startTimeout()
	config.Logger = log
	config.Stderr = log.tail
	config.GRPCDialOptions = throughput()

	p := &process{client: plugin.NewClient(config), cmd: cmd, kill: kill}
	unbind := context.AfterFunc(ctx, kill)
	conn, err := p.connect(ctx, config.StartTimeout)
	if !unbind() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.end()
		err = c.explain(ctx, path, err, log)
		if log.tail.refusal() != "" && cmd.ProcessState.ExitCode() == wrongSettings {
			err = &settingError{err}
		}
		return nil, err
	}
	log.started()
	p.pid = cmd.Process.Pid
	return newClient(conn, p, c.BatchBytes), nil
}

// A process is a plugin that was launched.
type process struct {
	client *plugin.Client
	cmd    *exec.Cmd
	pid    int
	socket string // its path; "" for none
	kill   context.CancelFunc
}

func (p *process) connect(ctx context.Context, timeout time.Duration) (*grpc.ClientConn, error) {
	conn, err := protocol.Dispense(p.client)
	if c := p.client.ReattachConfig(); c != nil && c.Addr.Network() == "unix" {
		p.socket = c.Addr.String()
	}
	if err != nil {
		return nil, err
	}
	// Dispense connects in the background: a first call finds out whether both
	// sides agree on TLS.
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return conn, checkHealth(ctx, conn)
}

// end ends the process and waits until it and go-plugin's goroutines have. A
// process that was killed has left its socket, which goes as well.
func (p *process) end() {
	killLate := time.AfterFunc(closeTimeout, p.kill)
	defer killLate.Stop()
	if p.pid == 0 {
		p.kill() // it never got so far as to have something to end in order
	}
	p.client.Kill()
	p.kill()
	switch {
	case p.socket != "":
		socket.RemoveDead(p.socket)
	case p.pid == 0: // killed, it may be, before the host has heard of its socket
		socket.Sweep(tempOf(p.cmd))
	}
}

// tempOf is the folder for temporary files of a process on systems with Unix sockets.
func tempOf(cmd *exec.Cmd) string {
	folder := ""
	for _, v := range cmd.Env { // the last one counts
		if value, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			folder = value
		}
	}
	switch {
	case folder == "":
		return "/tmp"
	case filepath.IsAbs(folder):
		return folder
	}
	return filepath.Join(cmd.Dir, folder)
}

func (c Config) startTimeout() time.Duration {
	if c.StartTimeout <= 0 {
		return defaultStartTimeout
	}
	return c.StartTimeout
}

func (c Config) logger() hclog.Logger {
	if c.Logger == nil {
		return hclog.New(&hclog.LoggerOptions{Name: "plugin", Level: hclog.Warn, Output: os.Stderr})
	}
	return c.Logger
}

func (c Config) resolve() (string, error) {
	if c.Path == "" {
		return "", fmt.Errorf("plugin: Config.Path is empty; set it to the gladflow binary (%s installs one)", installCommand())
	}
	path, err := exec.LookPath(c.Path)
	switch {
	case err == nil:
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("plugin: %s is not executable; chmod +x it, or name the gladflow binary: %w", c.Path, err)
	case errors.Is(err, os.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("plugin: there is no %s; install it with %s, or correct Config.Path: %w", c.Path, installCommand(), err)
	default:
		return "", fmt.Errorf("plugin: %s cannot be started; name the gladflow binary: %w", c.Path, err)
	}
	// A relative path would be taken from Dir.
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("plugin: %s cannot be started: %w", c.Path, err)
	}
	return path, nil
}

// hostEnvironment is the environment less what a host that is a plugin itself
// was told by its own host, and what would be taken for ours.
func hostEnvironment() []string {
	var env []string
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "PLUGIN_CLIENT_CERT", "PLUGIN_MULTIPLEX_GRPC", plugin.EnvUnixSocketDir, plugin.EnvUnixSocketGroup:
		default:
			env = append(env, v)
		}
	}
	return env
}

// explain makes a sentence of a start that failed.
func (c Config) explain(ctx context.Context, path string, err error, log *startLog) error {
	if ctx.Err() != nil {
		return fmt.Errorf("plugin: starting %s: %w", path, context.Cause(ctx))
	}
	install := "install one with " + installCommand()
	answer, foreign := strings.CutPrefix(err.Error(), "Unrecognized remote plugin message: ")
	answer, _, _ = strings.Cut(answer, "\n")
	refusal := log.tail.refusal()
	switch {
	case refusal != "":
		return fmt.Errorf("plugin: %s has refused to start: %s", path, refusal)
	case foreign && answer == "":
		return fmt.Errorf("plugin: %s is no gladflow plugin: it ended without an answer%s; %s", path, log.tail.quote(), install)
	case foreign:
		return fmt.Errorf("plugin: %s is no gladflow plugin: it answered %q; %s", path, shorten(answer), install)
	case strings.HasPrefix(err.Error(), "timeout while waiting"):
		return fmt.Errorf("plugin: %s is no gladflow plugin, or is slow to start: it has not answered in time%s; %s, or raise Config.StartTimeout", path, log.tail.quote(), install)
	case strings.HasPrefix(err.Error(), "plugin exited before"):
		return fmt.Errorf("plugin: %s is no gladflow plugin: it ended without an answer%s; %s", path, log.tail.quote(), install)
	case strings.HasPrefix(err.Error(), "incompatible API version"):
		return fmt.Errorf("plugin: %s speaks another version of the protocol than this host's %d; update the older of the two (%s installs the binary): %w",
			path, protocol.Version, installCommand(), err)
	}
	return fmt.Errorf("plugin: %s cannot be started as a gladflow plugin%s; %s: %w", path, log.tail.quote(), install, err)
}

// shorten keeps what foreign programs say to a line.
func shorten(s string) string {
	const most = 200
	if s = strings.TrimSpace(s); len(s) > most {
		return s[:most] + "..."
	}
	return s
}
