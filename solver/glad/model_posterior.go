package glad

import "fmt"

// A PosteriorMean is a cell that takes the place of the soft threshold in kind
// GLADPM. It has the form of the posterior mean of a Gaussian observation
// under a spike-and-slab prior: a step along the likelihood's score, then a
// smooth shrinkage of every entry, while the diagonal is drawn towards its own
// mean. With Θ new, Z old, n(i) = 3(a(i) − mean a) for a(i) = log Σ_j Rij²,
// and R the correlation matrix of S,
//
//	G    = λ(Θ − Z), which is Θ⁻¹ − S, the score of the likelihood
//	σi   = max(Sii + Gii, Sii/1000), where Sii + Gii is (Θ⁻¹)ii
//	vij  = σi·σj, the Fisher information of Θij per sample
//	uij  = Θij + softplus(e)·Gij/vij, one damped Newton step of the diagonal
//	m    = mean_i Θii
//	q(i) = log(0.1 + Σ_{j≠i} Zij²)
//	Zij  ← uij·sigmoid(o0)                                      for i ≠ j
//	Zii  ← m·(1 + 0.3·o1) + sigmoid(o2 + 1.5)·(uii − m)
//
// where (o0, o1, o2) is the network's output at the features of (i, j). The
// cell commutes with permutations of the variables and with changes of sign.
type PosteriorMean struct {
	// Step is e.
	Step float64 `json:"step"`
	// Network has three outputs; its inputs are AbsU to ZScore, Diagonal, Lambda
	// and Context.
	Network Network `json:"network"`
}

const posteriorOutputs = 3

func (m *Model) validateCells() error {
	switch {
	case len(m.Rho.Inputs)+len(m.Rho.Layers) > 0:
		return invalid("rho", "stands with kind %q, which has cells instead; only kinds %q and %q have it", m.Kind, GLAD, ADMMu)
	case len(m.Cells) != 1 && len(m.Cells) != m.Iterations:
		return invalid("cells", "has %d cells; it has one for all iterations or one for each of the %d", len(m.Cells), m.Iterations)
	case !finite(m.Threshold) || m.Threshold < 0:
		return invalid("threshold", "is %v; it must be finite and not negative", m.Threshold)
	}
	for i, c := range m.Cells {
		path := fmt.Sprintf("cells[%d]", i)
		if !finite(c.Step) {
			return invalid(path+".step", "is %v; it must be finite", c.Step)
		}
		if err := c.Network.validate(path+".network", posteriorFeatures(), posteriorOutputs); err != nil {
			return err
		}
	}
	return nil
}
