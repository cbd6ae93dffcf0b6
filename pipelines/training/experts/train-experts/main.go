// Command train-experts trains the experts and the gates of solver/glad/adapt, all of
// them: make experts.
//
//	go run ./pipelines/training/experts/train-experts [--gates] [FOLDER]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/gladflow/gladflow/pipelines/training/experts"
)

func main() {
	s := experts.Settings{Out: "solver/glad/adapt/experts", Log: os.Stdout}
	flag.BoolVar(&s.GatesOnly, "gates", false, "fit the gates only, to the experts that are there")
	flag.Parse()
	if flag.NArg() > 0 {
		s.Out = flag.Arg(0)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := experts.Train(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
