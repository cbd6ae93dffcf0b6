//go:build cuda

package main

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
)

// A card is a device with a stream, the libraries and the kernels, for calls alone.
// Its methods but on and close are called inside on.
type card struct {
	*driver.Device
	*library.Handle
	stream      *driver.Stream
	module      *driver.Module
	before, end *driver.Event
	taken       []driver.Pointer
}

// card opens the device and calls f with it.
func (c *check) card(f func(k *card)) {
	d := got(driver.Use(c.device))
	k := &card{Device: d}
	defer func() {
		err := d.Do(func() error {
			all := k.release()
			for _, e := range []*driver.Event{k.before, k.end} {
				if e != nil {
					all = errors.Join(all, e.Close())
				}
			}
			if k.module != nil {
				all = errors.Join(all, k.module.Unload())
			}
			if k.Handle != nil {
				all = errors.Join(all, k.Handle.Close())
			}
			if k.stream != nil {
				all = errors.Join(all, k.stream.Close())
			}
			return all
		})
		if err = errors.Join(err, d.Close()); err != nil {
			c.verdict(false, "the device is closed: %v", err)
		}
	}()
	k.on(func() {
		k.stream = got(d.NewStream())
		k.Handle = got(got(library.Open()).NewHandle(d, k.stream))
		k.module = got(d.Load(kernels.PTX))
		k.before, k.end = got(d.NewEvent()), got(d.NewEvent())
	})
	f(k)
}

// on runs f on the device's thread, and gives back what it takes.
func (k *card) on(f func()) {
	must(k.Do(func() (err error) {
		defer func() { err = errors.Join(err, k.release()) }()
		f()
		return nil
	}))
}

func (k *card) release() (all error) {
	if len(k.taken) == 0 {
		return nil
	}
	all = k.stream.Synchronize()
	for _, p := range k.taken {
		all = errors.Join(all, k.Free(p))
	}
	k.taken = nil
	return all
}

// room is memory for n numbers, all of them NaN.
func (k *card) room(n int) driver.Pointer {
	p := got(k.Alloc(8 * int64(max(n, 1))))
	k.taken = append(k.taken, p)
	must(k.stream.Set8(p, 0xff, 8*int64(max(n, 1))))
	return p
}

// up is memory with these values.
func (k *card) up(values []float64) driver.Pointer {
	p := k.room(len(values))
	must(k.stream.Upload(p, values))
	must(k.stream.Synchronize())
	return p
}

func (k *card) down(p driver.Pointer, n int) []float64 {
	v := make([]float64, n)
	must(k.stream.Download(v, p))
	must(k.stream.Synchronize())
	return v
}

// info is what a library has left at p.
func (k *card) info(p driver.Pointer) int32 { return driver.Int32s(k.down(p, 1))[0] }

// median is that of the times of f on the device, after one run that is not counted.
func (k *card) median(repeats int, f func() error) time.Duration {
	must(f())
	must(k.stream.Synchronize())
	var all []time.Duration
	for range repeats {
		must(k.stream.Record(k.before))
		must(f())
		must(k.stream.Record(k.end))
		must(k.stream.Synchronize())
		all = append(all, got(k.end.Since(k.before)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// apart is the largest difference, of the largest number of want: NaN where got has NaN
// and want has none.
func apart(got, want []float64) float64 {
	var worst, most float64
	for i, v := range want {
		e := math.Abs(got[i] - v)
		if math.IsNaN(e) {
			return math.NaN()
		}
		worst, most = max(worst, e), max(most, math.Abs(v))
	}
	if worst == 0 {
		return 0
	}
	return worst / most
}
