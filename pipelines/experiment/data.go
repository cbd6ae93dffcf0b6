package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// Purposes of random streams.
const (
	forTraining   = "training"
	forValidation = "validation"
	forTest       = "test"
)

// random is the stream of one purpose in one setting: two that differ in anything
// share nothing.
func (r *Run) random(purpose, setting string) *rand.Rand {
	h := sha256.Sum256(fmt.Appendf(nil, "gladflow experiment\x00%d\x00%s\x00%s", r.Seed, purpose, setting))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(h[:8]), binary.LittleEndian.Uint64(h[8:16])))
}

// seed is a number derived in the same way.
func (r *Run) seed(purpose, setting string) uint64 { return r.random(purpose, setting).Uint64() }

// cases draws n graphs of a family with m samples each. The graphs do not depend on
// m: the n graphs of one purpose are the same for every number of samples.
func (r *Run) cases(ctx context.Context, purpose string, f simulate.Family, n, m int) ([]solver.Example, error) {
	return r.copies(ctx, purpose, f, n, m, 0)
}

// copies draws the same graphs for every copy, and other samples.
func (r *Run) copies(ctx context.Context, purpose string, f simulate.Family, n, m, copied int) ([]solver.Example, error) {
	return r.mixed(ctx, purpose, f.String(), n, m, copied, func(*rand.Rand) simulate.Family { return f })
}

// mixed draws every graph from a family of its own.
func (r *Run) mixed(ctx context.Context, purpose, setting string, n, m, copied int, family func(*rand.Rand) simulate.Family) ([]solver.Example, error) {
	graphs := r.random(purpose, setting)
	cases := make([]solver.Example, n)
	for i := range cases {
		theta, err := family(graphs).Precision(graphs)
		if err != nil {
			return nil, err
		}
		cases[i] = solver.Example{Truth: theta, Samples: m}
	}
	return tune.Each(ctx, cases, r.Workers, func(i int, c solver.Example) (solver.Example, error) {
		samples := r.random(purpose, fmt.Sprintf("%s, M=%d, graph %d, copy %d", setting, m, i, copied))
		var err error
		c.S, err = simulate.Covariance(ctx, samples, c.Truth, m)
		return c, err
	})
}

// nmse is the paper's NMSE of estimates in dB, with its standard error.
func nmse(estimates []*dense.Sym, cases []solver.Example) (value, standardError float64, err error) {
	var n metric.NMSE
	for i, z := range estimates {
		if err := n.Add(z, cases[i].Truth); err != nil {
			return 0, 0, err
		}
	}
	return n.Decibels()
}

// erdosRenyi is the family of most experiments: p = 0.1, weights "sym".
func erdosRenyi(d int) simulate.Family {
	return simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: d, Density: 0.1}
}

// figure is "−9.83 ± 0.05".
func figure(v, se float64) string {
	return number(v) + " ± " + fmt.Sprintf("%.2f", se)
}

// number has two decimals and a true minus.
func number(v float64) string {
	if v < 0 {
		return fmt.Sprintf("−%.2f", -v)
	}
	return fmt.Sprintf("%.2f", v)
}
