package simulate_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/simulate"
)

// What a solver takes, S and M, and what it should find, Θ.
func ExampleFamily() {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(1, 0))
	family := simulate.Family{Graph: simulate.GraphHub, Dimension: 40, Groups: 2}
	theta, err := family.Precision(rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := simulate.Covariance(ctx, rng, theta, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	edges := 0
	for i := range theta.Len() {
		for j := range i {
			if theta.At(i, j) != 0 {
				edges++
			}
		}
	}
	fmt.Println(edges, "edges of", family)
	fmt.Println("S is", s.Len(), "×", s.Len())
	// Output:
	// 38 edges of hub groups=2, d=40, weights U[-1, 1) sym, smallest eigenvalue 1
	// S is 40 × 40
}

// The same seed draws the same network.
func ExampleFamily_Draw() {
	family := simulate.Family{Graph: simulate.GraphScaleFree, Dimension: 6}
	for range 2 {
		graph, err := family.Draw(rand.New(rand.NewPCG(7, 0)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(graph.Edges)
	}
	// Output:
	// [[0 1] [0 4] [1 2] [1 3] [1 5]]
	// [[0 1] [0 4] [1 2] [1 3] [1 5]]
}
