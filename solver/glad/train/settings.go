package train

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
)

// Loss is what is minimised: the mean over a minibatch of
// Σ_k γ^(K−k)·‖Xk − Θ*‖²F, or of its logarithm.
type Loss struct {
	// On is the X that is compared: Z (default) or Θ.
	On glad.LossOn `json:"on"`
	// Gamma is γ in (0, 1]. Default: 0.9.
	Gamma float64 `json:"gamma"`
	// Relative divides every example's loss by its own ‖Θ*‖²F.
	Relative bool `json:"relative,omitzero"`
	// Logarithmic takes the logarithm of every example's loss, the relative one, after
	// Floor was added: a decibel then counts the same in examples that are easy and in
	// those that are hard.
	Logarithmic bool `json:"logarithmic,omitzero"`
}

// Floor is what a logarithmic loss adds to the relative one of an example: 4/M, about the
// error of the best estimates where M is small, and at least 0.001. Below it there is little to
// gain. Without it a network without an edge, of which Θ* can be guessed without an error,
// would be worth so many decibels that a model takes weak ones for it.
func Floor(e solver.Example) float64 {
	const least, perSample = 1e-3, 4
	if e.Samples < 1 {
		return least
	}
	return max(least, perSample/float64(e.Samples))
}

// glad is what the backend computes; the logarithm is taken here.
func (l Loss) glad() glad.Loss {
	return glad.Loss{On: l.On, Gamma: l.Gamma, Relative: l.Relative || l.Logarithmic}
}

// logarithm replaces the loss of one of n examples of a minibatch, and its gradient, by
// those of its logarithm.
func (l Loss) logarithm(e solver.Example, loss float64, gradient []float64, n int) float64 {
	if !l.Logarithmic {
		return loss
	}
	loss = loss*float64(n) + Floor(e)
	floats.Scale(1/loss, gradient)
	return math.Log(loss) / float64(n)
}

// String is one line for a model's card.
func (l Loss) String() string {
	x, per, of, end := "Z", "", "", ""
	if l.On == glad.LossOnTheta {
		x = "Theta"
	}
	if l.Relative || l.Logarithmic {
		per = " / ||Theta*||^2"
	}
	if l.Logarithmic {
		of, end = "log(max(4/M, 0.001) + ", ")"
	}
	return fmt.Sprintf("mean of %ssum_k %v^(K-k) ||%s_k - Theta*||_F^2%s%s", of, l.Gamma, x, per, end)
}

// A Criterion is what the best checkpoint is chosen by. The zero value is the
// NMSE of Z in decibels (metric NMSE of the paper, the lower the better).
type Criterion struct {
	// Name stands in the card and in progress lines.
	Name string
	// HigherIsBetter says whether larger values are better.
	HigherIsBetter bool
	// Compute evaluates the estimates of all validation examples, in their
	// order.
	Compute func(estimates []*solver.Estimate, validation []solver.Example) (float64, error)
}

// Settings say how Run trains. The zero value of a field is its default.
type Settings struct {
	// Steps is the number of optimiser steps of each start. Default: 160.
	Steps int
	// Stop ends each start after as many steps, though the learning rate falls as for
	// all of Steps. It may change when a run is resumed, to no step that is past.
	// Default (0): Steps.
	Stop int
	// Batch is the number of examples of a step. Default: 4, or all of fewer.
	Batch int
	// LearningRate is that of Adam in the beginning. Default: 0.03.
	LearningRate float64
	// Milestones are the parts of Steps, ascending, after which the learning
	// rate is multiplied by Decay. Defaults: 0.5, 0.75, 0.9 and 0.3.
	Milestones []float64
	Decay      float64
	// ClipNorm is the largest Euclidean norm of a gradient; longer ones are
	// scaled to it. Default: 1.
	ClipNorm float64
	// Loss is what is minimised.
	Loss Loss
	// ValidateEvery is the number of steps between validations. Default: 10.
	ValidateEvery int
	// Patience ends a start after as many validations without a gain.
	// Default (0): never.
	Patience int
	// Race is the part of Steps after which a start is ended whose best
	// checkpoint is worse than the best start's was at the same step. Default:
	// 0.25. From 1 on every start is trained in full.
	Race float64
	// Criterion is what the best checkpoint is chosen by. Default: NMSE().
	Criterion Criterion
	// SupportCost is how many decibels of NMSE a posterior-mean model may pay
	// on the validation examples for a sparser support: it sets the model's
	// threshold. Default: 0.005. Negative: none.
	SupportCost float64
	// Seed orders the examples.
	Seed uint64

	// Backend evaluates the cells and their derivatives. Default: glad.CPU{}.
	Backend glad.Backend
	// Progress, if any, is told of every step.
	Progress func(Progress)
	// Checkpoint, if any, is given the state after every epoch, which is one
	// pass over the examples, and at the end. An error of it ends the run.
	Checkpoint func(*State) error
}

