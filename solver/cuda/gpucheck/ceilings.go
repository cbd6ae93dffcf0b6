//go:build cuda

package main

import (
	"fmt"
	"time"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/library"
)

// repeats of what is measured.
const repeats = 5

// dimensions of ceilings.
func (c *check) dimensions(all ...int) (chosen []int) {
	if c.quick {
		return []int{64}
	}
	for _, d := range all {
		if c.largest == 0 || d <= c.largest {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// ceilings measures what the device can do at best, by its own clock.
func (c *check) ceilings() {
	c.table("ceilings", "what", "size", "time", "rate", "unit", "check")
	c.card(func(k *card) {
		c.copies(k)
		var last time.Duration // of the slowest call of the dimension before
		before := 0
		for _, d := range c.dimensions(1000, 2000, 5000, 10000, 20000) {
			takes := time.Duration(0)
			if before > 0 {
				r := float64(d) / float64(before)
				takes = time.Duration(float64(last) * r * r * r * (repeats + 1) * 4)
			}
			if !c.due(fmt.Sprintf("ceilings at d=%d", d), takes) {
				return
			}
			var free int64
			k.on(func() { free = k.Properties().Free })
			if need := 7 * 8 * int64(d) * int64(d); need > free {
				c.line("d=%d does not fit: it takes %.3g GB, %.3g GB are free", d, float64(need)/1e9, float64(free)/1e9)
				return
			}
			c.try(fmt.Sprintf("ceilings at d=%d", d), func() { last = c.ceiling(k, d) })
			before = d
		}
		c.batched(k)
	})
}

// measured writes a row, of work in units of 1e9.
func (c *check) measured(what string, size any, t time.Duration, work float64, unit string) {
	rate := work / t.Seconds() / 1e9
	c.row(what, size, t, rate, unit, c.verdict(t > 0, "%s of %v takes no time", what, size))
}

// copies are those of the device's memory, and to and from the host's.
func (c *check) copies(k *card) {
	n := 128 << 20 / 8 * 4 // 512 MB
	if c.quick {
		n = 1 << 14
	}
	bytes := int64(8 * n)
	size := fmt.Sprintf("%.3g MB", float64(bytes)/1e6)
	c.try("copies", func() {
		k.on(func() {
			a, b := k.room(n), k.room(n)
			c.measured("copy on the device", size, k.median(repeats, func() error { return k.stream.Copy(b, a, bytes) }), 2*float64(bytes), "GB/s")
			pageable := make([]float64, n)
			pinned := got(k.AllocHost(n))
			defer func() { must(k.FreeHost(pinned)) }()
			for i := range pageable {
				pageable[i], pinned[i] = float64(i), float64(i)
			}
			for _, host := range []struct {
				name string
				v    []float64
			}{{"pinned", pinned}, {"pageable", pageable}} {
				c.measured("transfer up, "+host.name, size, k.median(repeats, func() error { return k.stream.Upload(a, host.v) }), float64(bytes), "GB/s")
				c.measured("transfer down, "+host.name, size, k.median(repeats, func() error { return k.stream.Download(host.v, a) }), float64(bytes), "GB/s")
				ok := true
				for i, v := range host.v {
					ok = ok && v == float64(i)
				}
				c.verdict(ok, "%s memory comes back changed", host.name)
			}
		})
	})
}

// ceiling measures matrices of dimension d. It returns the longest time.
func (c *check) ceiling(k *card, d int) (longest time.Duration) {
	cube := float64(d) * float64(d) * float64(d)
	k.on(func() {
		a, b, to := k.room(d*d), k.room(d*d), k.room(d*d)
		info := k.room(1)
		// A definite matrix, made on the device: uᵢuⱼ/d + I, of a u that is not known to it.
		s := c.rankOne(d)
		must(k.stream.Upload(a, s))
		must(k.stream.Copy(b, a, 8*int64(d)*int64(d)))
		note := func(what string, t time.Duration, work float64) {
			longest = max(longest, t)
			c.measured(what, d, t, work, "Gflop/s")
		}
		gemm := k.median(repeats, func() error { return k.Gemm(false, false, d, d, d, 1, a, d, b, d, 0, to, d) })
		note("DGEMM", gemm, 2*cube)
		note("half product, as 2d³", k.median(repeats, func() error { return half(k, d, a, b, to) }), 2*cube)
		note("DSYRK, as d³", k.median(repeats, func() error {
			return k.Syrk(library.Lower, false, d, d, 1, a, d, 0, to, d)
		}), cube)
		refresh := func() error { return k.stream.Copy(to, a, 8*int64(d)*int64(d)) }
		copying := k.median(repeats, refresh)
		length := got(k.PotrfSize(library.Lower, d, to, d))
		work := k.room(length)
		potrf := k.median(repeats, func() error {
			must(refresh())
			return k.Potrf(library.Lower, d, to, d, work, length, info)
		})
		c.verdict(k.info(info) == 0, "potrf of d=%d: info %d", d, k.info(info))
		note("potrf, as d³/3", max(1, potrf-copying), cube/3)
		length = got(k.PotriSize(library.Lower, d, to, d))
		work = k.room(length)
		both := k.median(repeats, func() error { return k.Potri(library.Lower, d, to, d, work, length, info) })
		c.verdict(k.info(info) == 0, "potri of d=%d: info %d", d, k.info(info))
		note("potri, as 2d³/3", both, 2*cube/3)
		if !c.due(fmt.Sprintf("syevd at d=%d", d), 60*gemm*3) {
			return
		}
		values := k.room(d)
		onDevice, onHost, err := k.SyevdSize(true, library.Lower, d, to, d, values)
		must(err)
		scratch, host := k.room(int(onDevice/8)+1), make([]byte, onHost)
		note("syevd, as 9d³", k.median(2, func() error {
			must(refresh())
			return k.Syevd(true, library.Lower, d, to, d, values, scratch, onDevice, host, info)
		}), 9*cube)
		c.verdict(k.info(info) == 0, "syevd of d=%d: info %d", d, k.info(info))
	})
	return longest
}

// half is the product of polar.go: the lower triangle by columns, in strips.
func half(k *card, d int, a, b, to driver.Pointer) error {
	const width = 512
	for from := 0; from < d; from += width {
		w := min(width, d-from)
		at := int64(8 * from)
		if err := k.Gemm(false, false, d-from, w, d, 1, a.At(at), d, b.At(at*int64(d)), d, 0, to.At(at*int64(d)+at), d); err != nil {
			return err
		}
	}
	return nil
}

// rankOne is I + uuᵀ/d for a random u.
func (c *check) rankOne(d int) []float64 {
	u, s := c.normal(d), make([]float64, d*d)
	for i, x := range u {
		row := s[i*d : (i+1)*d]
		for j, y := range u {
			row[j] = x * y / float64(d)
		}
		row[i] += 1 + float64(i)/float64(d)
	}
	return s
}

// batched measures many small products.
func (c *check) batched(k *card) {
	for _, of := range [][2]int{{32, 4000}, {100, 1000}, {256, 200}} {
		d, n := of[0], of[1]
		if c.quick {
			n = 3
		}
		c.try("batched products", func() {
			k.on(func() {
				a := k.up(c.normal(n * d * d))
				to := k.room(n * d * d)
				t := k.median(repeats, func() error {
					return k.GemmStridedBatched(false, false, d, d, d, 1, a, d, d*d, a, d, d*d, 0, to, d, d*d, n)
				})
				c.measured("batched DGEMM", fmt.Sprintf("%d × %d", n, d), t, 2*float64(n)*float64(d)*float64(d)*float64(d), "Gflop/s")
			})
		})
	}
}
