//go:build cuda

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/dense"
)

const (
	// block is how many samples are added at a time, as covariance does.
	block = 257
	// exactSum is what an entry of a sum may be off by, of the product of its variables'
	// norms: some thousand additions, in another order.
	exactSum = 1e-12
)

// samples compares the sums of products of samples, as they are kept on the device, with
// those of the host, and measures both.
func (c *check) samples() {
	host := dense.Default()
	c.table(fmt.Sprintf("sums of samples, the host's by %s on %d threads", host.Name(), dense.Threads(host)),
		"d", "samples", "off by", "same bits", "device", "host", "samples/s", "the host's", "sum to host", "check")
	c.backend(func(b *cuda.Backend) {
		var last time.Duration // of the host's, of the dimension before
		before := 0
		for _, d := range c.dimensions(100, 1000, 2000, 5000, 10000, 20000) {
			what := fmt.Sprintf("samples of d=%d", d)
			takes := time.Duration(0)
			if before > 0 {
				takes = time.Duration(3 * float64(last) * math.Pow(float64(d)/float64(before), 2))
			}
			if !c.due(what, takes) {
				return
			}
			if need := 5 * 8 * int64(d) * int64(d); need > hostMemory() {
				c.line("d=%d is left out: the sums take %.3g GB of the host's memory", d, float64(need)/1e9)
				return
			}
			c.try(what, func() { last = c.sums(b, host, d) })
			before = d
		}
	})
}

// sums adds blocks of samples of d variables, on the device twice, and on the host. It returns
// the time of that.
func (c *check) sums(b *cuda.Backend, host dense.Engine, d int) time.Duration {
	blocks := 20
	if c.quick {
		blocks = 3
	}
	x, factor := c.normal(block*d), c.normal(d)
	for j := range factor {
		factor[j] = math.Ldexp(1, -j%3) // as covariance scales, and rounds nothing
	}
	// The first block is scaled, and not timed: libraries load their kernels for it.
	want := make([]float64, d*d)
	host.Syrk(true, d, block, 1, x, d, 1, want, d)
	for i := range d {
		for j := i; j < d; j++ {
			want[i*d+j] *= factor[i] * factor[j]
		}
	}
	began := time.Now()
	for range blocks {
		host.Syrk(true, d, block, 1, x, d, 1, want, d)
	}
	onHost := time.Since(began)

	var all [2][]float64
	var onDevice, back time.Duration
	for round := range all {
		sums := make([]float64, d*d)
		// As of so many samples that it is worth the way, whatever d.
		a := got(b.Engine(host).(dense.AccumulatingEngine).Accumulate(c.ctx, d, block, math.MaxInt, nil))
		if a == nil {
			c.line("d=%d does not fit", d)
			return onHost
		}
		func() {
			defer func() { must(a.Close()) }()
			must(a.Add(c.ctx, block, x))
			must(a.Scale(c.ctx, factor))
			must(a.Sum(c.ctx, sums)) // waits
			began := time.Now()
			for range blocks {
				must(a.Add(c.ctx, block, x))
			}
			must(a.Sum(c.ctx, sums))
			whole := time.Since(began)
			began = time.Now()
			must(a.Sum(c.ctx, sums)) // this alone
			back = time.Since(began)
			onDevice = max(whole-back, time.Microsecond)
		}()
		all[round] = sums
	}
	e, same := apartUpper(all[0], want, d), true
	for i := range d {
		same = same && slices.Equal(all[0][i*d+i:(i+1)*d], all[1][i*d+i:(i+1)*d])
	}
	n := float64(blocks * block)
	c.row(d, blocks*block, e, same, onDevice, onHost, n/onDevice.Seconds(), n/onHost.Seconds(), back,
		c.verdict(e <= exactSum && same, "sums of samples of d=%d are off by %.2g, the same bits again: %v", d, e, same))
	return onHost
}

// apartUpper is the largest difference of upper triangles, of the norms of both variables.
func apartUpper(got, want []float64, d int) (worst float64) {
	for i := range d {
		for j := i; j < d; j++ {
			e := math.Abs(got[i*d+j]-want[i*d+j]) / math.Sqrt(want[i*(d+1)]*want[j*(d+1)])
			if math.IsNaN(e) {
				return e
			}
			worst = max(worst, e)
		}
	}
	return worst
}
