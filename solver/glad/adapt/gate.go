package adapt

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/modelfile"
)

func gateFormat() modelfile.Format { return modelfile.Format{Name: "gladflow.gate", Version: 1} }

// A Gate predicts by how much each expert is better or worse than the general model on a
// table, from its Statistics. It is a Gaussian process per expert (Rasmussen and
// Williams, "Gaussian Processes for Machine Learning", 2006, Eq. 2.25) with the kernel
// exp(−‖x − x'‖²/(2·Length²)) over standardised statistics: unlike any table it knows, it
// falls back to Prior, that an expert is worse by that much, with all of the spread; the
// weight is then the general model's.
type Gate struct {
	// Models are the names of the models, the general one first.
	Models []string `json:"models"`
	// Mean and Deviation standardise the statistics.
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"`
	// Tables are the standardised statistics of the tables that it has learned from, and
	// Excess the error of each expert on them beyond that of the general model, in decibels.
	Tables [][]float64 `json:"tables"`
	Excess [][]float64 `json:"excess"`
	// Length is that of the kernel, Noise the variance of what statistics do not tell, as
	// a part of the variance of the excess.
	Length float64 `json:"length"`
	Noise  float64 `json:"noise"`
	// Prior is what is expected of an expert where nothing is known, in decibels.
	Prior float64 `json:"prior"`
	// Caution is how many standard deviations are added to what is expected, and
	// Temperature the decibels by which a weight falls to 1/e.
	Caution     float64 `json:"caution"`
	Temperature float64 `json:"temperature"`
	// Card says what it has learned from.
	Card glad.Card `json:"card"`
}

// Write writes the gate as JSON. It refuses one that is not valid.
func (g *Gate) Write(w io.Writer) error { return modelfile.Write(w, gateFormat(), g) }

func readGate(d *modelfile.Decoder, top modelfile.Object) *Gate {
	d.Keys(top, "", []string{"format", "version", "models", "mean", "deviation", "tables", "excess", "length", "noise",
		"prior", "caution", "temperature", "card"}, nil)
	table := func(key string) [][]float64 {
		var rows [][]float64
		for i, v := range d.List(key, top[key]) {
			rows = append(rows, d.Numbers(fmt.Sprintf("%s[%d]", key, i), v))
		}
		return rows
	}
	g := &Gate{
		Mean: d.Numbers("mean", top["mean"]), Deviation: d.Numbers("deviation", top["deviation"]),
		Tables: table("tables"), Excess: table("excess"),
		Length: d.Number("length", top["length"]), Noise: d.Number("noise", top["noise"]), Prior: d.Number("prior", top["prior"]),
		Caution: d.Number("caution", top["caution"]), Temperature: d.Number("temperature", top["temperature"]),
		Card: d.Card("card", top["card"]),
	}
	for i, v := range d.List("models", top["models"]) {
		g.Models = append(g.Models, d.Text(fmt.Sprintf("models[%d]", i), v))
	}
	return g
}

// Validate reports the first key that is wrong.
func (g *Gate) Validate() error {
	n := len(statisticNames)
	short := func(size int) func([]float64) bool { return func(row []float64) bool { return len(row) != size } }
	switch {
	case len(g.Models) < 2:
		return modelfile.Invalid("models", "are fewer than two; fit the gate again")
	case len(g.Mean) != n || len(g.Deviation) != n || slices.ContainsFunc(g.Tables, short(n)):
		return modelfile.Invalid("tables", "have not the %d statistics of this version; fit the gate again", n)
	case len(g.Tables) == 0 || len(g.Excess) != len(g.Tables) || slices.ContainsFunc(g.Excess, short(len(g.Models)-1)):
		return modelfile.Invalid("excess", "has not one row for each table and one number for each expert")
	case !(g.Length > 0) || !(g.Noise > 0) || !(g.Temperature > 0) || !(g.Caution >= 0) || slices.ContainsFunc(g.Deviation, func(v float64) bool { return !(v > 0) }):
		return modelfile.Invalid("length", "or noise, temperature, caution or a deviation is not positive")
	}
	return modelfile.ValidateCard(g.Card)
}

