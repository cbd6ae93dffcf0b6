package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
)

// A Progress is the state of a training after one step.
type Progress struct {
	// Start counts the starts from 1, of Starts; Step the steps of this one,
	// of Steps. Step 0 is the validation of the start itself.
	Start, Starts, Step, Steps int
	// Loss is that of the step's minibatch; NaN where the step was rolled back.
	Loss float64 `json:"-"`
	// Validated says whether the step ended with a validation, Validation is
	// the criterion at the last one (NaN before), and Best the best of all.
	Validated        bool
	Validation, Best float64 `json:"-"`
	// RolledBack says that the loss was not finite: the values are again those
	// of the last step with a finite one.
	RolledBack bool
	// Elapsed is the time spent, Left an estimate of what is to come.
	Elapsed, Left time.Duration `json:"-"`
}

// A Result is what a training found.
type Result struct {
	// Model is the best on the validation examples, with Loss, Seed, Steps,
	// Validation and Backend of its card filled in, and Trained set.
	Model *glad.Model
	// Validation is its criterion, before a threshold of its support.
	Validation float64
	// Start (from 0) and BestStep are where it was found.
	Start, BestStep int
	// Steps counts the steps of all starts, RolledBack those that ended with
	// a loss that was not finite.
	Steps, RolledBack int
	// Elapsed is the time of the training, interruptions left out.
	Elapsed time.Duration
}

// ErrNotFinite is returned where the loss is not finite however often a step
// is rolled back.
var ErrNotFinite = errors.New("the loss is not finite, also after steps were rolled back; lower the learning rate, or rescale the variables")

// rollbackLimit is how many steps may be rolled back in a row.
const rollbackLimit = 20

// Run trains every start in turn and returns the best model. The starts are
// not modified; several of one architecture are restarts.
//
// The backend works on the examples of a step side by side.
//
// Errors are those of Settings.Validate, of examples or starts that cannot be
// used, ErrNotFinite, those of Checkpoint, those of the backend that are not
// glad.Numerical, and ctx.Err().
func Run(ctx context.Context, starts []*glad.Model, training, validation []solver.Example, s Settings) (*Result, error) {
	r, err := newRun(training, validation, s)
	if err != nil {
		return nil, err
	}
	if len(starts) == 0 {
		return nil, errors.New("there is no model to start from")
	}
	r.starts = starts
	if r.state, err = newState(starts, r.settings, fingerprint(training, validation)); err != nil {
		return nil, err
	}
	return r.run(ctx)
}

// Resume goes on from the state of a Checkpoint. Examples and settings must be
// those of the run that wrote it, apart from the number of workers and the
// functions; otherwise it fails with ErrOtherTraining. The result is then that of
// a run without interruption, bit by bit.
func Resume(ctx context.Context, state *State, training, validation []solver.Example, s Settings) (*Result, error) {
	r, err := newRun(training, validation, s)
	if err != nil {
		return nil, err
	}
	if r.starts, err = state.models(); err != nil {
		return nil, err
	}
	if a, b := fmt.Sprintf("%+v", state.Settings), fmt.Sprintf("%+v", r.settings.numbers()); a != b {
		return nil, fmt.Errorf("%w: its settings are %s and not %s", ErrOtherTraining, a, b)
	}
	if state.Data != fingerprint(training, validation) {
		return nil, fmt.Errorf("%w: its examples are others", ErrOtherTraining)
	}
	// A step that is the last one ends with a validation.
	if last := r.settings.last(); state.Step > last || state.Step == last && last < r.settings.Steps && last%r.settings.ValidateEvery > 0 {
		return nil, fmt.Errorf("the checkpoint is at step %d, so that the training cannot stop at %d any more", state.Step, last)
	}
	r.state = state
	return r.run(ctx)
}

// A run is a training in progress.
type run struct {
	settings             Settings
	training, validation []solver.Example
	starts               []*glad.Model
	state                *State
	began                time.Time
	before               time.Duration // spent by earlier runs of the state

	model          *glad.Model // the present start, at the present values
	differentiator *glad.Differentiator
	batch          []solver.Example
	gradients      [][]float64 // by place in the batch
	losses         []float64
	gradient       []float64
	last           float64 // criterion at the last validation
}

