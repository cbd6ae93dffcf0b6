package glad

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Feature is an input of a network. All are taken from the scaled S.
type Feature string

// The features of ρnn for entry (i, j), with Θ new and Z old.
const (
	Theta     Feature = "theta"       // Θij
	S         Feature = "s"           // Sij
	Z         Feature = "z"           // Zij
	AbsTheta  Feature = "abs_theta"   // |Θij|
	AbsS      Feature = "abs_s"       // |Sij|
	AbsZ      Feature = "abs_z"       // |Zij|
	NegThetaS Feature = "neg_theta_s" // −Θij·Sij
	Diagonal  Feature = "diagonal"    // 1 where i = j, else 0
)

// The features of a posterior-mean cell, which has Diagonal too: the first formula
// is for i ≠ j, the second for i = j. Where M is not known ZScore takes
// 0.4549/median(Rij², i < j), but at least 2 and at most 10⁶: about M if half of
// the pairs are independent.
const (
	AbsU         Feature = "abs_u"         // |uij|; Θii − m
	LogV         Feature = "log_v"         // log vij + 2.6
	ScaledU      Feature = "scaled_u"      // 4|uij|√vij; log Sii + 1
	PriorZ       Feature = "prior_z"       // |Zij|; Zii − m
	UZ           Feature = "u_z"           // uij·Zij; uii − m
	NodeContext  Feature = "node_context"  // (n(i) + n(j))/2
	NodeSupport  Feature = "node_support"  // (q(i) + q(j))/2
	MeanDiagonal Feature = "mean_diagonal" // m − 4
	ZScore       Feature = "z_score"       // log(1 + |uij|√(M·vij)); 0

	NodeContrast    Feature = "node_contrast"    // |n(i) − n(j)|/2; 0
	SupportContrast Feature = "support_contrast" // |q(i) − q(j)|/2; 0
)

// The features of Λnn, with Θ and Z of the cell before.
const (
	Norm2        Feature = "norm2"           // ‖Z − Θ‖²F
	LogNorm2PerD Feature = "log_norm2_per_d" // log(1e-6 + ‖Z − Θ‖²F/d)
	LogStep      Feature = "log_step"        // the same, but 0 for the first cell
)

// The features that all networks may have.
const (
	// Lambda is λ: for an entry that of this cell, for Λnn that of the cell
	// before.
	Lambda Feature = "lambda"
	// Context is log(mean_i Σ_j Rij²), R the correlation matrix of S: one
	// number per problem, zero for uncorrelated variables.
	Context Feature = "context"
)

const (
	// normFloor keeps the logarithm of a vanishing ‖Z − Θ‖²F/d finite.
	normFloor = 1e-6
	// What is subtracted from features of the posterior-mean cell, so that they
	// are about 0 on the data that it was designed on.
	logVCentre   = -2.6
	logSCentre   = -1
	meanCentre   = 4
	scaledUScale = 4
)

// A feature is a row of the table below: all that the CPU knows of a Feature. A
// formula is nil where the network does not have the feature. Formulas are called
// once for many entries; the loops are inside.
type feature struct {
	name Feature
	// fixed says that it depends on S only: it has no derivative.
	fixed bool
	// samples says that it needs M.
	samples bool
	// common is the formula of one number for all entries. The networks of
	// posterior-mean cells have it, and ρnn if paper is set.
	common *commonFormula
	paper  bool
	// rho is for ρnn. entries and diagonal are for the posterior-mean cell, off
	// the diagonal and on it.
	rho               *formula[paperEntries]
	entries, diagonal *formula[posteriorEntries]
	// lambda is for Λnn.
	lambda *lambdaFormula
}

// A formula sets x to a feature of some entries. Its derivative is given by, the
// derivatives of the loss by x, and adds to those by what the feature was computed
// from. It is nil where there is none.
type formula[E any] struct {
	value      func(e *E, x []float64)
	derivative func(e *E, by []float64)
}

// A commonFormula is a formula for one number; its derivative is given the sum over
// the entries.
type commonFormula struct {
	value      func(c *constants) float64
	derivative func(to *constants, by float64)
}

