package train

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// TestStepBesideTorch times one training step at d = 100, K = 30 on a batch of
// 4 covariances beside the same step in PyTorch, in turns, and compares the
// two gradients. GLADFLOW_TORCH is a Python that has torch; without it the
// test is skipped.
func TestStepBesideTorch(t *testing.T) {
	python := os.Getenv("GLADFLOW_TORCH")
	if python == "" {
		t.Skip("set GLADFLOW_TORCH to a Python that has torch")
	}
	const d, count, rounds, perRound = 100, 4, 45, 1
	// Threads of either side spin for a while before they sleep; whose turn it is
	// next has the processor for itself.
	const pause = 30 * time.Millisecond
	dense.SpareProcessor() // as gladflow does
	preset, err := NewPreset(Literal, 3)
	if err != nil {
		t.Fatal(err)
	}
	m := preset.Starts[1]
	examples := chains(rand.New(rand.NewPCG(9, 9)), count, d, d)
	s := preset.Settings
	s.Batch, s.Steps = count, 1000
	r, err := newRun(examples, examples[:1], s)
	if err != nil {
		t.Fatal(err)
	}
	r.starts = []*glad.Model{m}
	if r.state, err = newState(r.starts, r.settings, ""); err != nil {
		t.Fatal(err)
	}
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	batch := []int{0, 1, 2, 3}

	peer, answers := startTorch(t, python, m, examples, r.settings)
	var first torchAnswer
	var ours, theirs []float64
	var loss float64
	var gradient []float64
	for round := range rounds + 1 { // the first is for warming up
		time.Sleep(pause)
		r.state.begin(m)
		for i := range perRound {
			began := time.Now()
			l, ok, err := r.differentiate(t.Context(), batch)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if round == 0 && i == 0 {
				loss, gradient = l, slices.Clone(r.gradient)
			}
			clip(r.gradient, r.settings.ClipNorm)
			r.state.Adam.Step(r.state.Values, r.gradient, r.settings.LearningRate)
			if round > 0 {
				ours = append(ours, time.Since(began).Seconds())
			}
		}
		time.Sleep(pause)
		if _, err := fmt.Fprintln(peer, perRound); err != nil {
			t.Fatal(err)
		}
		var a torchAnswer
		if err := answers.Decode(&a); err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			first = a
		} else {
			theirs = append(theirs, a.Seconds...)
		}
	}
	if e := math.Abs(loss/first.Loss - 1); e > 1e-9 {
		t.Errorf("the loss is %v, PyTorch has %v", loss, first.Loss)
	}
	var largest float64
	for _, v := range first.Gradient {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range first.Gradient {
		if math.Abs(gradient[i]-v) > 1e-7*largest {
			t.Errorf("derivative %d is %v, PyTorch has %v", i, gradient[i], v)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	ratio := theirs[len(theirs)/2] / ours[len(ours)/2]
	t.Logf("d=%d, K=%d, batch %d, medians of %d steps in turns: %.1f ms here (%s, %d workers), %.1f ms in PyTorch %s (%d threads): ratio %.2f, of the fastest steps %.2f",
		d, m.Iterations, count, len(ours), 1e3*ours[len(ours)/2], r.settings.Backend.Name(), dense.Cores(), 1e3*theirs[len(theirs)/2], first.Torch, first.Threads, ratio, theirs[0]/ours[0])
	if ratio < 3 {
		t.Errorf("a step is %.2f times as fast as PyTorch's; it should be 3", ratio)
	}
}

type torchAnswer struct {
	Seconds  []float64 `json:"seconds"`
	Loss     float64   `json:"loss"`
	Gradient []float64 `json:"gradient"`
	Torch    string    `json:"torch"`
	Threads  int       `json:"threads"`
}

// startTorch runs the script and gives it the problem.
func startTorch(t *testing.T, python string, m *glad.Model, examples []solver.Example, s Settings) (io.Writer, *json.Decoder) {
	t.Helper()
	layers := func(n glad.Network) (to [][2]any) {
		for _, l := range n.Layers {
			to = append(to, [2]any{l.Weights, l.Bias})
		}
		return to
	}
	job := map[string]any{
		"rho": layers(m.Rho), "lambda": layers(m.Lambda), "t": m.Theta0Offset, "iterations": m.Iterations,
		"gamma": s.Loss.Gamma, "learning_rate": s.LearningRate, "clip_norm": s.ClipNorm,
	}
	var covariances, truths [][][]float64
	for _, e := range examples {
		var a, b [][]float64
		for i := range e.S.Len() {
			a, b = append(a, e.S.Row(i)), append(b, e.Truth.Row(i))
		}
		covariances, truths = append(covariances, a), append(truths, b)
	}
	job["s"], job["truth"] = covariances, truths
	c := exec.CommandContext(t.Context(), python, "testdata/torch_step.py")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = c.Wait()
	})
	if err := json.NewEncoder(in).Encode(job); err != nil {
		t.Fatal(err)
	}
	return in, json.NewDecoder(bufio.NewReader(out))
}
