//go:build cuda

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/cuda/internal/emulator"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// A within is a backend that calls f for every problem that is loaded, instead of what
// a solver does with it.
type within struct {
	*Backend
	f func(c *cells, p solver.Problem) error
}

func (w within) Open(p *glad.Plan) (glad.Session, error) {
	s, err := w.Backend.Open(p)
	return withinSession{s, w.f}, err
}

type withinSession struct {
	glad.Session
	f func(c *cells, p solver.Problem) error
}

func (w withinSession) Run(ctx context.Context, problems []solver.Problem, _ func(int, glad.Iterates) error) error {
	return w.Session.Run(ctx, problems, func(i int, it glad.Iterates) error { return w.f(it.(*cells), problems[i]) })
}

// diagonally is a problem of d variables that costs nothing to make.
func diagonally(d int) solver.Problem {
	s := dense.NewSym(d, nil)
	for i := range d {
		s.Set(i, i, 1+float64(i%7))
		s.Set(i, (i+1)%d, 0.25)
	}
	return solver.Problem{S: s, Samples: d}
}

// pairIsS makes S the pair of a problem, of which the copies are compared with it.
func pairIsS(c *cells, p solver.Problem) error {
	c.pair.theta, c.pair.z = c.s, c.s
	theta, z, err := c.Pair()
	if err == nil && !(slices.Equal(theta.Raw(), p.S.Raw()) && slices.Equal(z.Raw(), p.S.Raw())) {
		err = errors.New("not what was loaded")
	}
	return err
}

// While a large matrix goes to the device, and while a pair comes back, others get in
// between.
func TestLargeCopiesShareTheThread(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	const d = 1500
	const size, piece = 8 * d * d, 8 << 20 // bytes
	p := diagonally(d)
	seen := make(map[string]bool) // of both ways: a part has gone, and not all
	for range 20 {
		before := map[string]int{"uploaded_bytes": control.Count("uploaded_bytes"), "downloaded_bytes": control.Count("downloaded_bytes")}
		whole := map[string]int{"uploaded_bytes": size, "downloaded_bytes": 2 * size}
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			for {
				select {
				case <-done:
					return
				default:
				}
				_ = b.device.Do(func() error {
					for way, n := range whole {
						if now := control.Count(way) - before[way]; now >= piece && now < n {
							seen[way] = true
						}
					}
					return nil
				})
			}
		}()
		_, err := glad.Solver{Model: model(t, "er-d100-m100"), Backend: within{b, pairIsS}}.Solve(t.Context(), p)
		close(done)
		<-ended
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) == 2 {
			return
		}
	}
	t.Errorf("others got in between the parts of copies: %v", seen)
}

// What is loaded in parts is there before the work that needs it, whatever order streams
// run in, and comes back whole.
func TestLargeCopiesKeepTheOrder(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	m := *model(t, "er-d100-m100")
	m.Iterations, m.Cells = 1, m.Cells[:min(1, len(m.Cells))]
	const d = 520 // the least that goes in parts is 512
	p := sampled(rand.New(rand.NewPCG(13, 13)), d, 2*d)
	want, err := glad.Solver{Model: &m}.Solve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for seed := 1; seed <= 3; seed++ {
		control.Set(t, "EMULATOR_DEFERRED", fmt.Sprint(seed))
		got, err := glad.Solver{Model: &m, Backend: b}.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if e, f := distance(got.Precision, want.Precision), distance(got.Support, want.Support); !(e < tolerance && f < tolerance) {
			t.Errorf("seed %d: Θ is off by %.2g, Z by %.2g", seed, e, f)
		}
		// With many rows of numbers for every variable, but small matrices.
		few := make([]solver.Problem, 500)
		for i := range few {
			few[i] = diagonally(100)
		}
		if _, err := (glad.Solver{Model: &m, Backend: within{b, func(c *cells, p solver.Problem) error {
			rows := make([]float64, rowArrays*c.d)
			err := c.fetch(rows, c.z.rows.At(int64(8*c.index*len(rows))))
			if nodes := c.prepared[c.index].Nodes; err == nil && !slices.Equal(rows[:c.d], nodes) {
				err = errors.New("not the rows that were loaded")
			}
			return err
		}}}).SolveAll(t.Context(), few); err != nil {
			t.Fatal(err)
		}
	}
}

// A context that ends while S is loaded ends that, with its error and not its cause.
func TestLoadingIsCancelled(t *testing.T) {
	control := emulated(t)
	control.CheckNothingLeft(t)
	b := opened(t)
	all := b.budget.free
	s, err := b.Open(planOf(t, "er-d100-m100"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := diagonally(1500)
	for pieces := range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &cancelling{Context: ctx, after: control.Count("copies") + pieces, control: control, cancel: func() { cancel(errors.New("enough")) }}
		err := s.Run(c, []solver.Problem{p}, func(int, glad.Iterates) error {
			t.Error("it was loaded")
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d pieces: %v", pieces, err)
		}
		if b.budget.free != all {
			t.Errorf("%d of the budget are left of %d", b.budget.free, all)
		}
	}
}

// A cancelling context ends when the device has been asked for so many copies.
type cancelling struct {
	context.Context
	after   int
	control *emulator.Control
	cancel  func()
}

func (c *cancelling) Err() error {
	if c.control.Count("copies") >= c.after {
		c.cancel()
	}
	return c.Context.Err()
}

// planOf is the plan of a model, as a solver lays it out.
func planOf(t *testing.T, name string) (plan *glad.Plan) {
	t.Helper()
	_, err := glad.Solver{Model: model(t, name), Backend: planner{&plan}}.Solve(t.Context(), diagonally(2))
	if plan == nil {
		t.Fatal(err)
	}
	return plan
}

type planner struct{ plan **glad.Plan }

func (planner) Name() string { return "planner" }

func (p planner) Open(plan *glad.Plan) (glad.Session, error) {
	*p.plan = plan
	return nil, errors.New("this is all")
}

// Whichever call fails while a large problem is loaded and read, there is an error, and
// nothing is left.
func TestEveryCallOfLargeCopiesFails(t *testing.T) {
	control := emulated(t)
	b := opened(t)
	control.CheckNothingLeft(t)
	p := diagonally(512)
	all := b.budget.free
	solve := func() error {
		_, err := glad.Solver{Model: model(t, "er-d100-m100"), Backend: within{b, pairIsS}}.Solve(t.Context(), p)
		return err
	}
	if err := solve(); err != nil {
		t.Fatal(err)
	}
	failures, successes := 0, 0
	for n := 1; successes < 4; n++ {
		control.Set(t, "EMULATOR_FAIL_CODE", "1")
		control.Set(t, "EMULATOR_FAIL", fmt.Sprint(n))
		err := solve()
		control.Set(t, "EMULATOR_FAIL", "")
		if b.budget.free != all {
			t.Fatalf("call %d: the budget is not given back", n)
		}
		if err != nil {
			failures++
			successes = 0
			continue
		}
		successes++
	}
	if failures < 50 {
		t.Errorf("only %d failures were told", failures)
	}
}
