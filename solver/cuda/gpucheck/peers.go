//go:build cuda

package main

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/dense"
)

//go:embed peers.py
var script []byte

// peers times the same forward pass, of the literal model, in PyTorch and CuPy where
// python3 has them.
func (c *check) peers() {
	c.table("peers", "peer", "d", "its pass", "ours", "its / ours", "Θ apart", "Z apart", "check")
	python, err := exec.LookPath("python3")
	if err != nil {
		c.line("there is no python3")
		return
	}
	sizes := []int{100, 1000, 2000, 5000, 10000}
	if c.quick {
		sizes = []int{30}
	}
	for _, library := range []string{"torch", "cupy"} {
		if err := exec.CommandContext(c.ctx, python, "-c", "import numpy, "+library).Run(); err != nil {
			c.line("python3 has no numpy and %s", library)
			continue
		}
		var last time.Duration
		before := 0
		for _, d := range sizes {
			if c.largest > 0 && d > c.largest {
				continue
			}
			takes := 20 * time.Second
			if before >= 1000 {
				takes += time.Duration(4 * float64(last) * math.Pow(float64(d)/float64(before), 3))
			}
			what := fmt.Sprintf("%s at d=%d", library, d)
			if !c.due(what, takes) {
				break
			}
			c.try(what, func() { last = c.peer(python, library, d) })
			before = d
		}
	}
}

// peer runs one peer on one problem, and returns its time.
func (c *check) peer(python, library string, d int) time.Duration {
	m, p := builtin("er-d100-m100-literal"), c.sparse(d, d)
	folder := got(os.MkdirTemp("", "gpu-check"))
	defer os.RemoveAll(folder)
	repeats := 3
	if d > 1000 {
		repeats = 1
	}
	job := map[string]any{
		"d": d, "t": m.Theta0Offset, "lambda0": m.Lambda0, "iterations": m.Iterations, "repeats": repeats,
		"rho": m.Rho.Layers, "lambda": m.Lambda.Layers, "device": fmt.Sprintf("cuda:%d", c.device),
	}
	must(os.WriteFile(filepath.Join(folder, "job.json"), got(json.Marshal(job)), 0o600))
	must(os.WriteFile(filepath.Join(folder, "peers.py"), script, 0o600))
	f := got(os.Create(filepath.Join(folder, "s.bin")))
	must(binary.Write(f, binary.LittleEndian, p.S.Raw()))
	must(f.Close())
	command := exec.CommandContext(c.ctx, python, filepath.Join(folder, "peers.py"), folder, library)
	var errs strings.Builder
	command.Stderr = &errs
	out, err := command.Output()
	if c.ctx.Err() != nil {
		panic(c.ctx.Err())
	}
	if err != nil { // the peer's fault is not ours
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		c.line("%s at d=%d: %v: %s", library, d, err, lines[len(lines)-1])
		return 0
	}
	var result struct {
		Version string
		Seconds float64
	}
	must(json.Unmarshal(out, &result))
	read := func(name string) []float64 {
		v := make([]float64, d*d)
		f := got(os.Open(filepath.Join(folder, name)))
		defer f.Close()
		must(binary.Read(f, binary.LittleEndian, v))
		return v
	}
	theta, z := read("theta.bin"), read("z.bin")
	its := time.Duration(result.Seconds * float64(time.Second))
	c.backend(func(b *cuda.Backend) {
		solve := func() (*dense.Sym, *dense.Sym) {
			est := c.solve(b, m, p)[0]
			return est.Precision, est.Support
		}
		solve()
		began := time.Now()
		ourTheta, ourZ := solve()
		ours := time.Since(began)
		e, f := apart(ourTheta.Raw(), theta), apart(ourZ.Raw(), z)
		ok := e <= 1e-7 && f <= 1e-7
		if d >= 1000 {
			ok = ok && ours <= its
		}
		c.row(result.Version, d, its, ours, its.Seconds()/ours.Seconds(), e, f, c.verdict(ok, "%s at d=%d: Θ is %.2g apart, Z %.2g, it takes %v, ours %v", library, d, e, f, its, ours))
	})
	return its
}
