package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// Fitting is the stage of Train after Simulating or Reading.
const Fitting Stage = "training"

// A TrainHost is what a training takes from whoever starts it. Its zero value
// hears nothing.
type TrainHost struct {
	// Progress, if set, is told of the stages and of every step.
	Progress func(TrainingProgress)
}

// TrainingProgress is what a TrainHost is told.
type TrainingProgress struct {
	Progress
	// Step is that of the optimiser, while Fitting and not Done.
	Step train.Progress
	// Figure is the name of Step's Validation and Best.
	Figure string
}

// A TrainingResult is what a training came to.
type TrainingResult struct {
	Version string `json:"version"`
	// Training is the document with its defaults, Command the command line that
	// repeats it.
	Training Training `json:"training"`
	Command  string   `json:"command"`
	// Model is the name of the model in Training.Out.
	Model        string `json:"model"`
	Architecture string `json:"architecture,omitzero"`
	Parameters   int    `json:"parameters"`
	// Threshold is the model's, on absolute partial correlations; 0 for none.
	Threshold float64 `json:"threshold"`
	// Family says what it was trained on, Examples and Graphs how much of it.
	Family   string `json:"family"`
	Examples int    `json:"examples"`
	Graphs   int    `json:"graphs"`
	// Validation is how the model does on the validation data, Before how the
	// model that training started from did, nil for random weights.
	Validation TrainingFigures  `json:"validation"`
	Before     *TrainingFigures `json:"before,omitempty"`
	// Start (from 1) and Step are where the weights were found, of Starts and
	// of Steps each; Undone steps were taken back.
	Start  int `json:"start"`
	Starts int `json:"starts"`
	Step   int `json:"step"`
	Steps  int `json:"steps"`
	Undone int `json:"undone"`
	// Resumed says that the training went on from a checkpoint; Seconds is the
	// time of the training, interruptions left out.
	Resumed  bool     `json:"resumed"`
	Seconds  Figure   `json:"seconds"`
	Engine   string   `json:"engine"`
	Warnings []string `json:"warnings,omitempty"`
}

// Train fits a model and writes it to Out.
//
// The examples are networks of Family with covariances of samples of them, as
// package simulate draws them: the k-th network of training and its samples from
// PCG(seed, 1<<32 | k), the k-th of validation from PCG(seed, 2<<32 | k), so
// that both share nothing with each other nor with data from other streams.
//
// Or they are the tables in the folder Data, S being estimated as Run does it.
// The truth Θ* of NAME.parquet is NAME.precision.parquet, in the units of S; or,
// where there is only the network NAME.reference.csv, the maximum-likelihood
// precision matrix of S with its zeros (covariance selection), with a penalty of
// a thousandth of the mean variance on the edges, so that it exists for singular
// S as well. A model that starts from another one is at least as good as that on
// the validation data, by the figure that Select names.
//
// The model file is written at the end, whole; a checkpoint stands for it
// meanwhile. The same training on the same machine gives the same bytes, also
// where it was interrupted and resumed. When ctx ends first the error is a
// *TrainingInterruption. What the user can put right is a *JobError.
func Train(ctx context.Context, t Training, host TrainHost) (*TrainingResult, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	f := &fitting{Training: t.Resolved(), asked: t, host: host}
	f.result = &TrainingResult{Version: Version, Training: f.Training, Command: t.Command()}
	result, err := f.run(ctx)
	if err != nil {
		f.discardFolder()
		if ctx.Err() != nil {
			interruption := &TrainingInterruption{Err: interrupted(ctx)}
			if f.saved {
				interruption.Checkpoint, interruption.Command = f.Checkpoint, t.ResumeCommand()
			}
			return nil, interruption
		}
		return nil, err
	}
	return result, nil
}

// fitting is one run of a Training, which is resolved.
type fitting struct {
	Training
	asked  Training // as it was asked for
	host   TrainHost
	result *TrainingResult

	engine  dense.Engine
	recipe  train.Preset
	from    *glad.Model // nil for random weights
	resume  *checkpoint
	data    examples
	saved   bool   // whether there is a checkpoint
	newPath string // the folder that was made for the model
}

func (f *fitting) run(ctx context.Context) (*TrainingResult, error) {
	var err error
	if f.engine, err = dense.Open(f.Engine); err != nil {
		return nil, &JobError{Field: "engine", Err: err}
	}
	f.result.Engine = f.engine.Name()
	for _, step := range []func() error{f.openStarts, f.openFiles} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := f.openData(ctx); err != nil {
		return nil, err
	}
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	if f.from != nil {
		_, before, err := judge(ctx, f.from, f.data.validation, f.engine, f.Workers)
		if err != nil {
			return nil, fmt.Errorf("the model to start from fails on the validation data: %w", err)
		}
		f.result.Before = &before
	}
	found, err := f.fit(ctx, settings)
	if err != nil {
		return nil, err
	}
	if err := f.finish(ctx, found, settings); err != nil {
		return nil, err
	}
	return f.result, nil
}

