package modeltest

import (
	"math"

	"github.com/gladflow/gladflow/solver/glad"
)

// The variables of an entry. After them come the weights.
const (
	byTheta = iota
	byZ
	byU
	byLogSigma
	bySupport
	byContrast
	byLambda
	byMean
	byGain
	ofEntry
)

// Differentiate goes over the entries one by one, with the formulas of package glad: the
// loss is Σ (ByZ·Z + ByU·U + ByNorm2·(Z − Θ)²) over all entries.
func (s *ZStep) Differentiate() *Derivatives {
	d, weights := s.D, s.Weights()
	matrix := func() []float64 { return make([]float64, d*d) }
	to := &Derivatives{
		ToZ: matrix(), ToU: matrix(), Theta: matrix(), Z: matrix(), U: matrix(), LogSigma: matrix(), Support: matrix(),
		Weights: make([]float64, weights),
	}
	n := &numbers{variables: ofEntry + weights}
	for i := range d {
		for j := i; j < d; j++ {
			n.reset()
			at, twice := i*d+j, 2. // of (i, j) and (j, i)
			if i == j {
				twice = 1
			}
			e := s.entry(n, i, j)
			toZ, toU := e.step()
			off := n.sub(toZ, e.theta)
			loss := n.add(n.affine(s.ByZ[at], toZ, 0), n.affine(s.ByNorm2, n.mul(off, off), 0))
			if s.Plan.Kind == glad.ADMMu {
				loss = n.add(loss, n.affine(s.ByU[at], toU, 0))
			}
			for _, at := range []int{at, j*d + i} {
				to.ToZ[at], to.ToU[at] = toZ.v, toU.v
				to.Theta[at], to.Z[at], to.U[at] = loss.by[byTheta], loss.by[byZ], loss.by[byU]
				to.LogSigma[at], to.Support[at] = twice*loss.by[byLogSigma], loss.by[bySupport]
			}
			if i != j && s.Plan.Kind == glad.GLADPM {
				c := sign(s.Support[i]-s.Support[j]) * loss.by[byContrast]
				to.Support[at] += c
				to.Support[j*d+i] -= c
			}
			to.Lambda += twice * loss.by[byLambda]
			to.Mean += twice * loss.by[byMean]
			to.Gain += twice * loss.by[byGain]
			for k := range weights {
				to.Weights[k] += twice * loss.by[ofEntry+k]
			}
		}
	}
	return to
}

// Step is Z after the step.
func (s *ZStep) Step() []float64 {
	n, toZ := &numbers{variables: ofEntry + s.Weights()}, make([]float64, s.D*s.D)
	for i := range s.D {
		for j := i; j < s.D; j++ {
			n.reset()
			z, _ := s.entry(n, i, j).step()
			toZ[i*s.D+j], toZ[j*s.D+i] = z.v, z.v
		}
	}
	return toZ
}

func (s *ZStep) entry(n *numbers, i, j int) *entry {
	at := i*s.D + j
	return &entry{numbers: n, ZStep: s, i: i, j: j, theta: n.variable(byTheta, s.Theta[at]), z: n.variable(byZ, s.Z[at])}
}

// An entry is one of a step.
type entry struct {
	*numbers
	*ZStep
	i, j     int
	theta, z number
}

// step is Z and U after it.
func (e *entry) step() (z, u number) {
	if e.Plan.Kind == glad.GLADPM {
		return e.posterior(), e.constant(0)
	}
	a := e.theta
	if e.Plan.Kind == glad.ADMMu {
		a = e.add(a, e.variable(byU, e.U[e.i*e.D+e.j]))
	}
	s := e.S[e.i*e.D+e.j]
	rho := e.outputs(map[glad.Feature]number{
		glad.Theta: e.theta, glad.S: e.constant(s), glad.Z: e.z,
		glad.AbsTheta: e.abs(e.theta), glad.AbsS: e.constant(math.Abs(s)), glad.AbsZ: e.abs(e.z),
		glad.NegThetaS: e.affine(-s, e.theta, 0),
	})[0]
	z = e.softThreshold(a, rho)
	return z, e.sub(a, z)
}