// isFor reports a gate that was fitted to other models.
func (g *Gate) isFor(models []*glad.Model) error {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	if !slices.Equal(names, g.Models) {
		return modelfile.Invalid("models", "are %q and not %q; fit the gate again", g.Models, names)
	}
	return nil
}

// byGate is what the gate says of p, for which the general model has the first estimate.
func (w *work) byGate(p solver.Problem, estimates []*solver.Estimate) (Choice, error) {
	stats, err := Statistics(w.ctx, p, estimates[0].Precision, w.engine())
	if err != nil {
		return Choice{}, err
	}
	var choice Choice
	err = dense.Await(w.ctx, func() {
		choice.Expected, choice.Weights = w.Set.Gate.fit().predict(stats)
	})
	choice.By = ByGate
	return choice, err
}

// A process is a Gate with what predicting needs.
type process struct {
	*Gate
	inverse *dense.Sym  // of the kernel's matrix with the noise
	alpha   [][]float64 // of each expert: inverse·(excess − prior)
	spread  []float64   // of each expert's excess about the prior
}

// fit prepares the gate for predictions.
func (g *Gate) fit() *process {
	n := len(g.Tables)
	p := &process{Gate: g, inverse: dense.NewSym(n, nil)}
	kernel := dense.NewSym(n, nil)
	for i := range n {
		for j := range i + 1 {
			kernel.Set(i, j, g.kernel(g.Tables[i], g.Tables[j]))
		}
	}
	kernel.AddDiagonal(g.Noise)
	// The kernel is positive definite and the noise is not small.
	if _, ok := dense.NewWorkspace(dense.Gonum{}, n).Inverse(p.inverse, kernel); !ok {
		panic("adapt: the kernel is not positive definite")
	}
	for k := range len(g.Models) - 1 {
		alpha := make([]float64, n)
		var spread float64
		for i := range n {
			for j, v := range p.inverse.Row(i) {
				alpha[i] += v * (g.Excess[j][k] - g.Prior)
			}
			spread += (g.Excess[i][k] - g.Prior) * (g.Excess[i][k] - g.Prior) / float64(n)
		}
		p.alpha, p.spread = append(p.alpha, alpha), append(p.spread, math.Sqrt(spread))
	}
	return p
}

func (g *Gate) kernel(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Exp(-sum / (2 * g.Length * g.Length))
}

// predict is what is expected of each model with such statistics, and the weights.
func (p *process) predict(stats []float64) (expected, weights []float64) {
	x := make([]float64, len(stats))
	for i, v := range stats {
		x[i] = (v - p.Mean[i]) / p.Deviation[i]
	}
	similar := make([]float64, len(p.Tables))
	for i, t := range p.Tables {
		similar[i] = p.kernel(x, t)
	}
	known := 0.0
	for i, v := range similar {
		for j, c := range p.inverse.Row(i) {
			known += v * c * similar[j]
		}
	}
	unknown := math.Sqrt(math.Max(0, 1-known))
	return p.weigh(func(k int) (float64, float64) {
		mean := p.Prior
		for i, v := range similar {
			mean += v * p.alpha[k][i]
		}
		return mean, unknown * p.spread[k]
	})
}

// weigh makes weights of the mean and the standard deviation of each expert's excess.
func (p *process) weigh(of func(k int) (mean, deviation float64)) (expected, weights []float64) {
	expected, weights = make([]float64, len(p.Models)), make([]float64, len(p.Models))
	cautious := make([]float64, len(p.Models))
	for k := range p.alpha {
		mean, deviation := of(k)
		expected[k+1] = mean
		cautious[k+1] = mean + p.Caution*deviation
	}
	least := slices.Min(cautious)
	for k, v := range cautious {
		weights[k] = math.Exp((least - v) / p.Temperature)
		if weights[k] < leastWeight {
			weights[k] = 0
		}
	}
	normalise(weights)
	return expected, weights
}

// leastWeight is what a weight must be, beside the largest, not to be nothing.
const leastWeight = 0.01
