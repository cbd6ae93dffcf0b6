package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server"
)

func pluginCommand() *cobra.Command {
	limits := newLimitOptions()
	c := &cobra.Command{
		Use:   "plugin",
		Short: "be a plugin that hosts attach to, in a debugger",
		Long: `Serves as the plugin of hosts that attach to it, instead of one that starts it, so
that a debugger can start it. It prints one line of JSON to standard output, which
the host is given in the variable ` + protocol.ReattachVariable + ` or another way. Any
number of hosts may come and go; an interrupt or SIGTERM ends it.

It is for development: there is no TLS. The socket is closed to other users.`,
		Example: `  gladflow plugin
  dlv exec gladflow -- plugin --max-variables 50000`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := limits.settings()
			if err != nil {
				return usage(c, "%v", err)
			}
			if err := handOver(c, job.DeviceAuto, nil); err != nil {
				return err
			}
			config.Logger, err = (&serveOptions{logLevel: "info"}).logger(c)
			if err != nil {
				return err
			}
			return settingUsage(c, server.Debug(c.Context(), config, func(r protocol.Reattach) {
				printReattach(c, r)
			}))
		},
	}
	c.Flags().SortFlags = false
	limits.bind(c.Flags())
	return c
}

func printReattach(c *cobra.Command, r protocol.Reattach) {
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // text and numbers
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n", line)
	fmt.Fprintf(c.ErrOrStderr(), "to attach a host: export %s='%s'\n", protocol.ReattachVariable, line)
}
