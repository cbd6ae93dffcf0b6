package glad_test

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

func ExampleSolver() {
	model, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The correlations of three variables, of which the last stands alone.
	s := dense.NewSym(3, []float64{
		1, 0.8, 0.05,
		0.8, 1, 0,
		0.05, 0, 1,
	})
	est, err := glad.Solver{Model: model}.Solve(context.Background(), solver.Problem{S: s, Samples: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(est.Status, "after", est.Iterations, "iterations:", est.Edges(), "edge")
	for i := range 3 {
		for j := range i {
			fmt.Printf("%d-%d  score %.3f  edge %t\n", j, i, est.Score(j, i), est.Support.At(j, i) != 0)
		}
	}
	// Output:
	// completed after 30 iterations: 1 edge
	// 0-1  score 0.491  edge true
	// 0-2  score 0.010  edge false
	// 1-2  score 0.001  edge false
}

func ExampleBuiltin() {
	for _, name := range glad.BuiltinNames() {
		m, err := glad.Builtin(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s, K = %d, trained %t\n", m.Name, m.Kind, m.Iterations, m.Card.Trained)
	}
	// Output:
	// constant-untrained: glad, K = 30, trained false
}
