// Package glad recovers a precision matrix with GLAD, the learned solver of
// Shrivastava et al., "GLAD: Learning Sparse Graph Recovery" (ICLR 2020): K
// steps of alternating minimisation whose threshold ρ and penalty λ are the
// outputs of two small networks instead of constants.
//
//	model, err := glad.Builtin(glad.DefaultModelName) // or glad.Read(file)
//	if err != nil {
//		return err
//	}
//	est, err := glad.Solver{Model: model}.Solve(ctx, solver.Problem{S: s, Samples: m})
//
// The estimate has a dense Θ as its Precision, by which edges are ranked, and
// the sparse Z_K as its Support. GLAD minimises no stated objective, so
// that there is no duality gap: its Status is Completed, never Converged.
//
// The cell (paper, Algorithm 1) is, for k = 1 … K, from Θ = Z = (S + tI)⁻¹,
//
//	λ   ← Λnn(‖Z − Θ‖²F, λ)
//	Y   ← S/λ − Z
//	Θ   ← ½(−Y + √(YᵀY + (4/λ)I))
//	ρij ← ρnn(Θij, Sij, Zij)
//	Zij ← sign(Θij)·max(|Θij| − ρij, 0)      for all i, j, the diagonal too
//
// The unrolled ADMM of the paper's appendix ("admmu") has a dual matrix U, at first
// 0, and λ among the inputs of ρnn:
//
//	Y   ← S/λ − Z + U
//	Zij ← sign(Aij)·max(|Aij| − ρij, 0)      for A = Θ + U
//	U   ← A − Z
//
// Models of kind "glad-pm" have a posterior-mean cell in place of ρnn and the
// threshold, which comes closer to the truth with fewer cells: see PosteriorMean.
// K, t, the networks with their inputs, and the scaling of S are the model's: see
// Model.
//
// Differentiator gives the exact gradient of a loss by all parameters; package
// train fits them, and the built-in models were made by it. Both it and Solver
// run on a Backend: the CPU, or another one.
//
// # Files
//
// The parts of the cell are files, each with its adjoint: cell_lambda.go,
// cell_theta.go, then cell_paper.go or cell_posterior.go. The inputs of the
// networks are the table in features.go. backend.go is the contract between the
// recursion and what evaluates the cells; cpu.go, iterates.go, tape.go and sweep.go
// are the CPU's side of it.
//
// # Limits of float64
//
// Θ is symmetric positive definite for every model and every positive
// semidefinite S. To keep that true in float64 there are three limits. A usual
// model on a usual S reaches none of them. With ε = 2⁻⁵² and ‖S‖ the largest
// absolute row sum:
//
//   - λ stays between (16dε‖S‖)² and 1e200, and never below 1e-200. Where S is
//     singular Θ has eigenvalues near 1/√λ and others near 1/‖S‖, and below
//     this floor float64 could not tell the smaller ones from rounding. A λ
//     that underflowed to zero is raised to the floor, one that overflowed is
//     lowered to 1e200; the next call of Λnn sees that value.
//   - Eigenvalues of Θ below 16dε times its largest are raised to that, and so
//     are those of S + tI with t > 0. An S + tI with a negative eigenvalue, or
//     a singular one with t ≤ 0, is an error.
//   - When a model drives ‖Z − Θ‖²F or λ out of float64's range (a negative ρ
//     can), the solve ends with the last finite iterate and Status Stalled.
package glad
