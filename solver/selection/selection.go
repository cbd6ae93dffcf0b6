// Package selection chooses the penalty of the graphical lasso from the data, by five rules:
//
//   - EBIC, the extended Bayesian information criterion (Foygel, Drton 2010), and with
//     γ = 0 the ordinary one; the covariance is enough for it
//   - HeldOut, the likelihood of held-out samples by cross-validation, with the
//     one-standard-error rule
//   - StARS, the stability of the graph over subsamples (Liu, Roeder, Wasserman 2010), with
//     bounds from two of them (Müller, Bonneau, Kurtz 2016)
//   - Rotation, the rotation information criterion (Lysen 2009): the smallest penalty that
//     leaves no edge where the samples of every variable are in an order of their own
//   - Edges, the penalty that leaves a number of edges
//
// All follow a path of penalties from the smallest that leaves no edge downwards. Every step
// is small in the penalty and in the pairs that it lets in, starts from the solution before,
// and the path ends when the criterion improves no more. Subsamples and folds are solved in
// parallel, each on one thread, so that a choice does not depend on the number of threads.
//
//	choice, err := selection.EBIC(ctx, problem, selection.Settings{})
//	if err != nil {
//		return err
//	}
//	bcd := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: choice.Rho}}}
package selection

import (
	"errors"
	"fmt"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// Defaults of Settings.
const (
	DefaultGamma        = 0.5
	DefaultThreshold    = 0.05
	DefaultSubsamples   = 20
	DefaultFolds        = 5
	DefaultPermutations = 20
	// DefaultGap of EBIC, Refit and Edges, which count edges: with a gap of 1e-4 half of the
	// weak ones may still be missing. LooseGap of rules that average over subsamples or folds.
	DefaultGap = 1e-6
	LooseGap   = 1e-5
)

// Settings are those of the rules. The zero value is the documented default.
type Settings struct {
	// Gamma is γ of EBIC, in [0, 1]. Default (0): 0.5. For γ = 0, the ordinary BIC, set BIC.
	Gamma float64
	// BIC sets γ = 0.
	BIC bool
	// Threshold is β, the largest instability of StARS, in (0, 0.5). Default (0): 0.05.
	Threshold float64
	// Subsamples is N of StARS, at least 2. Default (0): 20.
	Subsamples int
	// Folds is K of HeldOut, at least 2; more than there are samples are as many as these.
	// Default (0): 5.
	Folds int
	// Permutations is how often Rotation permutes. Default (0): 20.
	Permutations int
	// Seed is that of what is drawn at random.
	Seed uint64
	// Diagonal penalises the diagonal of Θ too.
	Diagonal bool
	// Gap is the relative duality gap of every solution. Default (0): LooseGap for StARS and
	// HeldOut, DefaultGap for others.
	Gap float64
	// IterationLimit is that of every solution. Default (0): glasso.DefaultIterationLimit.
	IterationLimit int
	// Engine does the linear algebra, and its number of threads is that of subsamples and
	// folds at a time. Default (nil): dense.Default().
	Engine dense.Engine
	// Progress, if set, is told how much is done, from 0 to 1 or NaN, and what.
	Progress func(fraction float64, detail string)
}

// A Point is one penalty that was tried.
type Point struct {
	Penalty float64
	// Edges is the number of unordered pairs in the support; of StARS and HeldOut the mean
	// over subsamples or folds.
	Edges float64
	// Criterion is what the rule goes by, Error its standard error over folds; NaN for
	// others than HeldOut.
	Criterion, Error float64
	// LogLikelihood is (M/2)(log det Θ − tr(SΘ)), in nats without its constant; NaN for
	// StARS and HeldOut.
	LogLikelihood float64
	// Resamples is the number of subsamples that StARS has solved here; of two of them the
	// criterion is an estimate of that of all. 0 for other rules.
	Resamples int
	// Status is the worst, Iterations the largest number, Gap the largest relative duality
	// gap of the solutions.
	Status     solver.Status
	Iterations int
	Gap        float64
	Elapsed    time.Duration
}

// A Choice is a penalty, with all that were tried.
type Choice struct {
	// Rho is the penalty.
	Rho float64
	// Path are the penalties that were tried, the largest first; Chosen is the index of Rho,
	// −1 where it is not among them, and Best that of the best criterion.
	Path         []Point
	Chosen, Best int
	// Resamples is the number of subsamples, folds or permutations, Size the number of
	// samples in a subsample, or the least that were left by a fold.
	Resamples, Size int
	// Permuted are the penalties of Rotation, of which the least is Rho.
	Permuted []float64
}

// ErrNothing is returned when ctx ends before there is a choice. It wraps the error of ctx.
type ErrNothing struct{ Err error }

func (e *ErrNothing) Error() string { return "no penalty was solved: " + e.Err.Error() }

// Unwrap is the error of the context.
func (e *ErrNothing) Unwrap() error { return e.Err }

func (s Settings) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

func (s Settings) report(fraction float64, format string, args ...any) {
	if s.Progress != nil {
		s.Progress(fraction, fmt.Sprintf(format, args...))
	}
}

func (s Settings) gap(byDefault float64) float64 {
	if s.Gap == 0 {
		return byDefault
	}
	return s.Gap
}

func (s Settings) gamma() (float64, error) {
	switch {
	case s.BIC:
		return 0, nil
	case s.Gamma == 0:
		return DefaultGamma, nil
	case s.Gamma > 0 && s.Gamma <= 1:
		return s.Gamma, nil
	}
	return 0, fmt.Errorf("γ of the extended BIC is %v; it must lie between 0 and 1", s.Gamma)
}

// number is n, or the default for 0, and refuses what is below least.
func number(what string, n, byDefault, least int) (int, error) {
	switch {
	case n == 0:
		return byDefault, nil
	case n < least:
		return 0, fmt.Errorf("%d %s are too few; there must be %d at least", n, what, least)
	}
	return n, nil
}

// least are the fewest samples that StARS and HeldOut can divide.
const least = 4

func checkSamples(from *covariance.Resampler) error {
	if from == nil || from.Whole == nil {
		return errors.New("the samples are missing")
	}
	if m := from.Samples(); m < least {
		return fmt.Errorf("%d samples are too few to be divided; there must be %d at least", m, least)
	}
	return nil
}
