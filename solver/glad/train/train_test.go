package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// chains are examples of random chains: Θ* is tridiagonal, S has m samples.
func chains(r *rand.Rand, n, d, m int) []solver.Example {
	var examples []solver.Example
	for range n {
		truth := dense.NewSym(d, nil)
		truth.AddDiagonal(2)
		for i := range d - 1 {
			truth.Set(i, i+1, 2*r.Float64()-1)
		}
		factor := make([]float64, d*d)
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).LogDet(truth, factor); !ok {
			panic("the chain is not positive definite")
		}
		s := dense.NewSym(d, nil)
		for range m {
			x := make([]float64, d)
			for i := d - 1; i >= 0; i-- {
				v := r.NormFloat64()
				for j := i + 1; j < d; j++ {
					v -= factor[i*d+j] * x[j]
				}
				x[i] = v / factor[i*d+i]
			}
			for i := range d {
				for j := range i + 1 {
					s.Set(i, j, s.At(i, j)+x[i]*x[j]/float64(m))
				}
			}
		}
		examples = append(examples, solver.Example{S: s, Truth: truth, Samples: m})
	}
	return examples
}

// quick is a preset that trains in milliseconds, with its data.
func quick(t testing.TB, architecture string) (Preset, []solver.Example, []solver.Example) {
	t.Helper()
	preset, err := NewPreset(architecture, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range preset.Starts {
		if m.Kind != glad.GLADPM {
			m.Iterations = 6
		}
	}
	preset.Settings.Backend = glad.CPU{Engine: dense.Gonum{}}
	preset.Settings.Steps, preset.Settings.ValidateEvery, preset.Settings.LearningRate = 24, 6, 0.03
	r := rand.New(rand.NewPCG(5, 6))
	training, validation := append(chains(r, 4, 8, 20), chains(r, 3, 10, 30)...), chains(r, 4, 9, 25)
	if architecture == TablePosteriorMean { // which is for correlations, and knows no units
		standardise(append(slices.Clone(training), validation...))
	}
	return preset, training, validation
}

// standardise makes S of examples the correlation matrices, and Θ* the inverses of the true
// ones.
func standardise(examples []solver.Example) {
	for _, e := range examples {
		d := e.S.Len()
		sigma := dense.NewSym(d, nil)
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(sigma, e.Truth); !ok {
			panic("the chain is not positive definite")
		}
		variance := slices.Clone(e.S.Raw())
		for i := range d {
			for j := range i + 1 {
				e.S.Set(i, j, e.S.At(i, j)/math.Sqrt(variance[i*(d+1)]*variance[j*(d+1)]))
				e.Truth.Set(i, j, e.Truth.At(i, j)*math.Sqrt(sigma.At(i, i)*sigma.At(j, j)))
			}
		}
	}
}

func file(t testing.TB, m *glad.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryArchitectureLearns(t *testing.T) {
	for _, a := range Architectures() {
		t.Run(a, func(t *testing.T) {
			preset, training, validation := quick(t, a)
			starts := preset.Starts[len(preset.Starts)-1:] // the first may be good by chance
			before, err := validate(t.Context(), starts[0], validation, preset.Settings.resolved())
			if err != nil {
				t.Fatal(err)
			}
			result, err := Run(t.Context(), starts, training, validation, preset.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if !(result.Validation < before-0.05) {
				t.Errorf("the validation NMSE is %.2f dB after training, %.2f before", result.Validation, before)
			}
			// The figure is that of the model, whose threshold is paid for.
			got, err := validate(t.Context(), result.Model, validation, preset.Settings.resolved())
			if err != nil {
				t.Fatal(err)
			}
			if got > result.Validation+0.01 {
				t.Errorf("the model's NMSE is %v dB, the result says %v", got, result.Validation)
			}
			if c := result.Model.Card; !c.Trained || c.Backend != (dense.Gonum{}).Name() || c.Steps != 24 || c.Seed != 7 || c.Validation["nmse_db"] != result.Validation {
				t.Errorf("the card is %+v", c)
			}
			if result.Steps != 24 {
				t.Errorf("%d steps", result.Steps)
			}
		})
	}
}

func TestSameBitsWithAnyWorkers(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	var first string
	for workers := 1; workers <= 4; workers++ {
		preset.Settings.Backend = glad.CPU{Engine: dense.Gonum{}, Workers: workers}
		result, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if got := file(t, result.Model); first == "" {
			first = got
		} else if got != first {
			t.Errorf("%d workers give another model than one", workers)
		}
	}
}

// A learning rate that throws the weights out of float64 costs steps, and
// nothing else.
func TestNonFiniteStepsAreRolledBack(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	s := preset.Settings
	s.LearningRate = 1e12
	s.Steps = 60
	rolledBack := 0
	s.Progress = func(p Progress) {
		if p.RolledBack {
			rolledBack++
			if !math.IsNaN(p.Loss) {
				t.Errorf("step %d was rolled back and has loss %v", p.Step, p.Loss)
			}
		}
	}
	s.Checkpoint = func(st *State) error {
		if !allFinite(st.Before) {
			t.Error("a checkpoint has values that are not finite")
		}
		_, err := json.Marshal(st) // fails for what is not finite
		return err
	}
	result, err := Run(t.Context(), preset.Starts, training, validation, s)
	if err != nil {
		t.Fatal(err)
	}
	if rolledBack == 0 || result.RolledBack != rolledBack {
		t.Errorf("%d steps were rolled back, the result says %d", rolledBack, result.RolledBack)
	}
	if err := result.Model.Validate(); err != nil {
		t.Error(err)
	}
	start, err := validate(t.Context(), preset.Starts[0], validation, s.resolved())
	if err != nil {
		t.Fatal(err)
	}
	if result.Validation > start {
		t.Errorf("the result has %v dB, the start had %v", result.Validation, start)
	}
}

func TestNeverFinite(t *testing.T) {
	preset, training, validation := quick(t, Literal)
	m := preset.Starts[0]
	m.Theta0Offset = -100 // S + tI is not positive definite
	if _, err := Run(t.Context(), []*glad.Model{m}, training, validation, preset.Settings); !errors.Is(err, ErrNotFinite) {
		t.Errorf("the error is %v", err)
	}
}

func TestCancelled(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	ctx, cancel := context.WithCancel(t.Context())
	preset.Settings.Progress = func(p Progress) {
		if p.Step == 5 {
			cancel()
		}
		if p.Step > 5 {
			t.Errorf("step %d after the context ended", p.Step)
		}
	}
	if _, err := Run(ctx, preset.Starts, training, validation, preset.Settings); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestCheckpointFails(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	full := errors.New("the disk is full")
	preset.Settings.Checkpoint = func(*State) error { return full }
	if _, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings); !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
}

// A start that is behind the best one a quarter through is ended, and nothing
// else of the result changes.
func TestRace(t *testing.T) {
	preset, training, validation := quick(t, Literal)
	s := preset.Settings
	results := map[float64]*Result{}
	for _, race := range []float64{0.25, 1} {
		s.Race = race
		var err error
		if results[race], err = Run(t.Context(), preset.Starts, training, validation, s); err != nil {
			t.Fatal(err)
		}
	}
	short, whole := results[0.25], results[1]
	if whole.Steps != 3*s.Steps {
		t.Errorf("without a race there are %d steps", whole.Steps)
	}
	if short.Steps >= whole.Steps || short.Steps < s.Steps+2*s.Steps/4 {
		t.Errorf("with a race there are %d steps of %d", short.Steps, whole.Steps)
	}
	if short.Start != whole.Start {
		t.Fatalf("start %d wins the race, and start %d without one", short.Start, whole.Start)
	}
	if file(t, short.Model) != file(t, whole.Model) {
		t.Error("the race changes the model of the start that wins")
	}
}

func TestCriterionChooses(t *testing.T) {
	preset, training, validation := quick(t, TiedPosteriorMean)
	// The figure rewards early checkpoints: the first must win.
	calls := 0.0
	preset.Settings.Criterion = Criterion{Name: "early", HigherIsBetter: true, Compute: func([]*solver.Estimate, []solver.Example) (float64, error) {
		calls++
		return -calls, nil
	}}
	preset.Settings.Patience = 2
	result, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if result.BestStep != 0 || result.Validation != -1 || result.Steps != 2*preset.Settings.ValidateEvery {
		t.Errorf("best step %d with %v after %d steps", result.BestStep, result.Validation, result.Steps)
	}
	if !slices.Equal(result.Model.Values(), preset.Starts[0].Values()) {
		t.Error("the model is not the one that was best")
	}
}

// Dropping what is below the threshold costs what was allowed, and dropping
// more would cost more.
func TestThreshold(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	preset.Settings.SupportCost = -1
	result, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings)
	if err != nil {
		t.Fatal(err)
	}
	m := result.Model
	if m.Threshold != 0 {
		t.Fatalf("the threshold is %v without a cost", m.Threshold)
	}
	s := preset.Settings.resolved()
	nmse := func(threshold float64) float64 {
		c := m.Clone()
		c.Threshold = threshold
		estimates, err := solve(t.Context(), c, validation, s.Backend)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for i, e := range estimates {
			truth := validation[i].Truth
			sum += distance2(e.Support, truth) / truth.Dot(truth)
		}
		return 10 * math.Log10(sum/float64(len(estimates)))
	}
	dense := nmse(0)
	last := 0.0
	for _, cost := range []float64{0, 0.01, 0.1, 1} {
		threshold, err := Threshold(t.Context(), m, validation, cost, s)
		if err != nil {
			t.Fatal(err)
		}
		if got := nmse(threshold); got > dense+cost+1e-12 {
			t.Errorf("a threshold of %v costs %v dB, %v were allowed", threshold, got-dense, cost)
		}
		if threshold < last {
			t.Errorf("the threshold falls from %v to %v when more may be paid", last, threshold)
		}
		last = threshold
	}
	if last == 0 {
		t.Error("a decibel buys no zero")
	}
}

func TestRefuses(t *testing.T) {
	preset, training, validation := quick(t, TiedPosteriorMean)
	run := func(s Settings, tr, va []solver.Example, starts ...*glad.Model) error {
		_, err := Run(t.Context(), starts, tr, va, s)
		return err
	}
	m := preset.Starts[0]
	indefinite := solver.Example{S: dense.NewSym(2, nil), Truth: dense.Identity(2)}
	for want, err := range map[string]error{
		"no model to start from": run(preset.Settings, training, validation),
		"no training example":    run(preset.Settings, nil, validation, m),
		"no validation example":  run(preset.Settings, training, nil, m),
		"training example 0: ":   run(preset.Settings, []solver.Example{indefinite}, validation, m),
		"no precision matrix":    run(preset.Settings, []solver.Example{{S: dense.Identity(2)}}, validation, m),
		"is zero":                run(preset.Settings, []solver.Example{{S: dense.Identity(2), Truth: dense.NewSym(2, nil)}}, validation, m),
		"-1 steps":               run(Settings{Steps: -1}, training, validation, m),
		"batch of -1":            run(Settings{Batch: -1}, training, validation, m),
		"gamma of 2":             run(Settings{Loss: Loss{Gamma: 2}}, training, validation, m),
		`loss on "x"`:            run(Settings{Loss: Loss{On: "x"}}, training, validation, m),
		"rate of NaN":            run(Settings{LearningRate: math.NaN()}, training, validation, m),
		"not ascending":          run(Settings{Milestones: []float64{0.5, 0.1}}, training, validation, m),
		"start 0: model":         run(preset.Settings, training, validation, &glad.Model{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	if _, err := NewPreset("deep", 1); err == nil || !strings.Contains(err.Error(), UntiedPosteriorMean) {
		t.Errorf("an unknown architecture gives %v", err)
	}
}
