package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
)

// Perform does one experiment or all of them and writes their files. tell, if
// set, is called with every update of the progress; Solver is the name of the
// experiment.
//
// When ctx ends first, its error is returned with the outcomes that are finished;
// their files are kept, the document is not written.
func Perform(ctx context.Context, o Options, tell func(progress.Update)) ([]Outcome, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.Resolved()
	engine, err := dense.Open(o.Engine)
	if err != nil {
		return nil, &job.Error{Field: "engine", Reason: err.Error(), Err: err}
	}
	folder, err := output.OpenFolder("out", o.Out)
	if err != nil {
		return nil, err
	}
	folder.Close()
	if o.All { // before an hour of work
		if folder, err = output.OpenFolder("document", filepath.Dir(o.Document)); err != nil {
			return nil, err
		}
		folder.Close()
	}
	memory := make(map[string]any)
	var outcomes []Outcome
	for _, e := range All() {
		if !o.All && e.Name != o.Name || e.Reads != "" && o.input(e.Reads) == "" {
			continue
		}
		out, err := perform(ctx, e, o, engine, memory, tell)
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return outcomes, fmt.Errorf("experiment %s: %w", e.Name, err)
		}
		outcomes = append(outcomes, out)
	}
	if o.All {
		return outcomes, writeDocument(o.Document, outcomes)
	}
	return outcomes, nil
}

func perform(ctx context.Context, e Experiment, o Options, engine dense.Engine, memory map[string]any, listener func(progress.Update)) (Outcome, error) {
	start := time.Now()
	part, err := o.part()
	if err != nil {
		return Outcome{}, err
	}
	run := &Run{Quick: o.Quick, Seed: uint64(o.Seed), Network: o.Network, Challenge: o.Challenge, Table: o.Table, Sets: o.Sets, Root: o.Root, Part: part, Engine: engine, memory: memory}
	tell := func(p progress.Update) {
		if listener != nil {
			p.Stage, p.Solver = progress.Solving, e.Name
			listener(p)
		}
	}
	run.progress = func(text string, fraction float64) {
		tell(progress.Update{Fraction: fraction, Detail: text})
	}
	report, err := e.Run(ctx, run)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{
		Experiment: e, Report: report, Options: o,
		Elapsed: time.Since(start), Machine: machine(engine),
	}
	if err := out.write(o.Out); err != nil {
		return Outcome{}, err
	}
	tell(progress.Update{
		Done: true, Fraction: 1, Elapsed: out.Elapsed,
		Detail: strings.Join(out.Files, ", ") + " in " + filepath.Clean(o.Out),
	})
	return out, nil
}

// machine says what the times were measured on.
func machine(e dense.Engine) string {
	model := ""
	// Linux only; elsewhere the architecture has to do.
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value) + ", "
				break
			}
		}
	}
	return fmt.Sprintf("%s%s/%s, %d processors, %s, %s", model, runtime.GOOS, runtime.GOARCH, dense.Cores(), e.Name(), runtime.Version())
}
