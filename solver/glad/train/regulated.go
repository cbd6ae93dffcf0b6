package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/adam"
)

// A Regulated is a table whose edges are known: what a model is trained with to rank them.
type Regulated struct {
	// R is the correlation of all d variables, Samples the number behind it.
	R       *dense.Sym
	Samples int
	// Regulators are the p variables at which edges may start, ascending: the model then
	// works on their block. Where it is nil, edges are undirected, between any two
	// variables, and p is d.
	Regulators []int
	// Edge says whether there is an edge from regulator number k to variable j, at
	// k·d + j. It is symmetric where edges are undirected.
	Edge []bool
}

// Problem is that of the regulators' block, or of all variables.
func (e Regulated) Problem() solver.Problem {
	if e.Regulators == nil {
		return solver.Problem{S: e.R, Samples: e.Samples}
	}
	return solver.Problem{S: e.R.Submatrix(e.Regulators), Samples: e.Samples}
}

// Pairs calls f with the two variables of every pair that is scored, and its place in Edge.
func (e Regulated) Pairs(f func(at, i, j int)) {
	d := e.R.Len()
	if e.Regulators == nil {
		for i := range d {
			for j := i + 1; j < d; j++ {
				f(i*d+j, i, j)
			}
		}
		return
	}
	for k, i := range e.Regulators {
		for j := range d {
			if j != i {
				f(k*d+j, i, j)
			}
		}
	}
}

// Scores are what Θ says of every pair, p·d: the coefficients B of
// association.Scorer.Coefficients or, where edges are undirected, the partial correlations.
func (e Regulated) Scores(ctx context.Context, theta *dense.Sym) ([]float64, error) {
	if e.Regulators != nil {
		return association.Scorer{Engine: dense.Gonum{}}.Coefficients(ctx, theta, e.R, e.Regulators)
	}
	scores := theta.Clone()
	d := theta.Len()
	for i := range d {
		row := scores.Row(i)
		for j := range row {
			row[j] = -theta.At(i, j) / math.Sqrt(theta.At(i, i)*theta.At(j, j))
		}
	}
	return scores.Raw(), nil
}

// back adds to by the derivatives by Θ where byScores are those by the Scores b.
func (e Regulated) back(theta, by *dense.Sym, b, byScores []float64) {
	if e.Regulators != nil {
		backThroughCoefficients(e, theta, by, byScores)
		return
	}
	e.Pairs(func(at, i, j int) {
		g := byScores[at]
		root := math.Sqrt(theta.At(i, i) * theta.At(j, j))
		by.Row(i)[j] -= g / (2 * root)
		by.Row(j)[i] -= g / (2 * root)
		by.Row(i)[i] -= g * b[at] / (2 * theta.At(i, i))
		by.Row(j)[j] -= g * b[at] / (2 * theta.At(j, j))
	})
}

// weights are those by which every edge, and every other pair, counts in a loss in which
// both classes count the same: half each.
func (e Regulated) weights() (edge, other float64) {
	edges, pairs := 0, 0
	e.Pairs(func(at, _, _ int) {
		pairs++
		if e.Edge[at] {
			edges++
		}
	})
	return 0.5 / float64(edges), 0.5 / float64(pairs-edges)
}

// A head makes a logit of a pair: slope·|B| + correlationWeight·|R| + bias, with the
// Scores B.
type head struct{ slope, bias float64 }

// correlationWeight is fixed: it sets the scale on which Θ is learned.
const correlationWeight = 2

// loss is the class-balanced logistic loss of the edges through B. It adds the derivatives
// by Θ to by, and returns those by the head.
func (h head) loss(e Regulated, b []float64, theta, by *dense.Sym) (loss float64, byHead head) {
	edge, other := e.weights()
	byB := make([]float64, len(b))
	e.Pairs(func(at, i, j int) {
		v := b[at]
		logit := h.slope*math.Abs(v) + correlationWeight*math.Abs(e.R.At(i, j)) + h.bias
		weight, sign := other, 1.0
		if e.Edge[at] {
			weight, sign = edge, -1
		}
		l, slope := logistic(sign * logit)
		loss += weight * l
		g := weight * sign * slope
		byHead.slope += g * math.Abs(v)
		byHead.bias += g
		byB[at] = g * h.slope
		if v < 0 {
			byB[at] = -byB[at]
		}
	})
	e.back(theta, by, b, byB)
	return loss, byHead
}

