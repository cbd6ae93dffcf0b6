package selection

import (
	"context"
	"slices"
	"sync"

	"github.com/gladflow/gladflow/solver/dense"
)

// abreast solves lanes along one path of penalties. A thread that is free takes the lane that is
// furthest behind, so that none waits for the others to finish a penalty: five folds keep two
// threads at work. value is what is wanted of lane k solved at rho. judge is given the values of
// one penalty after the other, as soon as all lanes have it, and says whether the path has ended;
// what some lanes have solved beyond is forgotten, and so the result does not depend on the
// number of threads.
func (s Settings) abreast(ctx context.Context, rhos []float64, lanes []*lane, value func(k int, rho float64) laneValue, judge func(rho float64, values []laneValue) (ended bool)) error {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &abreast{ended: cancel, of: make([][]laneValue, len(lanes)), busy: make([]bool, len(lanes)), penalties: len(rhos)}
	workers := min(len(lanes), dense.Threads(s.engine()))
	err := s.each(within, workers, func(_ int, engine dense.Engine) error {
		whole := false
		defer func() {
			if !whole { // an error or a panic ends the others
				cancel()
			}
		}()
		for k := a.take(); k >= 0; k = a.take() {
			rho := rhos[len(a.of[k])]
			lanes[k].set.Engine = engine
			if err := lanes[k].solve(within, rho); err != nil {
				return err
			}
			a.put(k, value(k, rho), func(values []laneValue) bool { return judge(rho, values) })
		}
		whole = true
		return nil
	})
	if a.over {
		return nil
	}
	return err
}

// A laneValue is what is kept of a solution of a lane.
type laneValue struct {
	point      Point
	likelihood float64
}

// abreast says which lane is next.
type abreast struct {
	mu        sync.Mutex
	of        [][]laneValue // by lane, one for every penalty that it has solved
	busy      []bool
	penalties int
	judged    int // penalties
	over      bool
	ended     func()
}

// take is the lane that is furthest behind and not at work, −1 if there is none.
func (a *abreast) take() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := -1
	for k, of := range a.of {
		if !a.over && !a.busy[k] && len(of) < a.penalties && (next < 0 || len(of) < len(a.of[next])) {
			next = k
		}
	}
	if next >= 0 {
		a.busy[next] = true
	}
	return next
}

// put takes what lane k has found, and has the penalties judged that all lanes have now: it is
// one at most.
func (a *abreast) put(k int, v laneValue, judge func([]laneValue) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of[k], a.busy[k] = append(a.of[k], v), false
	if a.over || slices.ContainsFunc(a.of, func(of []laneValue) bool { return len(of) <= a.judged }) {
		return
	}
	values := make([]laneValue, len(a.of))
	for k, of := range a.of {
		values[k] = of[a.judged]
	}
	a.judged++
	if a.over = judge(values); a.over {
		a.ended()
	}
}