// A lambdaFormula is a formula for an input of Λnn.
type lambdaFormula struct {
	value      func(in *lambdaInputs) float64
	derivative func(in, to *lambdaInputs, by float64)
}

// constants are what all entries of a matrix have in common, or the derivatives
// by it.
type constants struct {
	lambda, context, mean float64

	table Table
}

// lambdaInputs are what the features of Λnn for cell k are computed from, or the
// derivatives by it. lambda is that of the cell before.
type lambdaInputs struct {
	k                         int
	d, norm2, lambda, context float64

	table Table
}

func logNorm2PerD(in *lambdaInputs) float64 { return math.Log(normFloor + in.norm2/in.d) }

func logNorm2PerDDerivative(in, to *lambdaInputs, by float64) {
	to.norm2 += by / (normFloor*in.d + in.norm2)
}

// lessMean is the formula of of − m, where by are the derivatives by of.
func lessMean(of, by func(e *posteriorEntries) []float64) *formula[posteriorEntries] {
	return &formula[posteriorEntries]{
		value: func(e *posteriorEntries, x []float64) { less(x, of(e), e.mean) },
		derivative: func(e *posteriorEntries, byX []float64) {
			floats.Add(by(e), byX)
			e.by.mean -= floats.Sum(byX)
		},
	}
}

