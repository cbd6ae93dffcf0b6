package selection_test

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/selection"
)

// Three variables in a chain, and one that is related to none of them.
func Example() {
	s := dense.NewSym(4, []float64{
		1.00, 0.60, 0.36, 0.02,
		0.60, 1.00, 0.60, 0.03,
		0.36, 0.60, 1.00, 0.01,
		0.02, 0.03, 0.01, 1.00,
	})
	choice, err := selection.Refit(context.Background(), solver.Problem{S: s, Samples: 200}, selection.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen := choice.Path[choice.Chosen]
	fmt.Printf("%.0f edges; the path begins with %.0f\n", chosen.Edges, choice.Path[0].Edges)
	// Output:
	// 2 edges; the path begins with 0
}
