package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/server"
)

// serveOptions are the flags of serve that are not in a server.ListenConfig as
// they are.
type serveOptions struct {
	config              server.ListenConfig
	limits              *limitOptions
	callers             callerOptions
	drain               time.Duration
	logLevel, logFormat string
}

func serveCommand() *cobra.Command {
	o := &serveOptions{limits: newLimitOptions()}
	c := &cobra.Command{
		Use:   "serve",
		Short: "serve jobs to other programs over Arrow Flight",
		Long: `Serves jobs over Arrow Flight: tables in, edges, precision matrices and metrics
out, from any language that has a Flight client. Once it listens it prints one
line with its address to standard output; everything else is a log on standard
error.

Connections need TLS (--tls-cert, --tls-key), and clients a certificate
(--client-ca) or a token (--token-file, one a line; calls carry it as the header
"authorization: Bearer TOKEN") if you say so. --insecure serves this machine
alone. Certificates and tokens are read again when their files change.

Callers that are known by a token or certificate have only the runs that they
have started, unless --shared-runs. A line "# caller: NAME" above a token says
whose it is; a new token of that name has the runs of the old one.

SIGTERM or an interrupt lets runs end, for --drain-timeout at the most, while
new ones are refused; a second one ends at once. The exit code is 0, or 3 if
runs had to be cancelled. Traces and metrics are exported as the OTEL_*
variables of OpenTelemetry say, if they do.`,
		Example: `  gladflow serve --insecure
  gladflow serve --insecure --listen unix:/run/gladflow.sock
  gladflow serve --listen 0.0.0.0:8815 --tls-cert cert.pem --tls-key key.pem --token-file tokens
  gladflow serve --listen 0.0.0.0:8815 --tls-cert cert.pem --tls-key key.pem --client-ca clients.pem --files /data --metrics-listen 127.0.0.1:9090`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error { return o.serve(c) },
	}
	o.bind(c)
	return c
}

// logFormats and logLevels are the choices of --log-format and --log-level.
func logFormats() []string { return []string{"text", "json"} }
func logLevels() []string  { return []string{"trace", "debug", "info", "warn", "error"} }

