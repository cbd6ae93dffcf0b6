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
	fmt.Println(est.Status, "after", est.Iterations, "iterations")
	fmt.Println("0-1 comes first:", est.Score(0, 1) > max(est.Score(0, 2), est.Score(1, 2)))
	// Output:
	// completed after 5 iterations
	// 0-1 comes first: true
}

func ExampleBuiltin() {
	m, err := glad.Builtin("er-d100-m100-literal")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s, K = %d, %d parameters, trained %t\n", m.Name, m.Kind, m.Iterations, m.Parameters(), m.Card.Trained)
	// Output:
	// er-d100-m100-literal: glad, K = 30, 54 parameters, trained true
}
