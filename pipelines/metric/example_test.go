package metric_test

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/dense"
)

// Three variables in a chain, and an estimate with one edge too many.
func chain() (estimate, truth *dense.Sym) {
	truth = dense.NewSym(3, []float64{
		2, -1, 0,
		-1, 2, -1,
		0, -1, 2,
	})
	estimate = dense.NewSym(3, []float64{
		2, -0.8, 0.1,
		-0.8, 2, -0.9,
		0.1, -0.9, 2,
	})
	return estimate, truth
}

func ExampleNMSE() {
	estimate, truth := chain()
	var n metric.NMSE
	if err := n.Add(estimate, truth); err != nil {
		fmt.Println(err)
		return
	}
	db, _, err := n.Decibels() // one graph has no standard error
	if err != nil {
		fmt.Println(err)
		return
	}
	// ‖Θ − Θ*‖²F = 2·(0.2² + 0.1² + 0.1²) of ‖Θ*‖²F = 16.
	fmt.Printf("%.2f dB\n", db)
	// Output: -21.25 dB
}

func ExampleSupport() {
	c, err := metric.Support(chain())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\nfalse discovery rate %.2f, true positive rate %.2f\n", c, c.FDR(), c.TPR())
	// Output:
	// {TruePositives:2 FalsePositives:1 TrueNegatives:0 FalseNegatives:0}
	// false discovery rate 0.33, true positive rate 1.00
}