func (o *serveOptions) bind(c *cobra.Command) {
	f, config := c.Flags(), &o.config
	f.SortFlags = false
	f.StringVar(&config.Address, "listen", server.DefaultAddress, "`ADDRESS` to listen on, host:port or unix:/path; port 0 takes a free one")
	f.StringVar(&config.CertFile, "tls-cert", "", "certificate, in PEM `FILE`")
	f.StringVar(&config.KeyFile, "tls-key", "", "its key, in PEM `FILE`")
	f.StringVar(&config.ClientCAFile, "client-ca", "", "authorities whose certificates clients must have, in PEM `FILE`")
	f.StringVar(&config.TokenFile, "token-file", "", "`FILE` of bearer tokens of which calls must carry one")
	f.BoolVar(&config.Insecure, "insecure", false, "serve without TLS, this machine alone")
	o.callers.bind(f)
	o.limits.bind(f)
	f.IntVar(&config.MaxConnections, "max-connections", server.DefaultMaxConnections, "connections at the same time, `N`; more are closed at once")
	f.IntVar(&config.MaxConnectionsPerPeer, "max-connections-per-peer", server.DefaultMaxConnectionsPerPeer, "connections of one address (of IPv6: one network of 64 bits; of a socket: one user), `N`")
	f.IntVar(&config.MaxConnectionsPerCaller, "max-connections-per-caller", 0, "connections on which one caller makes calls, `N` (default half of --max-connections if callers are known by tokens or certificates)")
	f.DurationVar(&o.drain, "drain-timeout", server.DefaultDrainTimeout, "`TIME` for which runs may go on after SIGTERM")
	f.StringVar(&config.MetricsAddress, "metrics-listen", "", "`ADDRESS` of /metrics (for Prometheus) and /healthz, host:port; plain HTTP for this machine, else TLS with a token or certificate as for calls")
	f.BoolVar(&config.MetricsInsecure, "metrics-insecure", false, "show them over plain HTTP to all who can connect")
	f.StringVar(&o.logLevel, "log-level", "info", "`WORD`: trace, debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "", "`WORD`: text or json (default text on a terminal, json elsewhere)")

	none := cobra.NoFileCompletions
	for name, complete := range map[string]cobra.CompletionFunc{
		"listen":              cobra.FixedCompletions([]string{server.DefaultAddress, "unix:"}, cobra.ShellCompDirectiveNoFileComp),
		"files":               cobra.FixedCompletions([]string{server.FilesAny, server.FilesNone}, cobra.ShellCompDirectiveFilterDirs),
		"log-level":           cobra.FixedCompletions(logLevels(), cobra.ShellCompDirectiveNoFileComp),
		"log-format":          cobra.FixedCompletions(logFormats(), cobra.ShellCompDirectiveNoFileComp),
		"max-concurrent-runs": none, "threads": none, "max-message-size": none, "max-upload-size": none, "max-variables": none,
		"max-result-size": none, memoryFlag: none, "result-age": none, "idle-timeout": none, "drain-timeout": none, "metrics-listen": none,
		flagRunsPerCaller: none, flagUploadsPerCaller: none, flagResultsPerCaller: none,
		"max-connections": none, "max-connections-per-peer": none, "max-connections-per-caller": none,
	} {
		// It fails for a flag that does not exist, and these do.
		_ = c.RegisterFlagCompletionFunc(name, complete)
	}
}

func (o *serveOptions) serve(c *cobra.Command) error {
	config, err := o.listenConfig(c)
	if err != nil {
		return err
	}
	// Jobs that come may name a GPU, or leave it to auto.
	if err := handOver(c, job.DeviceAuto, nil); err != nil {
		return err
	}
	limitHeap(config.Limits.MemoryBytes)
	listener, err := server.Listen(c.Context(), config)
	if err != nil {
		return settingUsage(c, err)
	}
	fmt.Fprintf(c.OutOrStdout(), "listening on %s\n", listener.Address())
	done := stopAtSecondSignal(c.Context(), listener)
	defer done()
	return listener.Serve(c.Context())
}

// settingUsage makes an error of a setting one of its flag.
func settingUsage(c *cobra.Command, err error) error {
	var wrong *server.SettingError
	if errors.As(err, &wrong) {
		return usage(c, "%s", settingText(wrong))
	}
	return err
}

// settingText is what is wrong with a setting, called by its flag.
func settingText(wrong *server.SettingError) string {
	return serveFlag(wrong.Setting) + ": " + wrong.Reason(serveFlag)
}

// serveFlag is the flag of a field of server.ListenConfig.
func serveFlag(field string) string {
	return map[string]string{
		"Address":                 "--listen",
		"CertFile":                "--tls-cert",
		"KeyFile":                 "--tls-key",
		"ClientCAFile":            "--client-ca",
		"TokenFile":               "--token-file",
		"Insecure":                "--insecure",
		"MaxConnections":          "--max-connections",
		"MaxConnectionsPerPeer":   "--max-connections-per-peer",
		"MaxConnectionsPerCaller": "--max-connections-per-caller",
		"MetricsAddress":          "--metrics-listen",
		"MetricsInsecure":         "--metrics-insecure",
		"Files":                   "--files",
		"SharedRuns":              "--shared-runs",
		"Limits.MemoryBytes":      "--max-memory",
		"Limits.MessageBytes":     "--max-message-size",
	}[field]
}

// listenConfig is what the flags say.
func (o *serveOptions) listenConfig(c *cobra.Command) (server.ListenConfig, error) {
	config := o.config
	var err error
	if config.Config, err = o.limits.settings(); err == nil {
		err = o.callers.apply(&config.Config)
	}
	if err != nil {
		return config, usage(c, "%v", err)
	}
	for name, n := range map[string]*int{
		"max-connections": &config.MaxConnections, "max-connections-per-peer": &config.MaxConnectionsPerPeer,
		"max-connections-per-caller": &config.MaxConnectionsPerCaller,
	} {
		switch {
		case !c.Flags().Changed(name):
			*n = 0 // the default, which may be lowered
		case *n <= 0:
			return config, usage(c, "--%s: %d leaves nothing; choose more than 0", name, *n)
		}
	}
	switch {
	case o.drain < 0:
		return config, usage(c, "--drain-timeout: %v is negative; choose 0 to end at once", o.drain)
	case o.drain == 0:
		config.DrainTimeout = -1
	default:
		config.DrainTimeout = o.drain
	}
	config.Logger, err = o.logger(c)
	return config, err
}

func (o *serveOptions) logger(c *cobra.Command) (hclog.Logger, error) {
	level := hclog.LevelFromString(o.logLevel)
	if level == hclog.NoLevel || level == hclog.Off {
		return nil, unknownWord(c, "log-level", o.logLevel, logLevels())
	}
	w := c.ErrOrStderr()
	asJSON := !isTerminal(w)
	switch o.logFormat {
	case "":
	case "text", "json":
		asJSON = o.logFormat == "json"
	default:
		return nil, unknownWord(c, "log-format", o.logFormat, logFormats())
	}
	return hclog.New(&hclog.LoggerOptions{Name: "gladflow", Level: level, Output: w, JSONFormat: asJSON}), nil
}

func unknownWord(c *cobra.Command, flag, word string, choices []string) error {
	hint := job.Suggestion(word, choices)
	if hint == "" {
		hint = fmt.Sprintf("; choose one of %v", choices)
	}
	return usage(c, "--%s: %q is unknown%s", flag, word, hint)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// stopAtSecondSignal ends a drain at the second signal; the first has ended
// ctx. The function that it returns stops listening.
func stopAtSecondSignal(ctx context.Context, l *server.Listener) func() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// The first may have come before.
	first := ctx.Err() == nil
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-signals:
				if !first {
					signal.Stop(signals) // a third is left to end the process
					l.Stop()
					return
				}
				first = false
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
