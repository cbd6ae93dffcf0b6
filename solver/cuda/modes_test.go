//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/glad"
)

// emulated is the control of the emulated driver, on which the test runs.
func emulated(t *testing.T) *emulator.Control {
	t.Helper()
	if os.Getenv("GLADFLOW_CUDA_TEST") == "device" {
		t.Skip("this test needs the emulated driver")
	}
	folder := emulator.Build(t)
	t.Setenv("GLADFLOW_CUDA_PATH", folder)
	if err := driver.Open(); err != nil { // which it does once
		t.Fatal(err)
	}
	return emulator.Open(t, folder)
}

// Work that is queued may be done late, and streams may run in any order.
func TestDeferredWork(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	r := rand.New(rand.NewPCG(11, 11))
	var problems []solver.Problem
	for range 3 {
		problems = append(problems, sampled(r, 24, 60))
	}
	for seed := 1; seed <= 4; seed++ {
		control.Set(t, "EMULATOR_DEFERRED", fmt.Sprint(seed))
		b := opened(t)
		for _, name := range []string{"general", "er-d100-m100-literal", "er-d100-m100"} {
			for _, how := range []method{byEigen, byPolar} {
				b.method = how
				m := model(t, name)
				want, err := glad.Solver{Model: m}.SolveAll(t.Context(), problems)
				if err != nil {
					t.Fatal(err)
				}
				got, err := glad.Solver{Model: m, Backend: b}.SolveAll(t.Context(), problems)
				if err != nil {
					t.Fatal(err)
				}
				one, err := glad.Solver{Model: m, Backend: b}.Solve(t.Context(), problems[0])
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range append(got, one) {
					if e := distance(g.Support, want[i%3].Support); !(e < tolerance) {
						t.Errorf("seed %d, %s, method %d, problem %d: Z is off by %.2g", seed, name, how, i, e)
					}
				}
			}
		}
	}
}

// Whichever call fails, there is an error in one sentence, and nothing is left.
func TestEveryCallFails(t *testing.T) {
	control := emulated(t)
	r := rand.New(rand.NewPCG(12, 12))
	problems := []solver.Problem{sampled(r, 4, 20), sampled(r, 4, 20), sampled(r, 3, 20)}
	m := *model(t, "general")
	m.Iterations = 2
	m.Cells = m.Cells[:min(2, len(m.Cells))]
	long := os.Getenv("GLADFLOW_LONG") != ""
	examples := []solver.Example{example(r, 4, 20), example(r, 4, 20), example(r, 3, 20)}
	solve := func(t *testing.T, b *Backend) error {
		est, err := glad.Solver{Model: &m, Backend: b}.SolveAll(t.Context(), problems)
		for _, e := range est {
			if err == nil && (e == nil || !e.Precision.Finite() || !e.Support.Finite()) {
				t.Fatal("a call fails, and nobody says so")
			}
		}
		return err
	}
	differentiate := func(t *testing.T, b *Backend) error {
		g, err := glad.NewDifferentiator(&m, b)
		if err != nil {
			return err
		}
		for range 2 { // the second time on memory that was kept
			if _, err = g.Gradient(t.Context(), examples[2], glad.Loss{On: glad.LossOnZ, Gamma: 0.9}, 1, make([]float64, m.Parameters())); err != nil {
				break
			}
			losses, gradients := make([]float64, 3), [][]float64{make([]float64, m.Parameters()), make([]float64, m.Parameters()), make([]float64, m.Parameters())}
			if err = g.Gradients(t.Context(), examples, glad.Loss{On: glad.LossOnTheta, Gamma: 0.9}, 1, losses, gradients); err != nil {
				break
			}
		}
		return errors.Join(err, g.Close())
	}
	for _, c := range []struct {
		code string
		how  method
		do   func(t *testing.T, b *Backend) error
		name string
		all  int // so many calls of the beginning, then fewer and fewer
	}{
		{"2", byPolar, solve, "polar", 30}, {"1", byEigen, solve, "eigen", 30}, {"700", byPolar, solve, "polar", 30}, {"999", byEigen, solve, "eigen", 30},
		{"2", automatic, differentiate, "gradient", 15}, {"700", automatic, differentiate, "gradient", 15},
	} {
		t.Run(c.name+",code "+c.code, func(t *testing.T) {
			if len(c.code) == 1 {
				control.CheckNothingLeft(t)
			}
			// With others the card is lost, and what it held goes with its context.
			defer func(before int) {
				if now := control.Count("primary_references"); now != before {
					t.Errorf("%d contexts are held", now-before)
				}
			}(control.Count("primary_references"))
			failures, successes := 0, 0
			step := func(n int) int {
				if long {
					return 1
				}
				return 1 + n/c.all
			}
			for n := 1; ; n += step(n) {
				control.Set(t, "EMULATOR_FAIL_CODE", c.code)
				control.Set(t, "EMULATOR_FAIL", fmt.Sprint(n))
				err := func() error {
					b, err := New(0)
					if err != nil {
						return err
					}
					b.method = c.how
					return errors.Join(c.do(t, b), b.Close())
				}()
				control.Set(t, "EMULATOR_FAIL", "")
				if err == nil { // it has fewer calls, or nothing depends on the one
					if successes++; successes == 4 {
						if failures < 50 {
							t.Errorf("only %d failures were told", failures)
						}
						t.Logf("%d failures, of up to %d calls", failures, n)
						return
					}
					continue
				}
				failures++
				successes = 0
				if text, _, _ := strings.Cut(err.Error(), "\n"); text == "" || strings.Contains(text, "runtime error") {
					t.Errorf("call %d: %v", n, err)
				}
				if n > 5000 {
					t.Fatal("it never ends")
				}
			}
		})
	}
}
