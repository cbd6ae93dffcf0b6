// Package edges trains the edge heads of GLAD's models, as a job.EdgeTraining says, on
// networks that it simulates.
//
//	r, err := edges.Run(ctx, job.EdgeTraining{Out: "model.json"}, edges.Host{})
package edges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/card"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// A Host is what a training takes from its caller. The zero value reports no progress.
type Host struct {
	// Progress, if set, is called with every update.
	Progress func(progress.Update)
}

// A Result is what a training did.
type Result struct {
	Version string `json:"version"`
	// Training is the document with its defaults.
	Training job.EdgeTraining `json:"training"`
	// Model is the name of the model in Training.Out, Parameters the number of weights and
	// biases of the head.
	Model      string `json:"model"`
	Parameters int    `json:"parameters"`
	// Edges is what the model's card says of the head.
	Edges   *card.Edges `json:"edges"`
	Engine  string      `json:"engine"`
	Seconds job.Float   `json:"seconds"`
}

// Validate reports the first field of t that is wrong, as a *job.Error. It reads no file.
func Validate(t job.EdgeTraining) error {
	if err := job.CheckFields(&t, job.Facts{}); err != nil {
		return err
	}
	r := resolved(t)
	const most = 1 << 20 // far beyond what a training is for
	for _, n := range []struct {
		key          string
		value, least int
	}{
		{"tables", r.Tables, 1}, {"validation_tables", r.ValidationTables, 1}, {"checks", r.Checks, 1}, {"seed", r.Seed, 0},
		{"edges", r.Edges, 1}, {"others", r.Others, 1}, {"members", r.Members, 1}, {"units", r.Units, 1}, {"epochs", r.Epochs, 1}, {"batch", r.Batch, 1},
		{"workers", r.Workers, 0},
	} {
		if n.value < n.least {
			return job.Errorf(n.key, "%d is too few; give at least %d", n.value, n.least)
		}
		if n.value > most && n.key != "seed" {
			return job.Errorf(n.key, "%d is too many; give at most %d", n.value, most)
		}
	}
	switch {
	case math.IsNaN(r.LearningRate) || math.IsInf(r.LearningRate, 0) || r.LearningRate <= 0:
		return job.Errorf("learning_rate", "%v is no learning rate; give a positive number, such as 0.01", r.LearningRate)
	case t.Out == "":
		return job.Errorf("out", "no model file is named; give one to write to, such as model.json")
	case strings.HasSuffix(t.Out, "/") || t.Out == job.Stdin:
		return job.Errorf("out", "%q is not a file; name one to write to, such as model.json", t.Out)
	}
	return nil
}

// resolved is t with its defaults.
func resolved(t job.EdgeTraining) job.EdgeTraining {
	job.Resolve(&t, job.Facts{})
	return t
}

// Run fits an edge head to the model From and writes the model with it to Out.
//
// The tables are those of simulate.Pairs: the k-th from PCG(seed, 1<<32 | k) to learn from,
// from PCG(seed, 2<<32 | k) to choose the best weights by; those that the head is checked on,
// of every kind of graph, are drawn from PCG(seed, 3<<32 | k). At most Edges and Others pairs
// of a table are learned from, drawn at random, and count for those that were not, divided by
// the root of the table's number of variables: the head then says probabilities. The same
// training gives the same bytes on the same machine. What the user can put right is a
// *job.Error. When ctx ends nothing is written.
func Run(ctx context.Context, t job.EdgeTraining, host Host) (*Result, error) {
	return runOn(ctx, t, host, checkedSizes())
}

// runOn is Run with the sizes of the tables that the head is checked on.
func runOn(ctx context.Context, t job.EdgeTraining, host Host, sizes [][2]int) (*Result, error) {
	if err := Validate(t); err != nil {
		return nil, err
	}
	start := time.Now()
	r := &run{EdgeTraining: resolved(t), tell: host.Progress, sizes: sizes}
	engine, err := dense.Open(r.Engine)
	if err != nil {
		return nil, &job.Error{Field: "engine", Err: err}
	}
	r.engine = dense.WithThreads(engine, 1) // tables are worked on side by side
	if r.model, err = recovery.OpenModel("from", r.From, nil); err != nil {
		return nil, err
	}
	if r.Name == "" {
		r.Name = r.model.Name
	}
	if info, err := os.Stat(r.Out); err == nil && !info.Mode().IsRegular() {
		return nil, job.Errorf("out", "%s is not a regular file; name one to write to, such as model.json", r.Out)
	}
	folder, err := output.OpenFolder("out", filepath.Dir(r.Out))
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	result, err := r.run(ctx, t.Command())
	if err != nil {
		folder.Discard()
		return nil, job.InterruptedOr(ctx, err)
	}
	result.Engine = engine.Name()
	result.Seconds = job.Float(time.Since(start).Seconds())
	return result, nil
}

// run is one training, which is resolved.
type run struct {
	job.EdgeTraining
	tell   func(progress.Update)
	engine dense.Engine
	model  *glad.Model
	sizes  [][2]int // of the tables that the head is checked on
}

func (r *run) run(ctx context.Context, command string) (*Result, error) {
	training, validation, err := r.tables(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.fit(ctx, training, validation)
	if err != nil {
		return nil, err
	}
	m := r.model
	m.Name, m.Edge, m.EdgeRange = r.Name, found.Network, found.Range
	low, high := simulate.PairsDimension()
	fewest, most := simulate.PairsSamples()
	c := &card.Edges{
		Command: command, Family: fmt.Sprintf("%s; d=%d to %d, M=%d to %d", strings.Join(simulate.PairsGraphs(), ", "), low, high, fewest, most),
		Tables: r.Tables, Pairs: found.Pairs, Epochs: r.Epochs, Seed: uint64(r.Seed), Loss: "weighted logistic", Validation: found.Validation,
	}
	if err := r.check(ctx, c); err != nil {
		return nil, err
	}
	m.Card.Edges = c
	return &Result{
		Version: job.Version(), Training: r.EdgeTraining, Model: m.Name, Parameters: m.EdgeParameters(), Edges: c,
	}, arrowio.ReplaceFile(r.Out, m.Write)
}

// fit fits the head.
func (r *run) fit(ctx context.Context, training, validation []train.EdgeTable) (*train.EdgeResult, error) {
	report := progress.Begin(r.tell, progress.Training, "")
	found, err := train.FitEdges(ctx, glad.EdgeFeatures(), training, validation, train.EdgeSettings{
		Members: r.Members, Units: r.Units, Epochs: r.Epochs, Batch: r.Batch, LearningRate: r.LearningRate, Seed: uint64(r.Seed),
		Progress: func(p train.EdgeProgress) {
			text := fmt.Sprintf("epoch %d of %d, loss %.5f, validation %.5f, best %.5f", p.Epoch, p.Epochs, p.Loss, p.Validation, p.Best)
			if p.Members > 1 {
				text = fmt.Sprintf("network %d of %d, %s", p.Member, p.Members, text)
			}
			report.Report(float64((p.Member-1)*p.Epochs+p.Epoch)/float64(p.Members*p.Epochs), text)
		},
	})
	if errors.Is(err, train.ErrNoEdges) {
		return nil, job.Errorf("tables", "none of the tables drawn has both edges and other pairs; give more")
	}
	if err != nil {
		return nil, err
	}
	report.Done(fmt.Sprintf("%s of %s of %d pairs, validation %.5f", progress.Count(r.Members, "network"), progress.Count(r.Epochs, "epoch"), found.Pairs, found.Validation))
	return found, nil
}