// openFiles tries whether the model can be written, and reads the checkpoint.
func (f *fitting) openFiles() (err error) {
	if info, err := os.Stat(f.Out); err == nil && !info.Mode().IsRegular() {
		return wrong("out", "%s is not a regular file; name one to write to, such as model.json", f.Out)
	}
	for _, file := range []struct{ key, path string }{{"out", f.Out}, {"checkpoint", f.Checkpoint}} {
		folder := filepath.Dir(file.path)
		_, err := os.Stat(folder)
		missing := errors.Is(err, fs.ErrNotExist)
		if missing && file.key == "checkpoint" {
			return wrong("checkpoint", "%s: there is no such folder; name a file in one that is there", folder)
		}
		if err := OpenFolder(file.key, folder); err != nil {
			return err
		}
		if missing {
			f.newPath = folder
		}
	}
	if f.resume, err = f.openCheckpoint(); err != nil || f.resume == nil {
		if f.Resume && err == nil {
			f.warn("there was no checkpoint %s, so the training began at its beginning", f.Checkpoint)
		}
		return err
	}
	f.saved = true
	return f.resume.check(f.Training, f.recipe.Starts, f.engine)
}

func (f *fitting) warn(format string, args ...any) {
	f.result.Warnings = append(f.result.Warnings, fmt.Sprintf(format, args...))
}

// discardFolder takes away the folder of a training that has nothing to put
// there.
func (f *fitting) discardFolder() {
	if f.newPath != "" {
		os.Remove(f.newPath) // which leaves it if it is not empty
	}
}

// openData draws or reads the examples.
func (f *fitting) openData(ctx context.Context) (err error) {
	stages := Host{}
	if f.host.Progress != nil {
		stages.Progress = func(p Progress) { f.host.Progress(TrainingProgress{Progress: p}) }
	}
	if f.Data != "" {
		f.data, err = f.tables(ctx, stages.stage(Reading, ""))
	} else {
		f.data, err = f.simulated(ctx, stages.stage(Simulating, ""))
	}
	if err != nil {
		return err
	}
	f.result.Warnings = append(f.result.Warnings, f.data.warnings...)
	if f.Select == SelectAUC {
		for _, e := range f.data.validation {
			if ranked(e.Truth) {
				return nil
			}
		}
		return wrong("select", "no validation network has both edges and pairs without one, so there is no ranking to judge; select by nmse")
	}
	return nil
}

// settings are the recipe's with what the document says.
func (f *fitting) settings() (train.Settings, error) {
	s := f.recipe.Settings
	for _, n := range []struct{ to, given *int }{{&s.Steps, &f.Steps}, {&s.Batch, &f.Batch}} {
		if *n.given != 0 {
			*n.to = *n.given
		}
	}
	for _, x := range []struct{ to, given *float64 }{{&s.LearningRate, &f.LearningRate}, {&s.Loss.Gamma, &f.Gamma}} {
		if *x.given != 0 {
			*x.to = *x.given
		}
	}
	s.Loss.On = glad.LossOn(f.Loss)
	s.ValidateEvery, s.Patience = f.ValidateEvery, f.Patience
	s.Backend = glad.CPU{Engine: f.engine, Workers: f.Workers}
	s.Criterion = selection(f.Select, f.recipe.Starts[0].Kind)
	cost, isNumber := f.SupportCost.Number()
	switch {
	case f.Select == SelectPS, f.SupportCost == SupportCostNone:
		s.SupportCost = -1
	case isNumber:
		s.SupportCost = max(cost, math.SmallestNonzeroFloat64) // 0 would be the default
	}
	if err := s.Validate(); err != nil {
		return s, &JobError{Reason: err.Error(), Err: err}
	}
	return s, nil
}

// fit trains.
func (f *fitting) fit(ctx context.Context, s train.Settings) (*train.Result, error) {
	report := &reporter{started: time.Now(), now: Progress{Stage: Fitting, Fraction: math.NaN()}}
	if f.host.Progress != nil {
		var step train.Progress
		report.tell = func(p Progress) { f.host.Progress(TrainingProgress{p, step, s.Criterion.Name}) }
		s.Progress = func(p train.Progress) {
			step = p
			report.update(float64((p.Start-1)*p.Steps+p.Step)/float64(p.Starts*p.Steps), stepText(p, s.Criterion.Name))
		}
	}
	s.Checkpoint = func(state *train.State) error {
		err := f.asked.save(f.Checkpoint, state)
		f.saved = f.saved || err == nil
		return err
	}
	var found *train.Result
	var err error
	if f.resume != nil {
		found, err = train.Resume(ctx, f.resume.State, f.data.training, f.data.validation, s)
		f.result.Resumed = true
	} else {
		found, err = train.Run(ctx, f.recipe.Starts, f.data.training, f.data.validation, s)
	}
	switch {
	case err == nil:
		text := plural(found.Steps, "step")
		if found.RolledBack > 0 {
			text += fmt.Sprintf(", %d of them undone, for their loss was not finite", found.RolledBack)
		}
		report.done(text + ", " + figureText(s.Criterion.Name, found.Validation) + " on the validation data")
	case ctx.Err() != nil:
	case errors.Is(err, train.ErrOtherTraining):
		return nil, f.resume.another(f.Checkpoint)
	case f.resume != nil && !errors.Is(err, train.ErrNotFinite):
		return nil, &JobError{Field: "checkpoint", Reason: f.Checkpoint + ": " + err.Error(), Err: err}
	}
	return found, err
}
