package glad

import (
	"context"
	"slices"
	"sync"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// CPU is the Backend in host memory, with the kernels of a dense.Engine. It
// works on several problems side by side, or on the rows of one. Its zero value
// is ready to use. The number of goroutines does not change its results.
type CPU struct {
	// Engine does products, inverses and eigendecompositions; entries are computed
	// on as many goroutines as it has threads. Default (nil): dense.Default().
	Engine dense.Engine
	// Workers is the number of problems worked on at once. Default (0): the threads
	// of Engine.
	Workers int
}

var (
	_ Backend        = CPU{}
	_ AdjointSession = (*cpuSession)(nil)
)

func (c CPU) engine() dense.Engine {
	if c.Engine == nil {
		return dense.Default()
	}
	return c.Engine
}

// Name is that of the engine.
func (c CPU) Name() string { return c.engine().Name() }

// Open implements Backend. The session is an AdjointSession.
func (c CPU) Open(p *Plan) (Session, error) {
	s := &cpuSession{plan: p, engine: c.engine(), workers: c.Workers, free: map[int][]*tape{}}
	if s.workers < 1 {
		s.workers = dense.Threads(s.engine)
	}
	for _, e := range p.Entries {
		n := compile(e.Network, p.Values, e.At)
		if p.Fixed {
			n.fold()
		}
		s.networks = append(s.networks, n)
	}
	return s, nil
}

// cpuSession is the AdjointSession of CPU.
type cpuSession struct {
	plan     *Plan
	engine   dense.Engine
	workers  int
	networks []*network

	mutex sync.Mutex
	free  map[int][]*tape // by d: those that no problem uses
}

// tapesKept bounds the free tapes of a worker where every covariance has
// another dimension.
const tapesKept = 4

// Run implements Session.
func (s *cpuSession) Run(ctx context.Context, problems []solver.Problem, f func(i int, it Iterates) error) error {
	cores := max(1, dense.Threads(s.engine)/max(1, min(s.workers, len(problems)))) // for each of them
	return s.each(ctx, problems, func(i int) error {
		p := problems[i]
		c := s.newIterates(p.S.Len(), cores)
		c.load(s, p.S, p.Samples)
		return f(i, c)
	})
}

// Differentiate implements AdjointSession.
func (s *cpuSession) Differentiate(ctx context.Context, examples []solver.Example, loss Loss, weights []float64, f func(i int, a Adjoint) error) error {
	problems := make([]solver.Problem, len(examples))
	for i, e := range examples {
		problems[i] = e.Problem()
	}
	return s.each(ctx, problems, func(i int) error {
		t := s.take(problems[i].S.Len())
		t.load(s, examples[i], loss, weights[i])
		err := f(i, t)
		if !interrupted(err) { // a kernel may still be writing to it
			s.put(t)
		}
		return err
	})
}

// differentiateOutcomes is Differentiate for outcomes.
func (s *cpuSession) differentiateOutcomes(ctx context.Context, problems []solver.Problem, outcome Outcome, f func(i int, a Adjoint) error) error {
	return s.each(ctx, problems, func(i int) error {
		t := s.take(problems[i].S.Len())
		t.load(s, solver.Example{S: problems[i].S, Samples: problems[i].Samples}, Loss{}, 0)
		t.outcome = func(theta, by *dense.Sym) float64 { return outcome(i, theta, by) }
		err := f(i, t)
		if !interrupted(err) { // a kernel may still be writing to it
			s.put(t)
		}
		return err
	})
}

// each calls f for every problem, the largest first.
func (s *cpuSession) each(ctx context.Context, problems []solver.Problem, f func(i int) error) error {
	if len(problems) == 1 {
		return f(0)
	}
	order := slices.Concat(ByDimension(problems)...)
	return dense.Each(ctx, len(order), s.workers, func(_, k int) error { return f(order[k]) })
}

// take returns a tape for d×d covariances.
func (s *cpuSession) take(d int) *tape {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if n := len(s.free[d]); n > 0 {
		t := s.free[d][n-1]
		s.free[d] = s.free[d][:n-1]
		return t
	}
	return s.newTape(d)
}

// put makes t free.
func (s *cpuSession) put(t *tape) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var kept int
	for _, tapes := range s.free {
		kept += len(tapes)
	}
	if kept == tapesKept*s.workers {
		clear(s.free)
	}
	d := t.shape.Dimension
	s.free[d] = append(s.free[d], t)
}

// Close implements Session.
func (s *cpuSession) Close() error { return nil }
