package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/training"
	"github.com/gladflow/gladflow/plugin/server"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // wrong usage or bad input
	exitInterrupted = 3 // what had finished is kept
)

// run is gladflow with everything it takes from its process: it returns the
// exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &checkedWriter{w: stdout}
	root := newRoot(stdin, out, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing the result: %w", out.err)
	}
	return report(ctx, err, stderr)
}

func newRoot(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "gladflow",
		Short: "recover networks from tables of samples",
		Long: `gladflow takes a table of samples, such as gene expression or prices, and
recovers the network behind it: a sparse precision matrix and a ranked list of
edges, with a certificate of how close each is to the optimum.`,
		Example: `  gladflow demo
  gladflow recover expression.parquet --out network
  gladflow recover expression.tsv.gz --id-column condition --solvers glad,bcd --penalty 0.3 --reference known.tsv --out network
  gladflow evaluate network/bcd.edges.parquet known.tsv`,
		Version:       job.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if name := emptyFlag(c.Flags()); name != "" {
				return usage(c, "--%s: %s", name, emptyValue)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		},
	}
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetVersionTemplate("gladflow {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		recoverCommand(), lookCommand(), reportCommand(), drawCommand(), evaluateCommand(), simulateCommand(), trainCommand(), experimentCommand(), benchmarkCommand(), dream5Command(), runCommand(), serveCommand(), pluginCommand(), schemaCommand(),
		solversCommand(), modelsCommand(), describeCommand(), demoCommand(), versionCommand(),
	)
	checkCompletion(root)
	return root
}

// checkCompletion makes a shell that is unknown, and what follows one, wrong usage of
// cobra's command of completions.
func checkCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		panic(err) // it has just been added
	}
	var shells []string
	for _, shell := range c.Commands() {
		shell.Args = arguments()
		shells = append(shells, shell.Name())
	}
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return usage(c, "there is no script for %q; choose from %s", args[0], strings.Join(shells, ", "))
	}
}

// helpCommand is cobra's, but that an unknown topic is wrong usage.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "say how a command is used",
		RunE: func(c *cobra.Command, args []string) error {
			topic, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c.Root(), args[0])
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := job.Suggestion(name, names)
	if hint == "" {
		hint = "; choose from " + strings.Join(names, ", ")
	}
	return usage(root, "there is no command %q%s", name, hint)
}

// A usageError is a command line that cannot be understood.
type usageError struct {
	sentence string
	command  string // with its parents
}

func (e *usageError) Error() string { return e.sentence }

func usage(c *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), c.CommandPath()}
}

// A documentError is about a document, whose options are not flags.
type documentError struct{ error }

func (e documentError) Unwrap() error { return e.error }

// arguments makes a command take exactly the arguments named.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			verb := "is"
			if len(names)-len(args) > 1 {
				verb = "are"
			}
			return usage(c, "%s %s missing; write %s", strings.Join(names[len(args):], " and "), verb, c.UseLine())
		case len(args) > len(names) && len(names) == 0:
			return usage(c, "%q is too much; %s takes no arguments", args[0], c.Name())
		case len(args) > len(names):
			return usage(c, "%q is too much; %s takes %s", args[len(names)], c.Name(), strings.Join(names, " and "))
		}
		return nil
	}
}

// report says what went wrong, with the stacks of panics, and turns it into an exit code.
func report(ctx context.Context, err error, stderr io.Writer) int {
	if stack := job.Stack(err); stack != nil {
		defer fmt.Fprintf(stderr, "\n%s\n", bytes.TrimSpace(stack))
	}
	var wrong *usageError
	var j *job.Error
	var training *training.Interruption
	option := job.FlagOption
	if document := new(documentError); errors.As(err, document) {
		option = job.FieldOption
	}
	room, isNoRoom := noRoom(err)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "gladflow: %s\nsee %s --help\n", shortened(wrong.sentence), wrong.command)
		return exitUsage
	case errors.As(err, &j):
		fmt.Fprintf(stderr, "gladflow: %s\n", shortened(j.Text(option)))
		return exitUsage
	case isNoRoom:
		fmt.Fprintf(stderr, "gladflow: %s\n", room)
		return exitUsage
	case errors.Is(err, server.ErrRunsCancelled):
		return exitInterrupted // the service has said so in its log
	case errors.As(err, &training) && training.Checkpoint == "":
		fmt.Fprintln(stderr, "gladflow: interrupted before the first checkpoint; nothing was written, start the training again")
		return exitInterrupted
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "gladflow: interrupted; what had finished is kept")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "gladflow: %s\n", shortened(job.ErrorText(err, option)))
	return exitFailed
}

// checkedWriter remembers that writing failed: to a full disk, a closed pipe.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.err = err
	return n, err
}
