package train

import (
	"context"
	"errors"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A failing backend is the CPU, but its call number after fails, counted from 0 and by
// sessions opened and gradients asked for.
type failing struct {
	glad.CPU
	after *int
}

var errLost = errors.New("the device is lost")

func (b failing) call() error {
	if *b.after--; *b.after < 0 {
		return errLost
	}
	return nil
}

func (b failing) Open(p *glad.Plan) (glad.Session, error) {
	if err := b.call(); err != nil {
		return nil, err
	}
	s, err := b.CPU.Open(p)
	if err != nil {
		return nil, err
	}
	return failingSession{s.(glad.AdjointSession), b}, nil
}

type failingSession struct {
	glad.AdjointSession
	backend failing
}

func (s failingSession) Differentiate(ctx context.Context, examples []solver.Example, loss glad.Loss, weights []float64, f func(i int, a glad.Adjoint) error) error {
	if err := s.backend.call(); err != nil {
		return err
	}
	return s.AdjointSession.Differentiate(ctx, examples, loss, weights, f)
}

// An error of the backend, such as that of a device which is lost, ends the training
// wherever it comes: it is no reason to roll steps back.
func TestBackendFails(t *testing.T) {
	preset, training, validation := quick(t, UntiedPosteriorMean)
	preset.Settings.Steps, preset.Settings.ValidateEvery = 4, 2
	for after := 0; ; after++ {
		left, rolledBack := after, 0
		preset.Settings.Backend = failing{glad.CPU{Engine: dense.Gonum{}}, &left}
		preset.Settings.Progress = func(p Progress) {
			if p.RolledBack {
				rolledBack++
			}
		}
		_, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings)
		if err == nil && left >= 0 {
			if after < 8 { // a session, three validations and four steps
				t.Errorf("%d calls", after)
			}
			return
		}
		if !errors.Is(err, errLost) || rolledBack > 0 {
			t.Errorf("call %d fails: %v, %d steps rolled back", after, err, rolledBack)
		}
	}
}
