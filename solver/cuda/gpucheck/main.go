//go:build cuda

// Command gpu-check tests and measures the GPU code of gladflow on the machine that it
// runs on: `make gpu-check`. It needs NVIDIA's driver, cuBLAS and cuSOLVER, and nothing
// else. It writes its tables as they grow, and ends with the line PASS n, FAIL m and the
// exit code 0, or 1 where something has failed, or 2 where there is no GPU to be used.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gladflow/gladflow/solver/cuda"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// A check is one run of the program.
type check struct {
	*report
	device  int
	quick   bool
	largest int
	random  *rand.Rand
}

// sections in their order.
var sections = []struct {
	name string
	run  func(c *check)
}{
	{"identity", (*check).identity},
	{"calls", (*check).calls},
	{"kernels", (*check).kernels},
	{"forward", (*check).forward},
	{"gradients", (*check).gradients},
	{"samples", (*check).samples},
	{"ceilings", (*check).ceilings},
	{"times", (*check).times},
	{"faults", (*check).faults},
	{"peers", (*check).peers},
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	flags := flag.NewFlagSet("gpu-check", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("only", "", "sections to run, separated by commas: "+strings.Join(names, ", "))
	quick := flags.Bool("quick", false, "small problems only, in seconds")
	largest := flags.Int("largest", 0, "the largest dimension in times and ceilings (default: what fits)")
	minutes := flags.Float64("minutes", 0, "end before so many minutes, and say what was left out (default: no limit)")
	out := flags.String("out", "", "a file to write the same text to")
	device := flags.Int("device", 0, "the GPU, from 0")
	seed := flags.Uint64("seed", 0, "of the random problems (default: another one every time)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	wrong := func(format string, args ...any) int {
		fmt.Fprintf(stderr, "gpu-check: "+format+"\n", args...)
		return 2
	}
	if flags.NArg() > 0 {
		return wrong("%q is no flag; see gpu-check --help", flags.Arg(0))
	}
	if *largest < 0 || !(*minutes >= 0) || *device < 0 {
		return wrong("--largest, --minutes and --device cannot be negative")
	}
	chosen := names
	if *only != "" {
		chosen = strings.Split(*only, ",")
		for _, name := range chosen {
			if !slices.Contains(names, name) {
				return wrong("there is no section %q; choose from %s", name, strings.Join(names, ", "))
			}
		}
	}
	for *seed == 0 {
		*seed = rand.Uint64() >> 32
	}
	to := []io.Writer{stdout}
	if *out != "" {
		f, err := os.Create(*out)
		if err != nil {
			return wrong("%v", err)
		}
		defer f.Close()
		to = append(to, f)
	}
	if _, err := cuda.Devices(); err != nil {
		return wrong("%v", err)
	}
	b, err := cuda.New(*device) // so that a card that cannot be used is told of before all
	if err != nil {
		return wrong("%v", err)
	}
	if err := b.Close(); err != nil {
		return wrong("%v", err)
	}

	c := &check{report: newReport(to), device: *device, quick: *quick, largest: *largest, random: rand.New(rand.NewPCG(*seed, 1))}
	c.ctx = ctx
	if *minutes > 0 {
		var cancel context.CancelFunc
		limit := time.Duration(*minutes * float64(time.Minute))
		c.deadline = time.Now().Add(limit - min(limit/20, 5*time.Second)) // what is under way then has to end too
		c.ctx, cancel = context.WithDeadline(ctx, c.deadline)
		defer cancel()
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(hostMemory() / 10 * 9)) // large matrices are many
	c.line("gpu-check %s --seed %d", strings.Join(args, " "), *seed)
	for _, s := range sections {
		if !slices.Contains(chosen, s.name) {
			continue
		}
		if c.ctx.Err() != nil {
			c.leave("section " + s.name)
			continue
		}
		c.try(s.name, func() { s.run(c) })
	}
	return c.end()
}