// logistic is log(1 + eˣ) and its derivative.
func logistic(x float64) (value, derivative float64) {
	if x > 0 {
		small := math.Exp(-x)
		return x + math.Log1p(small), 1 / (1 + small)
	}
	small := math.Exp(x)
	return math.Log1p(small), small / (1 + small)
}

// backThroughCoefficients adds to by the derivatives by Θ where byB are those by B.
func backThroughCoefficients(e Regulated, theta, by *dense.Sym, byB []float64) {
	p, d := len(e.Regulators), e.R.Len()
	number := make([]int, d) // of a regulator, from 1
	for k, i := range e.Regulators {
		number[i] = k + 1
	}
	add := func(k, l int, v float64) { // by the single entry (k, l), in a symmetric matrix
		by.Row(k)[l] += v / 2
		by.Row(l)[k] += v / 2
	}
	for k := range p {
		g := byB[k*d : (k+1)*d]
		for l, i := range e.Regulators { // Bkj = Σ Θkl·Rlj
			var sum float64
			r := e.R.Row(i)
			for j, v := range g {
				if number[j] == 0 {
					sum += v * r[j]
				}
			}
			add(k, l, sum)
		}
		for j, v := range g { // Bkt = −Θkt/Θtt
			if t := number[j] - 1; t >= 0 && t != k {
				own := theta.At(t, t)
				add(k, t, -v/own)
				add(t, t, v*theta.At(k, t)/(own*own))
			}
		}
	}
}

// A RegulatedResult is what RunRegulated found.
type RegulatedResult struct {
	// Model is the best on the validation tables, its card's Trained, Loss, Seed, Steps,
	// Validation and Backend filled in.
	Model *glad.Model
	// Validation is the figure there, Step where it was found.
	Validation float64
	Step       int
}

// A RegulatedFigure judges a table by the sizes of its Scores; the higher the better.
type RegulatedFigure struct {
	Name    string
	Compute func(e Regulated, b []float64) (float64, error)
}

// regulatedLoss is what RunRegulated minimises, for a model's card.
func regulatedLoss(e Regulated) string {
	b := "B = Theta_K R"
	if e.Regulators == nil {
		b = "B the partial correlations of Theta_K"
	}
	return "class-balanced logistic loss of a|B| + 2|R| + b on the edges, " + b + ", at the last cell"
}

// RegulatedStart is a model with random weights from seed: the paper's cell on features
// that do not depend on signs, with ρ in (0, 1) and λ in (0, ∞), 15 cells.
func RegulatedStart(seed uint64) *glad.Model {
	r := rand.New(rand.NewPCG(seed, 0x57a2<<16))
	return &glad.Model{
		Name: "regulators", Kind: glad.GLAD, Iterations: 15, Theta0Offset: 1, Lambda0: 1,
		Rho: perceptron(r, []glad.Feature{glad.AbsTheta, glad.AbsS, glad.AbsZ, glad.NegThetaS, glad.Diagonal, glad.Context},
			[]int{3, 3, 3, 1}, glad.Sigmoid, []float64{-4}),
		Lambda:  perceptron(r, []glad.Feature{glad.LogNorm2PerD, glad.Lambda}, []int{3, 1}, glad.Exp, []float64{0}),
		Scaling: glad.Scaling{Mode: glad.ScalingCorrelation},
	}
}

// RegulatedSettings are those that suit RegulatedStart.
func RegulatedSettings(seed uint64) Settings {
	return Settings{Seed: seed, Steps: 250, Batch: 5, LearningRate: 0.05}
}

// RunRegulated trains a model so that the Scores B of its last Θ rank the edges: the loss
// of a table is the logistic loss of a·|B| + 2|R| + b, in which edges and other pairs count
// the same, and a and b are learned with the model and not kept. Of the settings Loss,
// Criterion, Patience, Race, SupportCost and Checkpoint are not used. The model that is
// best by figure on the validation tables, at the validations every ValidateEvery steps,
// is returned. start is not modified.
func RunRegulated(ctx context.Context, start *glad.Model, training, validation []Regulated, figure RegulatedFigure, s Settings) (*RegulatedResult, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(training) == 0 || len(validation) == 0 {
		return nil, errors.New("there are no tables to train on, or none to validate on")
	}
	r := &regulatedRun{settings: s.resolved(), training: training, validation: validation, figure: figure}
	return r.run(ctx, start)
}

