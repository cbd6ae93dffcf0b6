// Package cuda runs GLAD, and the products, inverses and eigendecompositions of the
// classical solvers, on a GPU through gorgonia.org/cu. Its code has the build tag cuda
// and needs cgo; without the tag the package has no way to a device.
//
//	backend, err := cuda.New(0)
//	defer backend.Close()
//	estimate, err := glad.Solver{Backend: backend}.Solve(ctx, problem)
//
// S crosses to the device once, λ and ‖Z − Θ‖²F once a cell, Θ and Z back once. The Θ
// step, the matrix square root √(Y² + (4/λ)I), is an eigendecomposition where d is small
// or the matrix badly conditioned, and otherwise the polar iteration of minimax.go, which
// is made of products. Results are those of glad.CPU to 1e-8 of the largest entry.
//
// Package covariance can keep its sums there, see Backend.Engine.
package cuda
