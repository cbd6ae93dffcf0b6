//go:build cuda

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/kernels"
	"github.com/gladflow/gladflow/solver/cuda/library"
	"github.com/gladflow/gladflow/solver/dense"
)

// identity writes what is measured on what.
func (c *check) identity() {
	c.table("identity", "what", "value")
	for _, p := range got(cuda.Devices()) {
		c.row(fmt.Sprintf("GPU %d", p.Index), fmt.Sprintf("%s, compute capability %d.%d, %d multiprocessors, %.1f GB, %s", p.Name, p.Major, p.Minor, p.Multiprocessors, float64(p.Memory)/1e9, p.UUID))
	}
	c.row("driver", fmt.Sprintf("CUDA %d.%d", driver.Version()/1000, driver.Version()%1000/10))
	l := got(library.Open())
	for _, l := range []library.Library{l.BLAS, l.Solver} {
		c.row("library", l.String()+", "+l.File)
	}
	var free int64
	c.card(func(k *card) { free = k.Properties().Free })
	c.row("free", fmt.Sprintf("%.1f GB, with libraries open", float64(free)/1e9))
	digest := got(kernels.Digest())
	c.row("kernels", digest[:16])
	c.row("processor", fmt.Sprintf("%d threads, %s/%s, %s", runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, dense.Default().Name()))
	build := runtime.Version()
	if info, ok := debug.ReadBuildInfo(); ok {
		build += ", " + info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
				build += ", " + s.Key + " " + s.Value
			}
		}
	}
	c.row("build", build)
	c.row("check", c.verdict(free > 0, "the device has no free memory"))
}
