// Command gladflow recovers networks from tables of samples: see
// gladflow --help. Commands hold no logic: they fill a job.Job and print
// its Result. A host that launches it with the cookie of package protocol in
// its environment finds a plugin instead.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
	"github.com/gladflow/gladflow/solver/dense"
)

func main() { os.Exit(process()) }

// process is the whole of it, with its exit code.
func process() int {
	defer closeGPUs()
	dense.SpareProcessor()
	if os.Getenv(protocol.CookieKey) == protocol.CookieValue {
		// A host that has checked the binary starts it by a descriptor, and ps
		// would show the number of that as the name of the process.
		if runtime.GOOS == "linux" {
			_ = os.WriteFile("/proc/self/comm", []byte("gladflow"), 0)
		}
		return servePlugin()
	}
	return run(withHandover(untilSignal(), newHandover()), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// closeGPUs closes those that are open for another run. One that hangs ends with the
// process.
func closeGPUs() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	device.Process().Close(ctx)
}

// untilSignal ends at the first interrupt or SIGTERM, so that the run ends in good
// order. The second ends the process, whatever goes on in it.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}

// servePlugin serves the host that has started the process. An interrupt is
// the host's to act on, who shares our terminal.
func servePlugin() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	// Made first: go-plugin replaces standard error. Everything but traces is
	// logged; the host chooses what to show.
	log := hclog.New(&hclog.LoggerOptions{
		Name: protocol.Name, Level: hclog.Debug, Output: os.Stderr, JSONFormat: true,
	})
	config, err := pluginSettings(os.Args[1:])
	if err != nil {
		log.Error(err.Error())
		return exitUsage
	}
	_ = pluginHandover().take(job.DeviceAuto, nil, os.Stderr) // auto is never an error
	config.Logger = log
	limitHeap(config.Limits.MemoryBytes)
	err = server.Plugin(ctx, config)
	if wrong := new(server.SettingError); errors.As(err, &wrong) {
		log.Error(settingText(wrong))
		return exitUsage
	}
	if err != nil {
		log.Error(err.Error())
		return exitFailed
	}
	return exitDone
}
