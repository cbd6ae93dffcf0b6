package recovery

import "github.com/gladflow/gladflow/solver"

// maxHistory is the number of iterations that a history keeps.
const maxHistory = 1024

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
