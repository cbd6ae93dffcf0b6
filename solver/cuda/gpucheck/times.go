//go:build cuda

package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/glad"
)

// times measures forward passes.
func (c *check) times() {
	c.table("times", "model", "data", "d", "problems", "Θ step", "pass", "per cell", "in Θ steps", "κ", "eigen cells", "of DGEMM", "peak GB", "predicted", "with libraries", "check")
	problems := [][2]int{{100, 1}, {100, 1000}, {1000, 1}, {2000, 1}, {5000, 1}, {10000, 1}, {20000, 1}, {c.fits(), 1}}
	if c.quick {
		problems = [][2]int{{12, 1}, {12, 3}, {40, 1}}
	}
	rate := map[int]float64{} // of DGEMM, by d
	last := map[string]float64{}
	for _, of := range problems {
		d, n := of[0], of[1]
		if c.largest > 0 && d > c.largest {
			continue
		}
		for _, data := range []string{"sparse", "factors"} {
			if data == "factors" && (n > 1 || d < 1000 || d > 10000) {
				continue
			}
			var batch []solver.Problem
			for _, name := range []string{"general", "er-d100-m100-literal"} {
				for _, how := range []string{"polar", "eigen"} {
					if how == "eigen" && (d > 10000 || data == "factors") || name != "general" && d > 20000 {
						continue
					}
					what := fmt.Sprintf("%s, %s, %d × d=%d, by %s", name, data, n, d, how)
					key := name + how
					takes := time.Duration(2 * last[key] * float64(d) * float64(d) * float64(d) * float64(time.Second))
					if !c.due(what, takes+time.Second+time.Duration(d)*time.Duration(d)*80*time.Nanosecond) {
						continue
					}
					for len(batch) < n {
						if data == "factors" {
							batch = append(batch, c.factored(d, 300))
						} else {
							batch = append(batch, c.sparse(d, d))
						}
					}
					c.try(what, func() {
						if rate[d] == 0 {
							rate[d] = c.gemmRate(d)
						}
						pass := c.pass(builtin(name), batch, data, how, rate[d])
						if n == 1 && d >= 1000 {
							last[key] = pass.Seconds() / math.Pow(float64(d), 3)
						}
					})
				}
			}
		}
	}
}

// fits is the largest d, in thousands, of which a problem fits: 10 matrices and the
// libraries' memory, and the host has memory for it too.
func (c *check) fits() (d int) {
	c.card(func(k *card) {
		k.on(func() {
			d = int(math.Sqrt(float64(k.Properties().Free)*31/32/8/10.2)) / 1000 * 1000
		})
	})
	// On the host are S, the scaled S, Θ and Z as they were and scaled back.
	return min(d, int(math.Sqrt(float64(hostMemory())/8/8))/1000*1000)
}

// hostMemory is what this process may still take of the machine's, in bytes.
func hostMemory() int64 {
	available := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
				if kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
					available = kb << 10
				}
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			available = min(available, most)
		}
	}
	return available
}

// free is the device's free memory.
func (c *check) free(d *driver.Device) (bytes int64) {
	must(d.Do(func() error {
		bytes = d.Properties().Free
		return nil
	}))
	return bytes
}

// gemmRate is that of DGEMM, in flop/s.
func (c *check) gemmRate(d int) (rate float64) {
	d = min(d, 10000)
	c.card(func(k *card) {
		k.on(func() {
			a, to := k.up(c.rankOne(d)), k.room(d*d)
			t := k.median(3, func() error { return k.Gemm(false, false, d, d, d, 1, a, d, a, d, 0, to, d) })
			rate = 2 * math.Pow(float64(d), 3) / t.Seconds()
		})
	})
	return rate
}

// pass measures a forward pass, twice: without an observer for the time, and with one for
// what the time goes into.
func (c *check) pass(m *glad.Model, problems []solver.Problem, data, how string, rate float64) (took time.Duration) {
	d, n := problems[0].S.Len(), len(problems)
	c.backend(func(b *cuda.Backend) {
		must(b.SetMethod(how))
		k := got(driver.Use(c.device))
		defer func() { must(k.Close()) }()
		before := k.Allocated()
		var inTheta time.Duration
		var condition, work float64
		var peak, predicted, taken int64
		free := c.free(k)
		var eigen, cells int
		b.Observe(func(s cuda.ThetaStep) {
			inTheta += s.Elapsed
			condition = max(condition, s.Condition)
			work += 2 * math.Pow(float64(d), 3) * float64(s.Products*s.Problems)
			peak, predicted = max(peak, k.Allocated()-before), max(predicted, s.Bytes)
			if cells++; cells == 2 {
				taken = free - c.free(k)
			}
			if s.Eigen {
				eigen++
			}
		})
		c.solve(b, m, problems...) // the libraries load their kernels now
		b.Observe(nil)
		began := time.Now()
		all := c.solve(b, m, problems...)
		took = time.Since(began)
		ok := peak <= predicted
		for _, e := range all {
			ok = ok && e.Precision.Finite() && e.Support.Finite()
		}
		share := "-"
		if eigen == 0 && inTheta > 0 {
			share = fmt.Sprintf("%.0f %%", 100*work/inTheta.Seconds()/rate)
		}
		c.row(m.Name, data, d, n, how, took, took/time.Duration(max(cells, 1)), inTheta, condition, fmt.Sprintf("%d of %d", eigen, cells), share,
			float64(peak)/1e9, float64(predicted)/1e9, float64(taken)/1e9, c.verdict(ok, "%s, d=%d: a result is not finite, or %d bytes were taken of %d", m.Name, d, peak, predicted))
	})
	return took
}
