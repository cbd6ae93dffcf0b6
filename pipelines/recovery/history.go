package recovery

import (
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
)

// maxHistory is the number of iterations that a history keeps.
const maxHistory = 200

// A history keeps iterations of a solver, evenly, and the last one. The zero value is
// an empty one.
type history struct {
	kept  []solver.Iteration
	every int // of so many iterations one is kept; 0 is 1
	count int
	last  solver.Iteration
}

func (h *history) add(it solver.Iteration) {
	h.last = it
	h.every = max(1, h.every)
	if h.count%h.every == 0 {
		if len(h.kept) == maxHistory {
			for i := range maxHistory / 2 {
				h.kept[i] = h.kept[2*i]
			}
			h.kept = h.kept[:maxHistory/2]
			h.every *= 2
		}
		if h.count%h.every == 0 {
			h.kept = append(h.kept, it)
		}
	}
	h.count++
}

// iterations are those that are kept, with the last one.
func (h *history) iterations() []solver.Iteration {
	list := h.kept
	if n := len(list); n > 0 && list[n-1].Number != h.last.Number {
		list = append(list[:n:n], h.last)
	}
	return list
}

// course is what the iterations say, for the document; nil where there are none.
func (h *history) course() *job.CourseResult {
	list := h.iterations()
	if len(list) == 0 {
		return nil
	}
	c := new(job.CourseResult)
	for _, it := range list {
		c.Iteration = append(c.Iteration, it.Number)
		if it.Target > 0 {
			c.Target = it.Target
		}
	}
	// column is nil where no iteration has a value.
	column := func(value func(solver.Iteration) float64, has func(job.Float) bool) []job.Float {
		values := make([]job.Float, len(list))
		some := false
		for k, it := range list {
			values[k] = job.Float(value(it))
			some = some || has(values[k])
		}
		if !some {
			return nil
		}
		return values
	}
	c.Objective = column(func(it solver.Iteration) float64 { return it.Objective }, job.Float.IsFinite)
	c.Gap = column(func(it solver.Iteration) float64 { return it.Gap }, job.Float.IsFinite)
	c.Distance = column(func(it solver.Iteration) float64 { return it.Distance }, func(v job.Float) bool { return v != 0 })
	return c
}
