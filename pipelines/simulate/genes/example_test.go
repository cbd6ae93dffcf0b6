package genes_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/simulate/genes"
)

// A model of two targets of one regulator, and ten samples of it.
func ExampleModel_Sample() {
	network := genes.NewNetwork(nil, []string{"lexA", "lexA"}, []string{"recA", "sulA"}, []int8{-1, -1})
	rng := rand.New(rand.NewPCG(1, 0))
	model, err := genes.Drawing{}.Draw(rng, network, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := model.Sample(rng, genes.Conditions{Samples: 10, Biological: .1, Measurement: .1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range set.Edges {
		fmt.Println(set.Names[e.Source], e.Sign, set.Names[e.Target])
	}
	fmt.Println(set.Rows, "×", len(set.Names))
	// Output:
	// lexA -1 recA
	// lexA -1 sulA
	// 10 × 3
}
