package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/solver/dense"
)

// PosteriorMean returns E[Θ | S] and the posterior probabilities that entries are
// not zero, for a Θ with the diagonal given whose entries off it are 0 with
// probability 1−p and otherwise uniform, restricted to the positive definite
// ones; s = XᵀX/m is of m samples of N(0, Θ⁻¹).
//
// It is a Gibbs sampler over the entries, each drawn from its own density at a few
// nodes (as griddy Gibbs does; Ritter and Tanner, JASA 87:861, 1992); conditional
// means are averaged rather than draws. At d = 100 three times the 500 sweeps change
// the NMSE by less than 0.01 dB; 500 take some 4 s. The diagonal of the mean is the
// given one, that of the probabilities 1. The same state of rng gives the same bits.
// When ctx ends first its error is returned.
func PosteriorMean(ctx context.Context, rng *rand.Rand, s *dense.Sym, m int, diagonal []float64, p float64, o Options) (mean, inclusion *dense.Sym, err error) {
	if err := check(s, m, p); err != nil {
		return nil, nil, err
	}
	if o, err = o.resolved(); err != nil {
		return nil, nil, err
	}
	d := s.Len()
	if len(diagonal) != d {
		return nil, nil, fmt.Errorf("%d diagonal entries for %d variables; give one for each", len(diagonal), d)
	}
	for i, v := range diagonal {
		if !(v > 0) {
			return nil, nil, fmt.Errorf("diagonal entry %d is %v; those of a precision matrix are positive", i, v)
		}
	}
	c := newChain(s, diagonal, newEntry(o.Low, o.High, p, m, o.Points))
	for sweep := range o.Sweeps {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if sweep == o.BurnIn {
			clear(c.mean.Raw())
			clear(c.inclusion.Raw())
		}
		// Rounding errors of the updates of W do not add up for long.
		const between = 10
		if sweep%between == 0 && !c.invert() {
			return nil, nil, errors.New("the chain has left the positive definite matrices; the covariance is out of all proportion to the diagonal")
		}
		for i := range d {
			c.row(rng, i)
		}
	}
	for i := range d {
		for j := i + 1; j < d; j++ {
			n := float64(o.Sweeps - o.BurnIn)
			c.mean.Set(i, j, c.mean.At(i, j)/n)
			c.inclusion.Set(i, j, c.inclusion.At(i, j)/n)
		}
		c.mean.Set(i, i, diagonal[i])
		c.inclusion.Set(i, i, 1)
	}
	return c.mean, c.inclusion, nil
}

// A chain is the state of the sampler.
type chain struct {
	s, theta, w *dense.Sym // w = Θ⁻¹
	entry       *entry
	space       *dense.Workspace

	mean, inclusion *dense.Sym // sums, upper triangles

	a []float64 // (Θ without row and column i)⁻¹, d×d with zeros at i
	g []float64 // a·θi
}

func newChain(s *dense.Sym, diagonal []float64, e *entry) *chain {
	d := s.Len()
	c := &chain{
		s:         s,
		theta:     dense.NewSym(d, nil),
		w:         dense.NewSym(d, nil),
		entry:     e,
		space:     dense.NewWorkspace(dense.Gonum{}, d),
		mean:      dense.NewSym(d, nil),
		inclusion: dense.NewSym(d, nil),
		a:         make([]float64, d*d),
		g:         make([]float64, d),
	}
	for i, v := range diagonal {
		c.theta.Set(i, i, v)
	}
	return c
}

func (c *chain) invert() bool {
	_, ok := c.space.Inverse(c.w, c.theta)
	return ok
}

// row draws the entries of row i right of the diagonal, one after the other.
//
// As they change, A = (Θ without i)⁻¹ does not, and with g = A·θi, θi the row
// without its diagonal, det Θ is proportional to c = θii − θiᵀg. Hence
// W = Θ⁻¹ has Wii = 1/c, Wij = −gj/c, Wii·Wjj − Wij² = Ajj/c: all that the
// distribution of an entry needs, at O(d) for each entry that changes.
func (c *chain) row(rng *rand.Rand, i int) {
	d := c.s.Len()
	w, wi, theta := c.w, c.w.Row(i), c.theta.Row(i)
	if i == d-1 {
		return
	}
	det := 1 / wi[i]
	for k := range d {
		f := wi[k] * det
		a, wk := c.a[k*d:(k+1)*d], w.Row(k)
		for l, v := range wi {
			a[l] = wk[l] - f*v
		}
		c.g[k] = -f
	}
	c.g[i] = 0
	clear(c.a[i*d : (i+1)*d])
	for k := range d {
		c.a[k*d+i] = 0
	}
	changed := false
	for j := i + 1; j < d; j++ {
		ajj := c.a[j*d+j]
		r := c.entry.at(theta[j], -c.g[j]/det, ajj/det, c.s.At(i, j))
		c.mean.Raw()[i*d+j] += r.mean
		c.inclusion.Raw()[i*d+j] += r.inclusion
		x := c.entry.draw(rng, r)
		delta := x - theta[j]
		if delta == 0 {
			continue
		}
		changed = true
		det -= delta * (2*c.g[j] + delta*ajj)
		for k, v := range c.a[j*d : (j+1)*d] {
			c.g[k] += delta * v
		}
		c.theta.Set(i, j, x)
	}
	if !changed {
		return
	}
	for k := range d {
		f := c.g[k] / det
		wk := w.Row(k)
		a := c.a[k*d : (k+1)*d]
		for l, v := range c.g {
			wk[l] = a[l] + f*v
		}
		wk[i] = -f
	}
	for k, v := range c.g {
		wi[k] = -v / det
	}
	wi[i] = 1 / det
}
