package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
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
	memory                         byteSize
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
		memory:        defaultMemory(),
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
	bindMemory(f, &o.memory)
	f.DurationVar(&o.resultAge, "result-age", o.resultAge, "`TIME` for which results are kept")
	f.DurationVar(&o.idle, "idle-timeout", o.idle, "`TIME` for which a call may neither send nor take anything")
}

// settings is what the flags say, or the first that says nothing sensible.
func (o *limitOptions) settings() (server.Config, error) {
	c := o.config
	l := &c.Limits
	l.MessageBytes, l.UploadBytes, l.ResultBytes = int(o.message), int64(o.upload), int64(o.resultsMemory)
	l.MemoryBytes = int64(o.memory)
	l.ResultSeconds, l.IdleSeconds = o.resultAge.Seconds(), o.idle.Seconds()
	for _, r := range []limitRange{
		{"max-concurrent-runs", float64(l.ConcurrentRuns), 1, 10_000},
		{"threads", float64(l.Threads), 1, 10_000},
		{"max-variables", float64(l.Variables), 2, 1_000_000},
		{"max-message-size", float64(l.MessageBytes), 64 << 10, 2 << 30},
		{"max-upload-size", float64(l.UploadBytes), 4 << 10, 1 << 50},
		{"max-result-size", float64(l.ResultBytes), 64 << 10, 1 << 50},
		{"result-age", float64(o.resultAge), float64(time.Second), float64(365 * 24 * time.Hour)},
		{"idle-timeout", float64(o.idle), float64(100 * time.Millisecond), float64(24 * time.Hour)},
	} {
		if err := r.check(o.flags); err != nil {
			return c, err
		}
	}
	return c, checkMemory(o.flags, o.memory)
}

// A limitRange is what a limit may be: less would refuse every job, more is a slip.
type limitRange struct {
	flag               string
	value, least, most float64 // durations in nanoseconds
}

func (r limitRange) check(flags *pflag.FlagSet) error {
	given := flags.Lookup(r.flag).Value
	switch {
	case r.value <= 0:
		return fmt.Errorf("--%s: %v leaves nothing; choose %s at least", r.flag, given, r.text(given, r.least))
	case r.value < r.least:
		return fmt.Errorf("--%s: %v is too little for any job; choose %s at least", r.flag, given, r.text(given, r.least))
	case r.value > r.most:
		return fmt.Errorf("--%s: %v is too much; choose %s at most", r.flag, given, r.text(given, r.most))
	}
	return nil
}

// text is a bound as one writes it for the flag.
func (r limitRange) text(like pflag.Value, bound float64) string {
	switch like.Type() {
	case "SIZE":
		b := byteSize(bound)
		return b.String()
	case "duration":
		return strings.NewReplacer("m0s", "m", "h0m0s", "h").Replace(time.Duration(bound).String())
	}
	return strconv.FormatInt(int64(bound), 10)
}

// pluginSettings reads the flags among the arguments that a host gives to a
// plugin.
func pluginSettings(args []string) (server.Config, error) {
	f := pflag.NewFlagSet("gladflow", pflag.ContinueOnError)
	f.Usage = func() {}
	o := newLimitOptions()
	o.bind(f)
	const advice = "a plugin takes limits, such as --max-variables=50000 and --files=none, and nothing else"
	err := f.Parse(args)
	switch unknown := new(pflag.NotExistError); {
	case errors.As(err, &unknown):
		return server.Config{}, fmt.Errorf("the argument %s is unknown; %s", shortened(unknownFlag(unknown)), advice)
	case errors.Is(err, pflag.ErrHelp):
		return server.Config{}, fmt.Errorf("the argument --help is unknown; %s", advice)
	case err != nil:
		return server.Config{}, fmt.Errorf("the arguments of the plugin: %s", flagReason(err))
	case f.NArg() > 0:
		return server.Config{}, fmt.Errorf("the argument %s is unknown; %s", shortened(strconv.Quote(f.Arg(0))), advice)
	case emptyFlag(f) != "":
		return server.Config{}, fmt.Errorf("the arguments of the plugin: --%s: %s", emptyFlag(f), emptyValue)
	}
	return o.settings()
}
