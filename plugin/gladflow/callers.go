package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/plugin/server"
)

// callerOptions are the flags about what callers of a service may have, beside each
// other. A plugin has one caller, so they are of serve alone.
type callerOptions struct {
	shared        bool
	runs, uploads int
	results       byteSize
	flags         *pflag.FlagSet
}

// Flags of a callerOptions.
const (
	flagRunsPerCaller    = "max-runs-per-caller"
	flagUploadsPerCaller = "max-uploads-per-caller"
	flagResultsPerCaller = "max-result-size-per-caller"
)

// bind adds the flags to a set.
func (o *callerOptions) bind(f *pflag.FlagSet) {
	o.flags = f
	f.BoolVar(&o.shared, "shared-runs", false, "callers may list, get, cancel and forget the runs of others")
	f.IntVar(&o.runs, flagRunsPerCaller, 0, "runs of one caller at the same time, `N` (default half of --max-concurrent-runs if callers are known by tokens or certificates)")
	f.IntVar(&o.uploads, flagUploadsPerCaller, 0, "calls of one caller that stream samples at the same time, `N` (default as many as runs)")
	f.Var(&o.results, flagResultsPerCaller, "memory for the results of one caller's runs (default half of --max-result-size if callers are known)")
}

// apply puts what the flags say into a configuration, or says which of them says
// nothing sensible.
func (o *callerOptions) apply(c *server.Config) error {
	c.SharedRuns = o.shared
	c.Limits.RunsPerCaller, c.Limits.UploadsPerCaller, c.Limits.ResultBytesPerCaller = o.runs, o.uploads, int64(o.results)
	for _, quota := range []struct {
		name  string
		value int64
	}{{flagRunsPerCaller, int64(o.runs)}, {flagUploadsPerCaller, int64(o.uploads)}, {flagResultsPerCaller, int64(o.results)}} {
		if flag := o.flags.Lookup(quota.name); flag.Changed && quota.value <= 0 {
			return fmt.Errorf("--%s: %v leaves nothing; choose more than 0", quota.name, flag.Value)
		}
	}
	return nil
}
