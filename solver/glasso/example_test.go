package glasso_test

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// Three variables in a chain: the first and the last are related only through
// the one between them, and the graphical lasso finds that out.
func Example() {
	s := dense.NewSym(3, []float64{
		1.00, 0.60, 0.30,
		0.60, 1.00, 0.60,
		0.30, 0.60, 1.00,
	})
	bcd := glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: 0.05}}}
	est, err := bcd.Solve(context.Background(), solver.Problem{S: s, Samples: 500})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(est.Status, est.Edges(), "edges")
	fmt.Printf("between 1 and 2: %.3f\n", est.PartialCorrelation(0, 1))
	fmt.Printf("between 1 and 3: %.3f\n", est.PartialCorrelation(0, 2))
	// Output:
	// converged 2 edges
	// between 1 and 2: 0.482
	// between 1 and 3: 0.000
}