type regulatedRun struct {
	settings             Settings
	training, validation []Regulated
	figure               RegulatedFigure
}

func (r *regulatedRun) run(ctx context.Context, start *glad.Model) (*RegulatedResult, error) {
	s, model := r.settings, start.Clone()
	g, err := glad.NewDifferentiator(model, s.Backend)
	if err != nil {
		return nil, err
	}
	defer g.Close()
	values := append(model.Values(), 1, -1) // of the head last
	optimiser := adam.New(len(values))
	best := &RegulatedResult{Validation: math.Inf(-1)}
	var order []int
	rng := rand.New(rand.NewPCG(s.Seed, 0x0de7))
	for step := range s.Steps {
		batch := make([]Regulated, s.Batch)
		for i := range batch {
			if len(order) == 0 {
				order = rng.Perm(len(r.training))
			}
			batch[i], order = r.training[order[0]], order[1:]
		}
		gradient, loss, err := r.gradient(ctx, g, batch, values)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step+1, err)
		}
		clip(gradient, s.ClipNorm)
		optimiser.Step(values, gradient, s.rate(step+1))
		p := Progress{Start: 1, Starts: 1, Step: step + 1, Steps: s.Steps, Loss: loss, Validation: math.NaN(), Best: best.Validation}
		if (step+1)%s.ValidateEvery == 0 || step+1 == s.Steps {
			model.SetValues(values[:len(values)-2])
			v, err := r.validate(ctx, model)
			if err != nil {
				return nil, err
			}
			if v > best.Validation {
				best = &RegulatedResult{Model: model.Clone(), Validation: v, Step: step + 1}
			}
			p.Validated, p.Validation, p.Best = true, v, best.Validation
		}
		if s.Progress != nil {
			s.Progress(p)
		}
	}
	if best.Model == nil {
		return nil, ErrNotFinite
	}
	c := &best.Model.Card
	c.Trained, c.Backend, c.Loss, c.Seed, c.Steps = true, s.Backend.Name(), regulatedLoss(r.training[0]), s.Seed, s.Steps
	c.Validation = map[string]any{r.figure.Name: best.Validation, "examples": float64(len(r.validation)), "step": float64(best.Step)}
	return best, nil
}

// gradient is that of the mean loss of a batch.
func (r *regulatedRun) gradient(ctx context.Context, g *glad.Differentiator, batch []Regulated, values []float64) ([]float64, float64, error) {
	n := len(values) - 2
	g.SetValues(values[:n])
	h := head{values[n], values[n+1]}
	problems, gradients := make([]solver.Problem, len(batch)), make([][]float64, len(batch))
	for i, e := range batch {
		problems[i], gradients[i] = e.Problem(), make([]float64, n)
	}
	losses, byHeads, failed := make([]float64, len(batch)), make([]head, len(batch)), make([]error, len(batch))
	err := g.OutcomeGradients(ctx, problems, func(i int, theta, by *dense.Sym) (loss float64) {
		b, err := batch[i].Scores(ctx, theta)
		if failed[i] = err; err == nil {
			loss, byHeads[i] = h.loss(batch[i], b, theta, by)
		}
		return loss
	}, losses, gradients)
	if err = errors.Join(append(failed, err)...); err != nil {
		return nil, 0, err
	}
	sum, total, part := make([]float64, n+2), 0.0, 1/float64(len(batch))
	for i, of := range gradients {
		for j, v := range of {
			sum[j] += part * v
		}
		sum[n] += part * byHeads[i].slope
		sum[n+1] += part * byHeads[i].bias
		total += part * losses[i]
	}
	if !allFinite(sum) {
		return nil, 0, ErrNotFinite
	}
	return sum, total, nil
}

// validate is the mean figure of the validation tables.
func (r *regulatedRun) validate(ctx context.Context, m *glad.Model) (float64, error) {
	var sum float64
	for _, e := range r.validation {
		est, err := glad.Solver{Model: m, Backend: r.settings.Backend}.Solve(ctx, e.Problem())
		if err != nil {
			return 0, err
		}
		b, err := e.Scores(ctx, est.Precision)
		if err != nil {
			return 0, err
		}
		v, err := r.figure.Compute(e, b)
		if err != nil {
			return 0, err
		}
		sum += v / float64(len(r.validation))
	}
	return sum, nil
}
