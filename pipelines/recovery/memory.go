package recovery

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

// A Memory is asked for the memory of a run before the run takes it;
// *memory.Budget is one. It is called by one goroutine at a time.
type Memory interface {
	// Reserve takes bytes, or nothing and returns an error, a *memory.Error. Then
	// the run ends with that error.
	Reserve(bytes int64) error
	// Release gives back what was reserved.
	Release(bytes int64)
}

// ownBytes is what a run takes whatever its size: buffers of readers and writers,
// names, documents.
const ownBytes = 16 << 20

// matrix is what a matrix of d variables takes, in bytes.
func matrix(d int) int64 { return 8 * int64(d) * int64(d) }

const (
	// sharedMatrices are those of every classical solver: S of a component in its
	// own units, the best point, two for the certificate, the residual of the
	// optimality conditions, and the estimate.
	sharedMatrices = 6
	// eigenMatrices are those of an eigendecomposition and of the product after it:
	// vectors, those of the halves that are joined, and what is multiplied.
	eigenMatrices = 5
)

// matrices is what n matrices of a classical solver take. Penalties of a component
// whose variables have different variances are one more.
func (c solverConfig) matrices(n, d int) int64 {
	if c.penalty.Matrix != nil || c.job.Correlation == covariance.Covariance.String() || !c.job.SamplesGiven() {
		n++
	}
	return int64(n) * matrix(d)
}

// A reservation is what a run has of a Memory. It is estimated for the whole run when
// the variables are known, and raised when something turns out to be larger: samples
// that are kept, whose number was not known, and lists of edges.
//
// The estimates are of memory in use at a time. See TestMemoryOfSolvers for how they
// compare with what a process takes.
type reservation struct {
	from Memory // nil: nothing is reserved

	// A reader that has not noticed the end of its context calls hold after it.
	mu       sync.Mutex
	ended    bool
	reserved int64

	peak   int64  // estimated: of reading, choosing the penalty, solving or writing
	what   string // takes the peak
	told   int64  // what the run was said to need
	held   int64  // by the readers of tables, to the end
	kept   int64  // by samples, while they are read
	tables int64  // for the tables of solvers that the host keeps
}

// hold reserves for the readers.
func (m *reservation) hold(more int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held += more
	return m.grow("the tables that are read")
}

// keep reserves for samples.
func (m *reservation) keep(more int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept += more
	return m.grow("the samples that are kept until all have come")
}

// grow reserves what is missing while a table is read.
func (m *reservation) grow(what string) error {
	err := m.reserve(what)
	var none *memory.Error
	if errors.As(err, &none) {
		none.Growing = true
	}
	return err
}

// raise makes the peak at least so many bytes.
func (m *reservation) raise(peak int64, what string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if peak > m.peak {
		m.peak, m.what = peak, what
	}
	return m.reserve(m.what)
}

// reserve reserves what is missing. The caller has the lock.
func (m *reservation) reserve(what string) error {
	total := ownBytes + m.peak + m.held + m.kept + m.tables
	switch {
	case m.ended:
		return errEnded
	case m.from == nil || total <= m.reserved:
		return nil
	}
	err := m.from.Reserve(total - m.reserved)
	var none *memory.Error
	if errors.As(err, &none) {
		// Of the whole run: what it has already is its own.
		return &memory.Error{Needs: total, What: what, Limit: none.Limit, Aside: none.Aside, Taken: max(0, none.Taken-m.reserved)}
	}
	if err == nil {
		m.reserved = total
	}
	return err
}

// errEnded is what readers are told that go on after the end of their run.
var errEnded = errors.New("the run has ended")

// read gives back what samples took, but for those that are used to the end.
func (m *reservation) read(used int64) {
	if m.from == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.held = 0, m.held+used
	if over := m.reserved - (ownBytes + m.peak + m.held + m.tables); over > 0 {
		m.from.Release(over)
		m.reserved -= over
	}
}

