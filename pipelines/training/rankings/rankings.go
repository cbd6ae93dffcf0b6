// Package rankings trains the learned rankings of package ranking, as a
// job.RankingTraining says, on gene expression that it simulates.
//
//	r, err := rankings.Run(ctx, job.RankingTraining{Out: "gene.json"}, rankings.Host{})
package rankings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/association/ranking/train"
)

// A Host is what a training takes from its caller. The zero value reports no
// progress.
type Host struct {
	// Progress, if set, is called with every update.
	Progress func(progress.Update)
}

// A Result is what a training did.
type Result struct {
	Version string `json:"version"`
	// Training is the document with its defaults, Command the command line that
	// repeats it.
	Training job.RankingTraining `json:"training"`
	Command  string              `json:"command"`
	// Model is the name of the model in Training.Out, Parameters the number of its
	// weights and biases.
	Model      string `json:"model"`
	Parameters int    `json:"parameters"`
	// Networks is how many simulated networks were learned from, and Pairs how many
	// of their pairs.
	Networks int `json:"networks"`
	Pairs    int `json:"pairs"`
	// Probability is the model's, Calibration how it does on networks that neither
	// it nor the weights have seen.
	Probability ranking.Probability `json:"probability"`
	Calibration Calibration         `json:"calibration"`
	// Families is how the ranking does on the same networks: over all of them, and
	// then family by family.
	Families []FamilyFigures `json:"families"`
	Seconds  job.Float       `json:"seconds"`
}

// Calibration says how well probabilities hold.
type Calibration struct {
	// Error is the expected calibration error, the mean difference between a
	// probability and what holds among the pairs of its bin.
	Error job.Float `json:"error"`
	Bins  []Bin     `json:"bins"`
}

// A Bin is the pairs whose probabilities are in an interval, those of one tenth.
type Bin struct {
	From  job.Float `json:"from"`
	To    job.Float `json:"to"`
	Pairs int       `json:"pairs"`
	// Said is the mean probability, Held the part that are edges.
	Said job.Float `json:"said"`
	Held job.Float `json:"held"`
}

// FamilyFigures are those of the networks of a family.
type FamilyFigures struct {
	Family   string `json:"family"`
	Networks int    `json:"networks"`
	// AUROC and AveragePrecision are means over networks, of the unordered pairs
	// that count, or of those from a regulator to another gene.
	AUROC            job.Float `json:"auroc"`
	AveragePrecision job.Float `json:"average_precision"`
	// Spectral is the average precision of the score of the solver spectral.
	Spectral job.Float `json:"spectral_average_precision"`
	// Blend is, with regulators, that of z(|R|) + z(|B|), B being the coefficients of the
	// solver ridge on normal scores.
	Blend job.Float `json:"blend_average_precision,omitzero"`
}

// Run fits a ranking and writes it to Out.
//
// The k-th table is drawn by package genes, as genes.DrawMixture does, with regulators as
// genes.DrawListed, from PCG(seed,
// 1<<32 | k) to learn from, from PCG(seed, 2<<32 | k) to fit probabilities with, and
// from PCG(seed, 3<<32 | k) to check both. Everything is computed in pure Go: the same
// training gives the same bytes on the same machine. What the user can put right is a
// *job.Error. When ctx ends nothing is written.
func Run(ctx context.Context, t job.RankingTraining, host Host) (*Result, error) {
	if err := Validate(t); err != nil {
		return nil, err
	}
	start := time.Now()
	r := &run{RankingTraining: resolved(t), tell: host.Progress}
	r.width = len(r.inputs()) + len(r.contexts())
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
	result.Seconds = job.Float(time.Since(start).Seconds())
	return result, nil
}

// inputs and contexts are those of the models that are trained.
func (r *run) inputs() []ranking.Input {
	if r.Regulators {
		return append(ranking.Inputs(), ranking.DirectedInputs()...)
	}
	return ranking.Inputs()
}

func (r *run) contexts() []ranking.Context {
	if r.Regulators {
		return append(ranking.Contexts(), ranking.DirectedContexts()...)
	}
	return ranking.Contexts()
}

// bound clips the inputs of a pair.
const bound = 8

// run is one training, which is resolved.
type run struct {
	job.RankingTraining
	tell  func(progress.Update)
	width int
}

func (r *run) run(ctx context.Context, command string) (*Result, error) {
	if info, err := os.Stat(r.Out); err == nil && !info.Mode().IsRegular() {
		return nil, job.Errorf("out", "%s is not a regular file; name one to write to, such as gene.json", r.Out)
	}
	examples, err := r.examples(ctx)
	if err != nil {
		return nil, err
	}
	m := &ranking.Model{Name: r.Name, Inputs: r.inputs(), Context: r.contexts(), Bound: bound}
	loss, err := r.fit(ctx, m, examples)
	if err != nil {
		return nil, err
	}
	calibrating, checking := r.ValidationNetworks-r.ValidationNetworks/2, r.ValidationNetworks/2
	held, err := r.scored(ctx, m, fittingStream, calibrating)
	if err != nil {
		return nil, err
	}
	if m.Probability, err = train.Calibrate(scores(held)); err != nil {
		return nil, &job.Error{Field: "networks", Reason: "the scores that were learned do not tell edges from other pairs, so they have no probabilities; train with more networks", Err: err}
	}
	checked, err := r.scored(ctx, m, checkingStream, checking)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Version: job.Version(), Training: r.RankingTraining, Command: command, Model: m.Name, Parameters: m.Parameters(),
		Networks: len(examples), Probability: m.Probability, Calibration: calibration(m.Probability, checked),
	}
	for _, t := range examples {
		result.Pairs += len(t.Edge)
	}
	if result.Families, err = figures(checked); err != nil {
		return nil, err
	}
	r.fillCard(m, result, loss, command)
	return result, arrowio.ReplaceFile(r.Out, m.Write)
}

// fit fits the networks of m and returns their loss.
func (r *run) fit(ctx context.Context, m *ranking.Model, examples []train.Table) (float64, error) {
	report := progress.Begin(r.tell, progress.Training, "")
	fitted, err := train.Fit(ctx, examples, r.width, train.Settings{
		Networks: r.Members, Units: r.Units, Epochs: r.Epochs, Batch: r.Batch,
		LearningRate: r.LearningRate, Decay: r.Decay, Seed: uint64(r.Seed), Workers: r.workers(),
		Progress: func(done, all int) {
			report.Report(float64(done)/float64(all), fmt.Sprintf("%d of %d epochs", done, all))
		},
	})
	if errors.Is(err, train.ErrNothing) {
		return 0, job.Errorf("networks", "none of the networks drawn has both edges and other pairs; give more")
	}
	if err != nil {
		return 0, err
	}
	m.Mean, m.Deviation, m.Networks = fitted.Mean, fitted.Deviation, fitted.Networks
	report.Done(fmt.Sprintf("%s, loss %.4f", progress.Count(r.Members*r.Epochs, "epoch"), fitted.Loss))
	return fitted.Loss, nil
}

func (r *run) workers() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}
