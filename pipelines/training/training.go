// Package training fits models of GLAD, as a job.Training says: on networks that
// it simulates, or on tables whose networks are known.
//
//	r, err := training.Run(ctx, job.Training{Family: "er", Out: "model.json"}, training.Host{})
package training

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// A Host is what a training takes from its caller. The zero value reports no
// progress.
type Host struct {
	// Progress, if set, is called with every update, of stages and of steps.
	Progress func(Update)
}

// An Update is a report of progress.
type Update struct {
	progress.Update
	// Step is that of the optimiser, while Fitting and not Done.
	Step train.Progress
	// Figure is the key of the Metric in Step's Validation and Best.
	Figure string
}

// A Result is what a training did.
type Result struct {
	Version string `json:"version"`
	// Training is the document with its defaults, Command the command line that
	// repeats it.
	Training job.Training `json:"training"`
	Command  string       `json:"command"`
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
	Validation Figures  `json:"validation"`
	Before     *Figures `json:"before,omitempty"`
	// StartKept says that no step was better than the model that training started from, on
	// the validation data, so that the model is that one.
	StartKept bool `json:"start_kept,omitempty"`
	// Start (from 1) and Step are where the weights were found, of Starts and
	// of Steps each; RolledBack counts the steps whose loss was not finite, so that
	// the weights before them were restored.
	Start      int `json:"start"`
	Starts     int `json:"starts"`
	Step       int `json:"step"`
	Steps      int `json:"steps"`
	RolledBack int `json:"undone"`
	// Resumed says that the training went on from a checkpoint; Seconds is the
	// time of the training, interruptions left out.
	Resumed bool      `json:"resumed"`
	Seconds job.Float `json:"seconds"`
	Engine  string    `json:"engine"`
	// Device is where it was computed: cpu, or cuda:N. DeviceName is that GPU with the
	// versions of its libraries, and DeviceNote says why auto took the CPU, in a build with
	// code for GPUs.
	Device     string   `json:"device"`
	DeviceName string   `json:"device_name,omitempty"`
	DeviceNote string   `json:"device_note,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

// Run fits a model and writes it to Out.
//
// The examples are networks of Family with covariances of samples of them, as
// package simulate draws them: the k-th network of training and its samples from
// PCG(seed, 1<<32 | k), the k-th of validation from PCG(seed, 2<<32 | k), so
// that both share nothing with each other nor with data from other streams.
//
// Of the family FamilyGeneRegulators they are simulated tables of gene expression whose
// regulators are known: see package genes. The model is then trained to rank edges and not
// to estimate Θ*, which there is none, in seconds and without a checkpoint.
//
// Or they are the tables in the folder Data, S being estimated as recovery.Run does.
// The truth Θ* of NAME.parquet is NAME.precision.parquet, in the units of S; or,
// where there is only the network NAME.reference.csv, the maximum-likelihood
// precision matrix of S with its zeros (covariance selection), with a penalty of
// a thousandth of the mean variance on the edges, so that it exists for singular
// S as well. A model that starts from another one is at least as good as that on
// the validation data, by the figure that Select names.
//
// The model file is written at the end, whole; until then the state is in a
// checkpoint. The same training on the same machine and device gives the same bytes, also
// where it was interrupted and resumed. When ctx ends first the error is a
// *Interruption. What the user can put right is a *job.Error.
//
// A GPU that cannot be used is a *job.Error that wraps a *job.DeviceError, found before
// the examples are drawn or read. One that fails later is a *job.DeviceError, or a *Halt
// that wraps one where there is a checkpoint. With job.DeviceAuto the training goes on, or
// begins again, on the CPU unless there is a checkpoint, and the Result says why.
func Run(ctx context.Context, t job.Training, host Host) (*Result, error) {
	if err := Validate(t); err != nil {
		return nil, err
	}
	return runOn(ctx, t, host, device.Process())
}

// runOn is Run with the GPUs that there are; nil for a build without code for any.
func runOn(ctx context.Context, t job.Training, host Host, gpus *device.Pool) (*Result, error) {
	f := &fitting{document: document{t}.resolved(), asked: document{t}, host: host, gpus: gpus}
	f.result = &Result{Version: job.Version(), Training: f.Training, Command: t.Command()}
	var kernels dense.Background
	result, err := f.run(dense.WithBackground(ctx, &kernels))
	kernels.WhenIdle(f.place.Close)
	defer f.folder.Close()
	if err != nil {
		f.folder.Discard()
		if ctx.Err() != nil {
			interruption := &Interruption{Err: job.Interrupted(ctx)}
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
	document
	asked  document // as it was asked for
	host   Host
	result *Result

	gpus   *device.Pool // nil without code for GPUs
	place  device.Place
	engine dense.Engine
	preset train.Preset
	from   *glad.Model // nil for random weights; without its edge head
	// head is the edge head of from, with its part of the card; zero if there was none.
	head      glad.Network
	headRange map[glad.Feature]glad.EdgeRange
	headCard  *glad.EdgeCard
	resume    *checkpoint
	data      examples
	saved     bool           // whether there is a checkpoint
	folder    *output.Folder // of the model
}

func (f *fitting) run(ctx context.Context) (*Result, error) {
	var err error
	if f.engine, err = dense.Open(f.Engine); err != nil {
		return nil, &job.Error{Field: "engine", Err: err}
	}
	f.result.Engine = f.engine.Name()
	if f.ofGenes() {
		if err := f.genes(ctx); err != nil {
			return nil, err
		}
		return f.result, nil
	}
	for _, step := range []func() error{f.openStarts, f.openFiles} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(context.Context) error{f.openDevice, f.openData} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	err = f.compute(ctx)
	if failed := f.place.Fault(err); failed != nil && ctx.Err() == nil {
		if !f.place.Auto || f.saved {
			return nil, f.halted(failed)
		}
		f.leaveGPU(failed)
		err = f.compute(ctx)
	}
	if err != nil {
		return nil, err
	}
	return f.result, nil
}

// compute does what the device is for, and writes the model.
func (f *fitting) compute(ctx context.Context) error {
	settings, err := f.settings()
	if err != nil {
		return err
	}
	if f.from != nil {
		_, before, err := evaluate(ctx, f.from, f.data.validation, settings.Backend)
		if err != nil {
			return fmt.Errorf("the model to start from fails on the validation data: %w", err)
		}
		f.result.Before = &before
	}
	found, err := f.fit(ctx, settings)
	if err != nil {
		return err
	}
	return f.finish(ctx, found, settings)
}

// tell passes on the updates of stages; nil where nobody listens.
func (f *fitting) tell() func(progress.Update) {
	if f.host.Progress == nil {
		return nil
	}
	return func(u progress.Update) { f.host.Progress(Update{Update: u}) }
}

// openOut checks that the model can be written.
func (f *fitting) openOut() (err error) {
	if info, err := os.Stat(f.Out); err == nil && !info.Mode().IsRegular() {
		return job.Errorf("out", "%s is not a regular file; name one to write to, such as model.json", f.Out)
	}
	f.folder, err = output.OpenFolder("out", filepath.Dir(f.Out))
	return err
}

// openFiles checks that the model can be written, and reads the checkpoint.
func (f *fitting) openFiles() (err error) {
	if err := f.openOut(); err != nil {
		return err
	}
	at := filepath.Dir(f.Checkpoint)
	if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
		return job.Errorf("checkpoint", "%s: there is no such folder; name a file in one that is there", at)
	}
	folder, err := output.OpenFolder("checkpoint", at)
	if err != nil {
		return err
	}
	folder.Close() // every checkpoint opens it again
	if f.resume, err = f.openCheckpoint(); err != nil || f.resume == nil {
		if f.Resume && err == nil {
			f.warn("there was no checkpoint %s, so the training began at its beginning", f.Checkpoint)
		}
		return err
	}
	f.saved = true
	return f.resume.check(f.document, f.preset.Starts)
}

func (f *fitting) warn(format string, args ...any) {
	f.result.Warnings = append(f.result.Warnings, fmt.Sprintf(format, args...))
}

// openData draws or reads the examples.
func (f *fitting) openData(ctx context.Context) (err error) {
	tell := f.tell()
	if f.Data != "" {
		f.data, err = f.tables(ctx, f.engine, progress.Begin(tell, progress.Reading, ""))
	} else {
		f.data, err = f.simulated(ctx, progress.Begin(tell, progress.Simulating, ""))
	}
	if err != nil {
		return err
	}
	f.result.Warnings = append(f.result.Warnings, f.data.warnings...)
	rankable := slices.ContainsFunc(f.data.validation, func(e solver.Example) bool { return ranked(e.Truth) })
	if f.Select == "" {
		f.Select = selectNMSE
		if f.data.networksOnly && rankable {
			f.Select = selectAUPR
		}
		f.result.Training.Select = f.Select
	}
	if (f.Select == selectAUC || f.Select == selectAUPR) && !rankable {
		return job.Errorf("select", "no validation network has both edges and pairs without one, so there is no ranking to judge; select by nmse")
	}
	return nil
}

// settings are the preset's with what the document says.
func (f *fitting) settings() (train.Settings, error) {
	s := f.preset.Settings
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
	s.Stop, s.ValidateEvery, s.Patience = f.Stop, f.ValidateEvery, f.Patience
	s.Backend = f.backend()
	s.Criterion = selected(f.Select, f.preset.Starts[0].Kind)
	cost, isNumber := f.SupportCost.Number()
	switch {
	case f.Select == selectPS, f.SupportCost == supportCostNone:
		s.SupportCost = -1
	case isNumber:
		s.SupportCost = max(cost, math.SmallestNonzeroFloat64) // 0 would be the default
	}
	if err := s.Validate(); err != nil {
		return s, &job.Error{Reason: err.Error(), Err: err}
	}
	return s, nil
}

// fit trains.
func (f *fitting) fit(ctx context.Context, s train.Settings) (*train.Result, error) {
	var step train.Progress
	var tell func(progress.Update)
	if f.host.Progress != nil {
		tell = func(u progress.Update) { f.host.Progress(Update{u, step, s.Criterion.Name}) }
	}
	report := progress.Begin(tell, progress.Training, "")
	if tell != nil {
		s.Progress = func(p train.Progress) {
			step = p
			report.Report(float64((p.Start-1)*p.Steps+p.Step)/float64(p.Starts*p.Steps), stepText(p, s.Criterion.Name))
		}
	}
	s.Checkpoint = func(state *train.State) error {
		err := f.asked.save(f.Checkpoint, state, f.place.Device)
		f.saved = f.saved || err == nil
		return err
	}
	var found *train.Result
	var err error
	if f.resume != nil {
		found, err = train.Resume(ctx, f.resume.State, f.data.training, f.data.validation, s)
		f.result.Resumed = true
	} else {
		found, err = train.Run(ctx, f.preset.Starts, f.data.training, f.data.validation, s)
	}
	switch {
	case err == nil:
		text := progress.Count(found.Steps, "step")
		if found.RolledBack > 0 {
			text += fmt.Sprintf(", %d of them rolled back, for their loss was not finite", found.RolledBack)
		}
		report.Done(text + ", " + figureText(s.Criterion.Name, found.Validation) + " on the validation data")
	case ctx.Err() != nil:
	case errors.Is(err, train.ErrOtherTraining):
		return nil, f.resume.another(f.Checkpoint)
	case f.resume != nil && !errors.Is(err, train.ErrNotFinite):
		return nil, &job.Error{Field: "checkpoint", Reason: f.Checkpoint + ": " + err.Error(), Err: err}
	}
	return found, err
}
