package covariance_test

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/solver/covariance"
)

// Heights in metres, weights in kilograms, shoe sizes of five people.
func ExampleEstimate() {
	people := []float64{
		1.62, 55, 37,
		1.70, 68, 40,
		1.75, 66, 41,
		1.81, 82, 44,
		1.93, 85, 46,
	}
	r, err := covariance.Estimate(context.Background(), covariance.NewTable(people, 3), 3, covariance.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		fmt.Printf("%.3f  mean %.2f, standard deviation %.2f\n", r.S.Row(i), r.Means[i], r.StdDevs[i])
	}
	// Output:
	// [1.000 0.937 0.984]  mean 1.76, standard deviation 0.10
	// [0.937 1.000 0.980]  mean 71.20, standard deviation 11.02
	// [0.984 0.980 1.000]  mean 41.60, standard deviation 3.14
}

func ExampleFromMatrix() {
	_, err := covariance.FromMatrix(context.Background(), []float64{
		2, 0.5,
		0.5, 0,
	}, 2, 100, covariance.Settings{Names: []string{"lacZ", "araC"}})
	fmt.Println(err)
	// Output: column "araC" (number 2) has the variance 0; variances must be positive, so remove its row and column
}
