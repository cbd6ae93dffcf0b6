package dense_test

import (
	"fmt"
	"math"

	"github.com/gladflow/gladflow/solver/dense"
)

func Example() {
	engine, err := dense.Open("auto")
	if err != nil {
		fmt.Println(err)
		return
	}
	a := dense.NewSym(2, []float64{
		2, 1,
		1, 2,
	})
	w := dense.NewWorkspace(engine, a.Len())
	inverse := dense.NewSym(2, nil)
	logdet, ok := w.Inverse(inverse, a)
	fmt.Printf("log det %.4f = log %.0f, %t\n", logdet, math.Exp(logdet), ok)
	fmt.Printf("%.4f\n", inverse.Raw())
	// Output:
	// log det 1.0986 = log 3, true
	// [0.6667 -0.3333 -0.3333 0.6667]
}

// The square root of a matrix by its eigenvalues.
func ExampleWorkspace_Spectral() {
	a := dense.NewSym(2, []float64{5, 4, 4, 5})
	w := dense.NewWorkspace(dense.Default(), 2)
	values, vectors := make([]float64, 2), make([]float64, 4)
	if err := w.Eigen(a, values, vectors); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("eigenvalues %.4f\n", values)
	for i, v := range values {
		values[i] = math.Sqrt(v)
	}
	root := dense.NewSym(2, nil)
	w.Spectral(root, values, vectors)
	fmt.Printf("root %.4f\n", root.Raw())
	// Output:
	// eigenvalues [1.0000 9.0000]
	// root [2.0000 1.0000 1.0000 2.0000]
}