func newRun(training, validation []solver.Example, s Settings) (*run, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := errors.Join(check("training", training), check("validation", validation)); err != nil {
		return nil, err
	}
	r := &run{settings: s.resolved(), training: training, validation: validation, began: time.Now(), last: math.NaN()}
	r.settings.Batch = min(r.settings.Batch, len(training))
	return r, nil
}

func (r *run) run(ctx context.Context) (*Result, error) {
	st := r.state
	r.before = time.Duration(st.Seconds * float64(time.Second))
	for {
		if err := r.prepare(); err != nil {
			return nil, err
		}
		err := r.train(ctx)
		if failed := r.differentiator.Close(); err == nil {
			err = failed
		}
		if err != nil {
			return nil, err
		}
		if st.Own.Found && (!st.Best.Found || r.settings.Criterion.better(st.Own.Figure, st.Best.Figure)) {
			st.Best, st.BestCurve = st.Own, st.OwnCurve
		}
		if st.Start+1 == len(r.starts) {
			break
		}
		st.Start++
		st.begin(r.starts[st.Start])
	}
	if err := r.checkpoint(); err != nil {
		return nil, err
	}
	return r.result(ctx)
}

// prepare makes the memory for the present start.
func (r *run) prepare() error {
	r.model = r.starts[r.state.Start].Clone()
	r.model.Threshold = 0
	var err error
	if r.differentiator, err = glad.NewDifferentiator(r.model, r.settings.Backend); err != nil {
		return fmt.Errorf("start %d: %w", r.state.Start, err)
	}
	n := r.model.Parameters()
	r.gradients = nil
	for range r.settings.Batch {
		r.gradients = append(r.gradients, make([]float64, n))
	}
	r.losses, r.gradient = make([]float64, r.settings.Batch), make([]float64, n)
	return nil
}

