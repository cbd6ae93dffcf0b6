package training

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Streams of random numbers. Network k of a purpose is drawn, with its samples,
// from PCG(seed, purpose<<32 | k), so that purposes share nothing and the first
// networks stay what they are when there are more. Stream 0 is that of
// simulation.Run; tests and experiments that evaluate a trained model take 3 and
// above.
const (
	trainingStream   = 1
	validationStream = 2
)

func stream(seed int, purpose, k uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), purpose<<32|k))
}

// examples are those that a model is trained and validated with.
type examples struct {
	training, validation []solver.Example
	// what the card says of the training examples
	family              string
	dimensions, samples job.Counts
	graphs              int
	warnings            []string
	networksOnly        bool // of tables: no precision matrix is known
}

// simulated draws the examples of a family.
func (t document) simulated(ctx context.Context, report *progress.Reporter) (examples, error) {
	x := examples{dimensions: t.Dimension, samples: t.Samples, graphs: t.Graphs}
	all := t.Graphs + t.ValidationGraphs
	done := 0
	for _, set := range []struct {
		purpose uint64
		graphs  int
		to      *[]solver.Example
	}{{trainingStream, t.Graphs, &x.training}, {validationStream, t.ValidationGraphs, &x.validation}} {
		for k := range set.graphs {
			drawn, err := t.draw(ctx, set.purpose, k)
			if err != nil {
				return x, err
			}
			*set.to = append(*set.to, drawn...)
			done++
			report.Report(float64(done)/float64(all), progress.Count(done, "network"))
		}
	}
	family, err := t.describeFamily()
	x.family = family
	report.Done(fmt.Sprintf("%s and %d for validation, with %s each", progress.Count(t.Graphs, "network"), t.ValidationGraphs, progress.Count(max(1, t.Covariances), "covariance")))
	return x, err
}

// draw draws network k of a purpose and its covariances. Dimensions follow each
// other from network to network, and within those of one dimension the numbers
// of samples from covariance to covariance, so that all combinations come.
func (t document) draw(ctx context.Context, purpose uint64, k int) ([]solver.Example, error) {
	rng := stream(t.Seed, purpose, uint64(k))
	switch t.Family {
	case simulate.GraphMixed:
		e, err := simulate.Mixed(ctx, rng, t.Dimension[0])
		return []solver.Example{e}, err
	case simulate.GraphStandardised:
		e, err := simulate.Standardised(ctx, rng, t.Dimension[0])
		return []solver.Example{e}, err
	}
	densities, err := t.densities()
	if err != nil {
		return nil, err
	}
	n := len(t.Dimension)
	f, err := simulation.FamilyOf(t.simulation(t.Dimension[k%n], densities.draw(rng)))
	if err != nil {
		return nil, err
	}
	theta, err := dense.AwaitResult(ctx, func() (*dense.Sym, error) { return f.Precision(rng) })
	if err != nil {
		return nil, err
	}
	if t.standardises() {
		if theta, err = dense.AwaitResult(ctx, func() (*dense.Sym, error) { return simulate.Standardize(theta) }); err != nil {
			return nil, err
		}
	}
	drawn := make([]solver.Example, t.Covariances)
	for c := range drawn {
		m := t.Samples[(k/n*t.Covariances+c)%len(t.Samples)]
		s, err := t.estimate(ctx, rng, theta, m)
		if err != nil {
			return nil, err
		}
		drawn[c] = solver.Example{S: s, Truth: theta, Samples: m}
	}
	return drawn, nil
}

// estimate draws m samples and returns what a recovery sees of them: their covariance about
// the mean, which is zero, or with Pearson's correlation that about their own mean.
func (t document) estimate(ctx context.Context, rng *rand.Rand, theta *dense.Sym, m int) (*dense.Sym, error) {
	if !t.standardises() {
		return simulate.Covariance(ctx, rng, theta, m)
	}
	// What m samples are about their own mean, m − 1 are about zero.
	s, err := simulate.Covariance(ctx, rng, theta, max(1, m-1))
	if err != nil {
		return nil, err
	}
	simulate.Correlate(s)
	return s, nil
}

// describeFamily is the line of the family, with all dimensions and densities.
func (t document) describeFamily() (string, error) {
	switch t.Family {
	case simulate.GraphStandardised:
		return fmt.Sprintf("correlation matrices of er, hub, scale-free, block, grid and empty graphs, sizes up to d=%s, numbers of samples, weights and smallest eigenvalues", t.Dimension), nil
	case simulate.GraphMixed:
		return fmt.Sprintf("mixed graphs, sizes up to d=%s, numbers of samples, weights and scales", t.Dimension), nil
	}
	densities, err := t.densities()
	if err != nil {
		return "", err
	}
	first := densities.ends()[0]
	f, err := simulation.FamilyOf(t.simulation(t.Dimension[0], first))
	if err != nil {
		return "", err
	}
	text := strings.Replace(f.String(), fmt.Sprintf(", d=%d,", t.Dimension[0]), ", d="+t.Dimension.String()+",", 1)
	if t.standardises() {
		text += ", standardised"
	}
	if mixed := densities.String(); mixed != "" {
		text = strings.Replace(text, fmt.Sprintf(" p=%v,", first), " "+mixed+",", 1)
	}
	return text, nil
}
