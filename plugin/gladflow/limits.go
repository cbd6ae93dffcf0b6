package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/plugin/server"
)

// limitOptions are the flags that bound a service: of serve, and of the
// arguments that a host gives to a plugin.
type limitOptions struct {
	config                         server.Config
	message, upload, resultsMemory byteSize
	resultAge, idle                time.Duration
	flags                          *pflag.FlagSet
}

func newLimitOptions() *limitOptions {
	limits := server.DefaultLimits()
	return &limitOptions{
		config:        server.Config{Limits: limits, Stores: store.All()},
		resultAge:     secondsOf(limits.ResultSeconds),
		idle:          secondsOf(limits.IdleSeconds),
		message:       byteSize(limits.MessageBytes),
		upload:        byteSize(limits.UploadBytes),
		resultsMemory: byteSize(limits.ResultBytes),
	}
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// bind adds the flags to a set.
func (o *limitOptions) bind(f *pflag.FlagSet) {
	o.flags = f
	c := &o.config
	f.StringVar(&c.Files, "files", server.FilesAny, "files that jobs may name: any, none or those in a `FOLDER`")
	f.IntVar(&c.Limits.ConcurrentRuns, "max-concurrent-runs", c.Limits.ConcurrentRuns, "runs at the same time, `N`; more are refused")
	f.IntVar(&c.Limits.Threads, "threads", c.Limits.Threads, "threads that all runs together compute on, `N`")
	f.Lookup("threads").DefValue = "one for each processor"
	f.Var(&o.message, "max-message-size", "size of a message, so of a batch of a table, which may unpack to 8 times as much")
	f.Var(&o.upload, "max-upload-size", "size of the samples of a run when they are unpacked")
	f.IntVar(&c.Limits.Variables, "max-variables", c.Limits.Variables, "variables of a table, `N`")
	f.Var(&o.resultsMemory, "max-result-size", "memory for the results of all runs; the oldest make room")
	f.DurationVar(&o.resultAge, "result-age", o.resultAge, "`TIME` for which results are kept")
	f.DurationVar(&o.idle, "idle-timeout", o.idle, "`TIME` for which a call may neither send nor take anything")
}

// settings is what the flags say, or the first that says nothing sensible.
func (o *limitOptions) settings() (server.Config, error) {
	c := o.config
	l := &c.Limits
	l.MessageBytes, l.UploadBytes, l.ResultBytes = int(o.message), int64(o.upload), int64(o.resultsMemory)
	l.ResultSeconds, l.IdleSeconds = o.resultAge.Seconds(), o.idle.Seconds()
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"max-concurrent-runs", float64(l.ConcurrentRuns)}, {"threads", float64(l.Threads)}, {"max-variables", float64(l.Variables)},
		{"max-message-size", float64(l.MessageBytes)}, {"max-upload-size", float64(l.UploadBytes)},
		{"max-result-size", float64(l.ResultBytes)},
		{"result-age", l.ResultSeconds}, {"idle-timeout", l.IdleSeconds},
	} {
		if f.value <= 0 {
			return c, fmt.Errorf("--%s: %v leaves nothing; choose more than 0", f.name, o.flags.Lookup(f.name).Value)
		}
	}
	return c, nil
}

// pluginSettings reads the flags among the arguments that a host gives to a
// plugin; what else there is does not matter.
func pluginSettings(args []string) (server.Config, error) {
	f := pflag.NewFlagSet("gladflow", pflag.ContinueOnError)
	f.Usage = func() {}
	o := newLimitOptions()
	o.bind(f)
	if err := f.Parse(args); err != nil {
		return server.Config{}, fmt.Errorf("the arguments of the plugin: %w; give it limits of gladflow serve --help or nothing", err)
	}
	return o.settings()
}
