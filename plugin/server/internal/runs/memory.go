package runs

// A share is the recovery.Memory of a run: its part of the budget of all runs. What
// is kept of the oldest runs of its caller that have ended makes room for it.
type share struct {
	g      *Registry
	caller Caller
}

// Reserve implements recovery.Memory.
func (s share) Reserve(bytes int64) error {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	return s.g.takeLocked(s.caller, bytes)
}

// Release implements recovery.Memory.
func (s share) Release(bytes int64) { s.g.memory.Release(bytes) }

// Reserved is the memory that runs have reserved and that results take, in bytes.
func (g *Registry) Reserved() int64 { return g.memory.Taken() }

// takeLocked takes memory of the budget. Where there is too little it removes the
// oldest runs of the caller that have ended, if that makes enough room: nobody loses
// results to the runs of another.
func (g *Registry) takeLocked(c Caller, bytes int64) error {
	err := g.memory.Reserve(bytes)
	if err == nil || !g.enoughLocked(c, bytes, nil) {
		return err
	}
	for err != nil {
		oldest := g.oldestLocked(c, (*Run).yields)
		if oldest == nil {
			break
		}
		g.removeLocked(oldest)
		err = g.memory.Reserve(bytes)
	}
	return err
}

// enoughLocked says whether there would be memory without some runs and without those
// of the caller that have ended.
func (g *Registry) enoughLocked(c Caller, bytes int64, without map[*Run]bool) bool {
	for _, r := range g.ended {
		if without[r] || r.caller == c && r.yields() {
			bytes -= r.reserved
		}
	}
	return bytes <= g.memory.Free()
}

// keepLocked makes what a run of the caller has reserved for results what is kept of
// it, which takes so many bytes. It forgets runs that have ended where room is needed,
// and none if it refuses.
func (g *Registry) keepLocked(c Caller, bytes, reserved int64) error {
	forgotten, err := g.roomLocked(c, bytes)
	missing := bytes - reserved
	if err == nil && missing > 0 && !g.enoughLocked(c, missing, forgotten) {
		if err = g.memory.Reserve(missing); err == nil {
			missing = 0 // somebody has released it meanwhile
		}
	}
	if err == nil {
		for r := range forgotten {
			g.removeLocked(r)
		}
		if missing > 0 {
			err = g.takeLocked(c, missing)
		} else {
			g.memory.Release(-missing)
		}
	}
	if err != nil {
		g.memory.Release(reserved)
	}
	return err
}