// train does the steps of the present start that are still to be done.
func (r *run) train(ctx context.Context) error {
	st, s := r.state, r.settings
	if st.Step == 0 {
		if err := r.validate(ctx); err != nil {
			return err
		}
		r.report(Progress{Loss: math.NaN(), Validated: true})
	}
	perEpoch := (len(r.training) + s.Batch - 1) / s.Batch
	for st.Step < s.last() {
		if s.Patience > 0 && st.WithoutAGain >= s.Patience || r.behind() {
			break
		}
		order := r.order(st.Step / perEpoch)
		first := st.Step % perEpoch * s.Batch
		batch := order[first:min(first+s.Batch, len(order))]
		p := Progress{}
		loss, ok, err := r.differentiate(ctx, batch)
		if err != nil {
			return err
		}
		if p.Loss = loss; ok {
			copy(st.Before, st.Values)
			st.BeforeAdam.CopyFrom(&st.Adam)
			st.RolledBackInARow = 0
			clip(r.gradient, s.ClipNorm)
			st.Adam.Step(st.Values, r.gradient, st.Damping*s.rate(st.Step+1))
		} else {
			copy(st.Values, st.Before)
			st.Adam.CopyFrom(&st.BeforeAdam)
			st.Damping /= 2
			st.RolledBack++
			st.RolledBackInARow++
			p.Loss, p.RolledBack = math.NaN(), true
			if st.RolledBackInARow > rollbackLimit {
				return ErrNotFinite
			}
		}
		st.Step++
		st.Total++
		if st.Step%s.ValidateEvery == 0 || st.Step == s.last() {
			p.Validated = true
			if err := r.validate(ctx); err != nil {
				return err
			}
		}
		r.report(p)
		if st.Step%perEpoch == 0 {
			if err := r.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

// behind says whether the current start is worse than the best one was at this
// step: see Settings.Race.
func (r *run) behind() bool {
	st, s := r.state, r.settings
	if st.Start == 0 || !st.Best.Found || float64(st.Step) < s.Race*float64(s.Steps) {
		return false
	}
	// Both were validated at the same steps, the best one perhaps more often.
	at := min(len(st.OwnCurve), len(st.BestCurve)) - 1
	own, leader := st.OwnCurve[at], st.BestCurve[at]
	return leader.Found && (!own.Found || s.Criterion.better(leader.Figure, own.Figure))
}

// order is that of the examples in an epoch. It depends on nothing else, so
// that a resumed run needs no state of a generator.
func (r *run) order(epoch int) []int {
	return rand.New(rand.NewPCG(r.settings.Seed, uint64(r.state.Start)<<40|uint64(epoch))).Perm(len(r.training))
}

// differentiate sets r.gradient to that of the batch. ok is false where
// something is not finite.
func (r *run) differentiate(ctx context.Context, batch []int) (loss float64, ok bool, err error) {
	r.differentiator.SetValues(r.state.Values)
	r.batch = r.batch[:0]
	for i, k := range batch {
		r.batch = append(r.batch, r.training[k])
		clear(r.gradients[i])
	}
	err = r.differentiator.Gradients(ctx, r.batch, r.settings.Loss.glad(), 1/float64(len(batch)), r.losses, r.gradients)
	if ctx.Err() != nil {
		return 0, false, ctx.Err()
	}
	if glad.Numerical(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	clear(r.gradient)
	for i := range batch { // in this order, so that workers change no bit
		loss += r.settings.Loss.logarithm(r.batch[i], r.losses[i], r.gradients[i], len(batch))
		for j, v := range r.gradients[i] {
			r.gradient[j] += v
		}
	}
	return loss, allFinite(r.gradient) && allFinite([]float64{loss}), nil
}

// validate computes the criterion at the present values and keeps them if they
// are the best of this start.
func (r *run) validate(ctx context.Context) error {
	st := r.state
	r.model.SetValues(st.Values)
	r.last = math.NaN()
	if allFinite(st.Values) {
		var err error
		if r.last, err = validate(ctx, r.model, r.validation, r.settings); err != nil {
			return err
		}
	}
	if !math.IsNaN(r.last) && (!st.Own.Found || r.settings.Criterion.better(r.last, st.Own.Figure)) {
		st.Own = best{Found: true, Figure: r.last, Start: st.Start, Step: st.Step, Values: append([]float64(nil), st.Values...)}
		st.WithoutAGain = 0
	} else {
		st.WithoutAGain++
	}
	st.OwnCurve = append(st.OwnCurve, st.Own.without())
	return nil
}

// report completes p and passes it to Settings.Progress.
func (r *run) report(p Progress) {
	st, s := r.state, r.settings
	if s.Progress == nil {
		return
	}
	p.Start, p.Starts, p.Step, p.Steps = st.Start+1, len(r.starts), st.Step, s.last()
	p.Validation, p.Best = r.last, math.NaN()
	for _, b := range []best{st.Own, st.Best} {
		if b.Found && s.Criterion.better(b.Figure, p.Best) {
			p.Best = b.Figure
		}
	}
	p.Elapsed = r.elapsed()
	if done := st.Start*s.last() + st.Step; done > 0 {
		p.Left = time.Duration(float64(p.Elapsed) / float64(done) * float64(len(r.starts)*s.last()-done))
	}
	s.Progress(p)
}

func (r *run) elapsed() time.Duration { return r.before + time.Since(r.began) }

func (r *run) checkpoint() error {
	if r.settings.Checkpoint == nil {
		return nil
	}
	r.state.Seconds = r.elapsed().Seconds()
	return r.settings.Checkpoint(r.state)
}

// result makes the model of the best values.
func (r *run) result(ctx context.Context) (*Result, error) {
	st, s := r.state, r.settings
	if !st.Best.Found {
		return nil, fmt.Errorf("no checkpoint has a finite %s on the validation examples", s.Criterion.Name)
	}
	m := r.starts[st.Best.Start].Clone()
	m.SetValues(st.Best.Values)
	m.Threshold = 0
	if m.Kind == glad.GLADPM && s.SupportCost >= 0 {
		var err error
		if m.Threshold, err = Threshold(ctx, m, r.validation, s.SupportCost, s); err != nil {
			return nil, err
		}
	}
	m.Card.Trained = true
	m.Card.Backend = s.Backend.Name()
	m.Card.Loss, m.Card.Seed, m.Card.Steps = s.Loss.String(), s.Seed, s.last()
	m.Card.Validation = map[string]any{
		s.Criterion.Name: st.Best.Figure, "examples": float64(len(r.validation)),
		"start": float64(st.Best.Start), "step": float64(st.Best.Step),
	}
	return &Result{
		Model: m, Validation: st.Best.Figure, Start: st.Best.Start, BestStep: st.Best.Step,
		Steps: st.Total, RolledBack: st.RolledBack, Elapsed: r.elapsed(),
	}, nil
}