// handOver leaves what was reserved for the tables of a solver to the host, and
// returns it.
func (m *reservation) handOver(bytes int64) int64 {
	if m.from == nil {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserved -= bytes
	m.tables -= bytes
	return bytes
}

// borrow reserves for more work at the same time, if there is memory for it: until the run
// ends, for what grows later.
func (m *reservation) borrow(bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil {
		return true
	}
	if m.ended || m.from.Reserve(bytes) != nil {
		return false
	}
	m.reserved += bytes
	return true
}

// release gives back everything when no kernel is at work any more: after a
// cancellation they may be, for a while, with matrices of the run.
func (m *reservation) release(kernels *dense.Background) {
	if m.from == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	left := m.reserved
	m.reserved = 0
	kernels.WhenIdle(func() { m.from.Release(left) })
}

// admit reserves what the run needs at its peak, as far as it is known when its
// tables have been opened.
func (r *run) admit(ctx context.Context) error {
	d := len(r.table.Names)
	m := &r.memory
	if r.wide() {
		return r.told(r.admitWide())
	}
	m.peak, m.what = r.table.Memory(), fmt.Sprintf("the covariance of %d variables", d)
	return r.told(r.advisedWide(ctx, r.admitSolvers()))
}

// muchMemory is the memory from which on a run says how much it needs before it begins.
const muchMemory = 1 << 30

// told is err, and where there is none tells how much memory the run needs, if that is much.
func (r *run) told(err error) error {
	m := &r.memory
	m.mu.Lock()
	needs, what := ownBytes+m.peak+m.held+m.kept+m.tables, m.what
	news := err == nil && needs >= muchMemory && needs > m.told+m.told/4
	if news {
		m.told = needs
	}
	m.mu.Unlock()
	if news {
		r.stage(progress.Planning, "").Done(fmt.Sprintf("up to %s, for %s", memory.Size(needs), what))
	}
	return err
}

// admitSolvers reserves what those take that are given all of S, and what comes with it.
func (r *run) admitSolvers() error {
	d, m := len(r.table.Names), &r.memory
	c := r.configuration(glasso.Penalty{Matrix: r.penalties}, nil)
	atWork := func(bytes int64, what string) {
		if bytes += matrix(d); bytes > m.peak { // S
			m.peak, m.what = bytes, fmt.Sprintf("%s on %d variables", what, d)
		}
	}
	if rule, ok := r.penaltyRule(); ok {
		atWork(rule.memory(c, r.blockLen()), "the choice of the penalty")
	}
	if r.job.TestsPairs() {
		peak, kept := testMemory(c, d)
		atWork(peak, "the tests of pairs")
		m.held += kept
	}
	for _, name := range r.job.Solvers {
		entry := find(name)
		atWork(r.solverMemory(entry, c), "solver "+name)
		if r.job.Stability > 0 {
			atWork(r.halfMemory(entry)+r.countsMemory(), "halves of the samples")
		}
		if r.delivers() { // what is known before the solver has ended
			size := r.tableSize(entry, 0, 0)
			atWork(r.deliveryMemory(size), "the tables of a solver")
			m.tables += r.keptMemory(size)
		}
	}
	return m.raise(m.peak, m.what)
}

// admitSamples is admit for the solvers that need memory for every sample, when these
// have been counted.
func (r *run) admitSamples() error {
	if r.samples == nil {
		return nil
	}
	d := len(r.table.Names)
	for _, name := range r.job.Solvers {
		bytes := matrix(d) + r.solverMemory(find(name), r.configuration(glasso.Penalty{}, nil))
		if err := r.memory.raise(bytes, fmt.Sprintf("solver %s on %d variables", name, d)); err != nil {
			return err
		}
	}
	return nil
}

// holdPopulation reserves for so many pairs that are scored: themselves, and what
// scoring them needs.
func (r *run) holdPopulation(pairs int64) error {
	const pairBytes = 9 + 24
	return r.memory.hold(pairBytes * pairs)
}

// delivers says that solvers leave files or tables.
func (r *run) delivers() bool { return r.job.Out != "" || r.host.Solved != nil }
