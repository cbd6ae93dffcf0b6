package train_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// A model for chains of six variables, each following the one before, of which 30
// samples are known.
func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	var training, validation []solver.Example
	for range 8 {
		training = append(training, chain(rng, 6, 30))
		validation = append(validation, chain(rng, 6, 30))
	}
	recipe, err := train.NewPreset(train.TiedPosteriorMean, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	var untrained float64 // decibels of the first weights on the validation examples
	recipe.Settings.Steps = 60
	recipe.Settings.Progress = func(p train.Progress) {
		if p.Step == 0 {
			untrained = p.Validation
		}
	}
	result, err := train.Run(context.Background(), recipe.Starts, training, validation, recipe.Settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Model.Kind, "with", result.Model.Parameters(), "parameters after", result.Steps, "steps")
	fmt.Println("better by more than 3 dB:", result.Validation < untrained-3)
	// Output:
	// glad-pm with 70 parameters after 60 steps
	// better by more than 3 dB: true
}

// chain draws m samples of x1 = e1, xj = 0.6·x(j−1) + ej with independent standard
// normal e. Their precision matrix is tridiagonal.
func chain(rng *rand.Rand, d, m int) solver.Example {
	s, truth := dense.NewSym(d, nil), dense.NewSym(d, nil)
	for range m {
		x := make([]float64, d)
		for j := range x {
			x[j] = rng.NormFloat64()
			if j > 0 {
				x[j] += 0.6 * x[j-1]
			}
			for i := range j + 1 {
				s.Set(i, j, s.At(i, j)+x[i]*x[j]/float64(m))
			}
		}
	}
	for j := range d {
		truth.Set(j, j, 1.36)
		if j > 0 {
			truth.Set(j-1, j, -0.6)
		}
	}
	truth.Set(d-1, d-1, 1)
	return solver.Example{S: s, Truth: truth, Samples: m}
}