// posterior is Z after the step of a posterior-mean cell.
func (e *entry) posterior() number {
	i, j := e.i, e.j
	sigma, logs := e.Sigma[i]*e.Sigma[j], math.Log(e.Sigma[i])+math.Log(e.Sigma[j])
	shift, perShift := e.variable(byLogSigma, 0), 1.
	if i == j {
		perShift = 2 // of log σi, which is in σi² twice
	}
	v := e.affine(sigma, e.exp(e.affine(perShift, shift, 0)), 0)
	root := e.affine(math.Sqrt(sigma), e.exp(e.affine(perShift/2, shift, 0)), 0)
	lambda, mean, gain := e.variable(byLambda, e.Lambda), e.variable(byMean, e.Mean), e.variable(byGain, e.Gain)
	u := e.add(e.theta, e.div(e.mul(e.mul(gain, lambda), e.sub(e.theta, e.z)), v))
	of := map[glad.Feature]number{
		glad.LogV:         e.affine(perShift, shift, logs+2.6),
		glad.NodeContext:  e.constant((e.Nodes[i] + e.Nodes[j]) / 2),
		glad.NodeContrast: e.constant(math.Abs(e.Nodes[i]-e.Nodes[j]) / 2),
		glad.NodeSupport:  e.variable(bySupport, (e.Support[i]+e.Support[j])/2),
		glad.MeanDiagonal: e.affine(1, mean, -4),
	}
	if i == j {
		of[glad.AbsU], of[glad.PriorZ], of[glad.UZ] = e.sub(e.theta, mean), e.sub(e.z, mean), e.sub(u, mean)
		of[glad.ScaledU], of[glad.ZScore], of[glad.SupportContrast] = e.constant(e.LogS[i]+1), e.constant(0), e.constant(0)
		out := e.outputs(of)
		mix := e.sigmoid(e.affine(1, out[2], 1.5))
		return e.add(e.mul(mean, e.affine(0.3, out[1], 1)), e.mul(mix, e.sub(u, mean)))
	}
	of[glad.SupportContrast] = e.variable(byContrast, math.Abs(e.Support[i]-e.Support[j])/2)
	scaled := e.mul(e.abs(u), root)
	of[glad.AbsU], of[glad.PriorZ], of[glad.UZ] = e.abs(u), e.abs(e.z), e.mul(u, e.z)
	of[glad.ScaledU], of[glad.ZScore] = e.affine(4, scaled, 0), e.log1p(e.affine(e.RootSamples, scaled, 0))
	return e.mul(u, e.sigmoid(e.outputs(of)[0]))
}

// outputs are those of the network, at these features and those that all cells have.
func (e *entry) outputs(of map[glad.Feature]number) []number {
	diagonal := 0.
	if e.i == e.j {
		diagonal = 1
	}
	of[glad.Diagonal], of[glad.Context] = e.constant(diagonal), e.constant(e.Shape.Context)
	t := e.Shape.Table
	for f, v := range map[glad.Feature]float64{
		glad.SampleRatio: t.SampleRatio, glad.Strength: t.Strength, glad.Kurtosis: t.Kurtosis,
		glad.RowSpread: t.RowSpread, glad.LargestContext: t.LargestContext,
	} {
		of[f] = e.constant(v)
	}
	of[glad.Lambda] = e.variable(byLambda, e.Lambda)
	plan := e.Plan.Entries[e.Plan.Entry(e.Cell)]
	values, at := e.Plan.Values[plan.At:], 0
	var x []number
	for _, f := range plan.Network.Inputs {
		x = append(x, of[f])
	}
	for _, l := range plan.Network.Layers {
		var y []number
		units := len(l.Bias)
		for u := range units {
			bias := at + units*len(x) + u
			v := e.variable(ofEntry+bias, values[bias])
			for j, below := range x {
				w := at + u*len(x) + j
				e.accumulate(&v, ofEntry+w, values[w], below)
			}
			switch l.Activation {
			case glad.Tanh:
				v = e.tanh(v)
			case glad.Sigmoid:
				v = e.sigmoid(v)
			case glad.Exp:
				v = e.exp(v)
			}
			if l.Scale != 0 {
				v = e.affine(l.Scale, v, 0)
			}
			y = append(y, v)
		}
		at += units * (len(x) + 1)
		x = y
	}
	return x
}
