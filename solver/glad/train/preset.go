package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gladflow/gladflow/solver/glad"
)

// The architectures there are.
const (
	// Literal is Algorithm 1 of the paper with its 54 parameters: 30 cells, ρ
	// in (0, 1) from Θ, S and Z, λ in (0, 1) from ‖Z − Θ‖²F.
	Literal = "literal"
	// Features is the paper's cell on features that do not depend on signs and
	// know the diagonal, with ρ in (0, 4) and λ in (0, ∞): 15 cells, 60
	// parameters.
	Features = "recipe"
	// ADMMu is the unrolled ADMM of the paper's appendix.
	ADMMu = "admmu"
	// TiedPosteriorMean is 8 times one posterior-mean cell: 70 parameters.
	TiedPosteriorMean = "pm-tied"
	// UntiedPosteriorMean is 5 posterior-mean cells, each with weights of its
	// own: 634 parameters.
	UntiedPosteriorMean = "pm"
	// GeneralPosteriorMean is UntiedPosteriorMean for covariances of any size
	// and scale: it scales S and knows how strongly its variables correlate.
	GeneralPosteriorMean = "pm-general"
	// TablePosteriorMean is 5 larger posterior-mean cells for correlation matrices of
	// any size: they know what kind of table they work on.
	TablePosteriorMean = "pm-table"
)

// Architectures lists what NewPreset knows.
func Architectures() []string {
	return []string{Literal, Features, ADMMu, TiedPosteriorMean, UntiedPosteriorMean, GeneralPosteriorMean, TablePosteriorMean}
}

// A Preset is an architecture with the settings that suit its training.
type Preset struct {
	// Architecture is its name.
	Architecture string
	// Starts are models with random weights, one for each output bias of ρnn
	// that is tried.
	Starts []*glad.Model
	// Settings are those that suit the architecture.
	Settings Settings
}

// NewPreset returns the preset of an architecture, with first weights drawn
// from seed: uniform within ±1/√(inputs of the unit).
func NewPreset(architecture string, seed uint64) (Preset, error) {
	r := Preset{Architecture: architecture}
	draw := func(start int) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x57a2<<16|uint64(start))) }
	switch architecture {
	case Literal, Features, ADMMu:
		r.Settings = Settings{Seed: seed, Steps: 300, Batch: 5, LearningRate: 0.1, Loss: Loss{On: glad.LossOnZ, Gamma: 0.95}}
		// Where all thresholds are equal there is a plateau, and where they are
		// above every entry nothing has a derivative: which bias leads past it
		// depends on the data, and on the range of ρ.
		biases := []float64{0, -2, -4}
		if architecture == Features {
			biases = []float64{-4, -3, -2}
		}
		for start, bias := range biases {
			r.Starts = append(r.Starts, unrolled(architecture, bias, draw(start)))
		}
	case TiedPosteriorMean, UntiedPosteriorMean, GeneralPosteriorMean:
		r.Settings = Settings{Seed: seed, Steps: 160, Batch: 4, LearningRate: 0.03, Loss: Loss{On: glad.LossOnZ, Gamma: 0.8, Relative: true}}
		r.Starts = []*glad.Model{posteriorMean(architecture, draw(0))}
	case TablePosteriorMean:
		r.Settings = Settings{
			Seed: seed, Steps: 800, Batch: 8, LearningRate: 0.02,
			Milestones: []float64{0.4, 0.65, 0.85},
			Loss:       Loss{On: glad.LossOnZ, Gamma: 0.5, Logarithmic: true},
		}
		r.Starts = []*glad.Model{posteriorMean(architecture, draw(0))}
	default:
		return Preset{}, fmt.Errorf("no architecture is called %q; there are %s", architecture, strings.Join(Architectures(), ", "))
	}
	return r, nil
}