var features = []feature{
	{name: Theta, rho: &formula[paperEntries]{
		value:      func(e *paperEntries, x []float64) { copy(x, e.theta) },
		derivative: func(e *paperEntries, by []float64) { floats.Add(e.byTheta, by) },
	}},
	{name: S, fixed: true, rho: &formula[paperEntries]{
		value: func(e *paperEntries, x []float64) { copy(x, e.s) },
	}},
	{name: Z, rho: &formula[paperEntries]{
		value:      func(e *paperEntries, x []float64) { copy(x, e.z) },
		derivative: func(e *paperEntries, by []float64) { floats.Add(e.byZ, by) },
	}},
	{name: AbsTheta, rho: &formula[paperEntries]{
		value:      func(e *paperEntries, x []float64) { absolute(x, e.theta) },
		derivative: func(e *paperEntries, by []float64) { absoluteDerivative(e.byTheta, e.theta, by) },
	}},
	{name: AbsS, fixed: true, rho: &formula[paperEntries]{
		value: func(e *paperEntries, x []float64) { absolute(x, e.s) },
	}},
	{name: AbsZ, rho: &formula[paperEntries]{
		value:      func(e *paperEntries, x []float64) { absolute(x, e.z) },
		derivative: func(e *paperEntries, by []float64) { absoluteDerivative(e.byZ, e.z, by) },
	}},
	{name: NegThetaS, rho: &formula[paperEntries]{
		value: func(e *paperEntries, x []float64) {
			s := e.s[:len(x)]
			for j, t := range e.theta[:len(x)] {
				x[j] = -t * s[j]
			}
		},
		derivative: func(e *paperEntries, by []float64) {
			to, by := e.byTheta[:len(e.s)], by[:len(e.s)]
			for j, v := range e.s {
				to[j] -= by[j] * v
			}
		},
	}},
	{
		name: AbsU,
		entries: &formula[posteriorEntries]{
			value:      func(e *posteriorEntries, x []float64) { absolute(x, e.u) },
			derivative: func(e *posteriorEntries, by []float64) { absoluteDerivative(e.byU, e.u, by) },
		},
		diagonal: lessMean(
			func(e *posteriorEntries) []float64 { return e.theta },
			func(e *posteriorEntries) []float64 { return e.byTheta },
		),
	},
	{
		name: LogV,
		entries: &formula[posteriorEntries]{
			value:      func(e *posteriorEntries, x []float64) { less(x, e.logSigma, logVCentre-e.row.logSigma) },
			derivative: func(e *posteriorEntries, by []float64) { floats.Add(e.byLogV, by) },
		},
		diagonal: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) {
				for j, v := range e.logSigma {
					x[j] = 2*v - logVCentre
				}
			},
			derivative: func(e *posteriorEntries, by []float64) { floats.AddScaled(e.byLogSigma, 2, by) },
		},
	},
	{
		name: ScaledU,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) {
				scale, root := scaledUScale*e.row.rootSigma, e.rootSigma[:len(x)]
				for j, v := range e.u[:len(x)] {
					x[j] = scale * math.Abs(v) * root[j]
				}
			},
			derivative: func(e *posteriorEntries, by []float64) {
				scale, root := scaledUScale*e.row.rootSigma, e.rootSigma[:len(by)]
				byU, byLogV := e.byU[:len(by)], e.byLogV[:len(by)]
				for j, v := range e.u[:len(by)] {
					x := by[j] * scale * root[j]
					byU[j] += x * sign(v)
					byLogV[j] += x * math.Abs(v) / 2
				}
			},
		},
		diagonal: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { less(x, e.logS, logSCentre) },
		},
	},
	{
		name: PriorZ,
		entries: &formula[posteriorEntries]{
			value:      func(e *posteriorEntries, x []float64) { absolute(x, e.z) },
			derivative: func(e *posteriorEntries, by []float64) { absoluteDerivative(e.byZ, e.z, by) },
		},
		diagonal: lessMean(
			func(e *posteriorEntries) []float64 { return e.z },
			func(e *posteriorEntries) []float64 { return e.byZ },
		),
	},
	{
		name: UZ,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) {
				z := e.z[:len(x)]
				for j, v := range e.u[:len(x)] {
					x[j] = v * z[j]
				}
			},
			derivative: func(e *posteriorEntries, by []float64) {
				z, byU, byZ := e.z[:len(by)], e.byU[:len(by)], e.byZ[:len(by)]
				for j, v := range e.u[:len(by)] {
					byU[j] += by[j] * z[j]
					byZ[j] += by[j] * v
				}
			},
		},
		diagonal: lessMean(
			func(e *posteriorEntries) []float64 { return e.u },
			func(e *posteriorEntries) []float64 { return e.byU },
		),
	},
	{
		name: Diagonal, fixed: true,
		rho: &formula[paperEntries]{
			value: func(e *paperEntries, x []float64) {
				fill(x, 0)
				if e.diagonal {
					x[0] = 1
				}
			},
		},
		entries:  &formula[posteriorEntries]{value: func(_ *posteriorEntries, x []float64) { fill(x, 0) }},
		diagonal: &formula[posteriorEntries]{value: func(_ *posteriorEntries, x []float64) { fill(x, 1) }},
	},
	{
		name: NodeContext, fixed: true,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { average(x, e.nodes, e.row.node) },
		},
		diagonal: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { copy(x, e.nodes) },
		},
	},
	{
		name: NodeSupport,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { average(x, e.support, e.row.support) },
			derivative: func(e *posteriorEntries, by []float64) {
				*e.byRowSupport += floats.Sum(by) / 2
				floats.AddScaled(e.bySupport, 0.5, by)
			},
		},
		diagonal: &formula[posteriorEntries]{
			value:      func(e *posteriorEntries, x []float64) { copy(x, e.support) },
			derivative: func(e *posteriorEntries, by []float64) { floats.Add(e.bySupport, by) },
		},
	},
	{
		name: ZScore, samples: true,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) {
				scale, root := e.rootSamples*e.row.rootSigma, e.rootSigma[:len(x)]
				for j, v := range e.u[:len(x)] {
					x[j] = math.Log1p(scale * math.Abs(v) * root[j])
				}
			},
			derivative: func(e *posteriorEntries, by []float64) {
				scale, root := e.rootSamples*e.row.rootSigma, e.rootSigma[:len(by)]
				byU, byLogV := e.byU[:len(by)], e.byLogV[:len(by)]
				for j, v := range e.u[:len(by)] {
					perU := scale * root[j]
					w := perU * math.Abs(v)
					x := by[j] / (1 + w)
					byU[j] += x * perU * sign(v)
					byLogV[j] += x * w / 2
				}
			},
		},
		diagonal: &formula[posteriorEntries]{value: func(_ *posteriorEntries, x []float64) { fill(x, 0) }},
	},
	{
		name: NodeContrast, fixed: true,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { contrast(x, e.nodes, e.row.node) },
		},
		diagonal: &formula[posteriorEntries]{value: func(_ *posteriorEntries, x []float64) { fill(x, 0) }},
	},
	{
		name: SupportContrast,
		entries: &formula[posteriorEntries]{
			value: func(e *posteriorEntries, x []float64) { contrast(x, e.support, e.row.support) },
			derivative: func(e *posteriorEntries, by []float64) {
				for j, g := range by {
					v := g / 2 * sign(e.support[j]-e.row.support)
					*e.byRowSupport -= v
					e.bySupport[j] += v
				}
			},
		},
		diagonal: &formula[posteriorEntries]{value: func(_ *posteriorEntries, x []float64) { fill(x, 0) }},
	},
	{name: MeanDiagonal, common: &commonFormula{
		value:      func(c *constants) float64 { return c.mean - meanCentre },
		derivative: func(to *constants, by float64) { to.mean += by },
	}},
	{name: Norm2, lambda: &lambdaFormula{
		value:      func(in *lambdaInputs) float64 { return in.norm2 },
		derivative: func(_, to *lambdaInputs, by float64) { to.norm2 += by },
	}},
	{name: LogNorm2PerD, lambda: &lambdaFormula{logNorm2PerD, logNorm2PerDDerivative}},
	{name: LogStep, lambda: &lambdaFormula{
		value: func(in *lambdaInputs) float64 {
			if in.k == 1 {
				return 0
			}
			return logNorm2PerD(in)
		},
		derivative: func(in, to *lambdaInputs, by float64) {
			if in.k > 1 {
				logNorm2PerDDerivative(in, to, by)
			}
		},
	}},
	{
		name: Lambda, paper: true,
		common: &commonFormula{
			value:      func(c *constants) float64 { return c.lambda },
			derivative: func(to *constants, by float64) { to.lambda += by },
		},
		lambda: &lambdaFormula{
			value:      func(in *lambdaInputs) float64 { return in.lambda },
			derivative: func(_, to *lambdaInputs, by float64) { to.lambda += by },
		},
	},
	{
		name: Context, paper: true, fixed: true,
		common: &commonFormula{value: func(c *constants) float64 { return c.context }},
		lambda: &lambdaFormula{value: func(in *lambdaInputs) float64 { return in.context }},
	},
	ofTable(SampleRatio, func(t *Table) float64 { return t.SampleRatio }).withSamples(),
	ofTable(Strength, func(t *Table) float64 { return t.Strength }).withSamples(),
	ofTable(Kurtosis, func(t *Table) float64 { return t.Kurtosis }),
	ofTable(RowSpread, func(t *Table) float64 { return t.RowSpread }),
	ofTable(LargestContext, func(t *Table) float64 { return t.LargestContext }),
}

// featureOf is the row of f, nil if there is none.
func featureOf(f Feature) *feature {
	for i := range features {
		if features[i].name == f {
			return &features[i]
		}
	}
	return nil
}

// posterior is the formula of f for a posterior-mean cell.
func (f *feature) posterior(diagonal bool) *formula[posteriorEntries] {
	if diagonal {
		return f.diagonal
	}
	return f.entries
}

// featuresWhere lists the features of one network.
func featuresWhere(has func(f *feature) bool) []Feature {
	var names []Feature
	for i := range features {
		if has(&features[i]) {
			names = append(names, features[i].name)
		}
	}
	return names
}

func rhoFeatures() []Feature {
	return featuresWhere(func(f *feature) bool { return f.rho != nil || f.paper })
}

func posteriorFeatures() []Feature {
	return featuresWhere(func(f *feature) bool { return f.entries != nil || f.common != nil })
}

func lambdaFeatures() []Feature {
	return featuresWhere(func(f *feature) bool { return f.lambda != nil })
}
