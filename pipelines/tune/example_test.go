package tune_test

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Two graphs of three variables, each with one edge, and estimates that keep a small
// entry where there is none.
func ExampleThreshold() {
	truth := dense.NewSym(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 2})
	cases := []solver.Example{
		{S: dense.Identity(3), Truth: truth},
		{S: dense.Identity(3), Truth: truth},
	}
	estimates := []*dense.Sym{
		dense.NewSym(3, []float64{2, 0.75, 0.25, 0.75, 2, 0, 0.25, 0, 2}),
		dense.NewSym(3, []float64{2, 0.50, 0, 0.50, 2, 0.125, 0, 0.125, 2}),
	}
	r, err := tune.Threshold(estimates, cases)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Threshold, r.Success)
	// Output: 0.375 1
}