// unrolled is a model of the paper's cells.
func unrolled(architecture string, bias float64, r *rand.Rand) *glad.Model {
	m := &glad.Model{
		Name: architecture, Kind: glad.GLAD, Iterations: 30, Theta0Offset: 1, Lambda0: 1,
		Scaling: glad.Scaling{Mode: glad.ScalingNone},
	}
	rho := []glad.Feature{glad.Theta, glad.S, glad.Z}
	lambda := []glad.Feature{glad.Norm2, glad.Lambda}
	scale, last := 0.0, glad.Sigmoid
	switch architecture {
	case ADMMu:
		m.Kind = glad.ADMMu
		rho = append(rho, glad.Lambda)
	case Features:
		rho = []glad.Feature{glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal}
		lambda[0] = glad.LogNorm2PerD
		scale, last = 4, glad.Exp
		m.Iterations = 15
	}
	m.Rho = perceptron(r, rho, []int{3, 3, 3, 1}, glad.Sigmoid, []float64{bias})
	m.Rho.Layers[3].Scale = scale
	m.Lambda = perceptron(r, lambda, []int{3, 1}, last, []float64{0})
	return m
}

// posteriorMean is a model of posterior-mean cells.
func posteriorMean(architecture string, r *rand.Rand) *glad.Model {
	m := &glad.Model{
		Name: architecture, Kind: glad.GLADPM, Iterations: 5, Theta0Offset: 1, Lambda0: 1,
		Scaling: glad.Scaling{Mode: glad.ScalingNone},
	}
	inputs := []glad.Feature{glad.AbsU, glad.LogV, glad.ScaledU, glad.PriorZ, glad.UZ, glad.Diagonal,
		glad.NodeContext, glad.NodeSupport, glad.MeanDiagonal}
	lambda := []glad.Feature{glad.LogStep, glad.Lambda}
	units, cells := []int{6, 6, 3}, m.Iterations
	switch architecture {
	case TiedPosteriorMean:
		m.Iterations, units, cells = 8, []int{4, 3}, 1
	case GeneralPosteriorMean:
		// M enters as evidence for an entry only: how λ depends on it at
		// d/M of the training data would not hold where both are larger.
		inputs = append(inputs, glad.ZScore, glad.Context)
		units = []int{8, 8, 3}
		lambda = append(lambda, glad.Context)
		m.Scaling = glad.Scaling{Mode: glad.ScalingGlobal, MeanDiagonal: generalMeanDiagonal}
	}
	hidden := 3
	if architecture == TablePosteriorMean {
		table := []glad.Feature{glad.SampleRatio, glad.Strength, glad.Kurtosis, glad.RowSpread, glad.LargestContext}
		inputs = append(append(inputs, glad.ZScore, glad.NodeContrast, glad.SupportContrast, glad.Context), table...)
		lambda = append(append(lambda, glad.Context), table...)
		units, hidden = []int{16, 16, 3}, 6
		m.Scaling = glad.Scaling{Mode: glad.ScalingCorrelation, MeanDiagonal: generalMeanDiagonal}
	}
	m.Lambda = perceptron(r, lambda, []int{hidden, 1}, glad.Exp, []float64{0})
	first := glad.PosteriorMean{Step: -1, Network: perceptron(r, inputs, units, glad.Identity, []float64{-1.5, 0, -2})}
	for range cells {
		m.Cells = append(m.Cells, first)
	}
	return m.Clone() // of its own memory for each cell
}

// generalMeanDiagonal is about the mean of diag(S) on Erdős-Rényi graphs with
// p = 0.1 and d = 100, for which the cell's features were centred.
const generalMeanDiagonal = 0.35

// perceptron has the given units by layer, tanh inside, and set biases at the
// end.
func perceptron(r *rand.Rand, inputs []glad.Feature, units []int, last glad.Activation, bias []float64) glad.Network {
	n := glad.Network{Inputs: inputs}
	below := len(inputs)
	for i, u := range units {
		l := glad.Layer{Activation: glad.Tanh}
		size := 1 / math.Sqrt(float64(below))
		draw := func() float64 { return size * (2*r.Float64() - 1) }
		for range u {
			row := make([]float64, below)
			for j := range row {
				row[j] = draw()
			}
			l.Weights = append(l.Weights, row)
			l.Bias = append(l.Bias, draw())
		}
		if i == len(units)-1 {
			l.Activation, l.Bias = last, append([]float64(nil), bias...)
		}
		n.Layers = append(n.Layers, l)
		below = u
	}
	return n
}