// resolved fills in the defaults.
func (s Settings) resolved() Settings {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	float := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&s.Steps, 160)
	def(&s.Batch, 4)
	def(&s.ValidateEvery, 10)
	float(&s.LearningRate, 0.03)
	float(&s.Decay, 0.3)
	float(&s.ClipNorm, 1)
	float(&s.Loss.Gamma, 0.9)
	float(&s.Race, 0.25)
	float(&s.SupportCost, 0.005)
	if s.Milestones == nil {
		s.Milestones = []float64{0.5, 0.75, 0.9}
	}
	if s.Loss.On == "" {
		s.Loss.On = glad.LossOnZ
	}
	if s.Criterion.Compute == nil {
		s.Criterion = NMSE()
	}
	if s.Backend == nil {
		s.Backend = glad.CPU{}
	}
	return s
}

// Validate reports the first field with a wrong value.
func (s Settings) Validate() error {
	s = s.resolved()
	positive := func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
	switch {
	case s.Steps < 1:
		return fmt.Errorf("%d steps; it takes at least one", s.Steps)
	case s.Stop < 0 || s.Stop > s.Steps:
		return fmt.Errorf("a stop after %d of %d steps; it cannot be negative nor beyond the last", s.Stop, s.Steps)
	case s.Batch < 1:
		return fmt.Errorf("a batch of %d; it has at least one example", s.Batch)
	case s.ValidateEvery < 1:
		return fmt.Errorf("validation every %d steps; it takes at least one", s.ValidateEvery)
	case s.Patience < 0:
		return fmt.Errorf("a patience of %d; it cannot be negative", s.Patience)
	case !positive(s.LearningRate):
		return fmt.Errorf("a learning rate of %v; it must be positive and finite", s.LearningRate)
	case !positive(s.Decay):
		return fmt.Errorf("a decay of %v; it must be positive and finite", s.Decay)
	case !positive(s.ClipNorm):
		return fmt.Errorf("a clip norm of %v; it must be positive and finite", s.ClipNorm)
	case !(s.Loss.Gamma > 0 && s.Loss.Gamma <= 1):
		return fmt.Errorf("a gamma of %v; it lies above 0 and not above 1", s.Loss.Gamma)
	case s.Loss.On != glad.LossOnZ && s.Loss.On != glad.LossOnTheta:
		return fmt.Errorf("a loss on %q; it is on %q or %q", s.Loss.On, glad.LossOnZ, glad.LossOnTheta)
	case !(s.Race > 0):
		return fmt.Errorf("a race of %v; it is a positive part of the steps", s.Race)
	case math.IsNaN(s.SupportCost):
		return errors.New("the support cost is NaN")
	case !slices.IsSorted(s.Milestones) || slices.ContainsFunc(s.Milestones, math.IsNaN):
		return fmt.Errorf("the milestones %v are not ascending", s.Milestones)
	}
	return nil
}

// last is the last step of a start.
func (s Settings) last() int {
	if s.Stop > 0 {
		return s.Stop
	}
	return s.Steps
}

// rate is the learning rate of a step from 1.
func (s Settings) rate(step int) float64 {
	r := s.LearningRate
	for _, m := range s.Milestones {
		if float64(step) > m*float64(s.Steps) {
			r *= s.Decay
		}
	}
	return r
}

// check reports examples that cannot be trained on.
func check(kind string, examples []solver.Example) error {
	if len(examples) == 0 {
		return fmt.Errorf("there is no %s example", kind)
	}
	for i, e := range examples {
		if err := e.Problem().Validate(); err != nil {
			return fmt.Errorf("%s example %d: %w", kind, i, err)
		}
		switch {
		case e.Truth == nil || e.Truth.Len() != e.S.Len():
			return fmt.Errorf("%s example %d has no precision matrix of the size of its covariance", kind, i)
		case !e.Truth.Finite():
			return fmt.Errorf("%s example %d: its precision matrix has an entry that is not finite", kind, i)
		case e.Truth.Dot(e.Truth) == 0:
			return fmt.Errorf("%s example %d: its precision matrix is zero", kind, i)
		}
	}
	return nil
}
