// The race detector takes memory of its own.

//go:build !race

package recovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/solver/dense"
)

// A measurement is a run in a process of its own, and what it took.
type measurement struct {
	Job job.Job
	// Heap is the limit of Go's runtime; 0 for none.
	Heap int64

	// Reserved is the most that was reserved, Peak the most that the process had of
	// the machine's memory (VmHWM).
	Reserved, Peak int64
	// CPU is the time that the process has computed, on all cores.
	CPU time.Duration
}

// measureKey is in the environment of the process.
const measureKey = "GLADFLOW_TEST_MEASUREMENT"

// TestMeasuredProcess is the process.
func TestMeasuredProcess(t *testing.T) {
	text := os.Getenv(measureKey)
	if text == "" {
		t.Skip("it is started by other tests")
	}
	var m measurement
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if m.Heap > 0 {
		debug.SetMemoryLimit(m.Heap)
	}
	most := &mostReserved{Budget: memory.NewBudget(0)}
	if _, err := Run(t.Context(), m.Job, Host{Memory: most}); err != nil {
		t.Fatal(err)
	}
	if most.Taken() != 0 {
		t.Errorf("%d bytes are reserved after the end", most.Taken())
	}
	m.Reserved, m.Peak = most.most, peak(t)
	fmt.Fprintf(os.Stderr, "measured %d %d\n", m.Reserved, m.Peak)
}

// peak is VmHWM of this process.
func peak(t *testing.T) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kib, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("/proc/self/status has no VmHWM")
	return 0
}

// measured runs a job in a process of its own.
func measured(t *testing.T, j job.Job, heap int64) measurement {
	t.Helper()
	m := measurement{Job: j, Heap: heap}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMeasuredProcess$")
	c.Env = append(os.Environ(), measureKey+"="+string(text))
	out, err := c.CombinedOutput()
	at := bytes.Index(out, []byte("measured "))
	if err != nil || at < 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := fmt.Sscanf(string(out[at:]), "measured %d %d", &m.Reserved, &m.Peak); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m.CPU = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return m
}

// What a run reserves is what it takes, whatever the solver and the engine: where Go's
// heap is held to that, the run goes well, the process grows by no more, and, where the
// matrices are large against the process itself, more than half of what is reserved for
// them is used.
//
// The table of docs/operations.md is the log of this test with GLADFLOW_LONG=1 and -v, on a
// machine with OpenBLAS: without it the larger sizes take a quarter of an hour.
func TestMemoryOfSolvers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	sizes := map[int][]string{500: {job.EngineAuto}}
	if _, err := dense.Open("openblas"); err == nil && os.Getenv("GLADFLOW_LONG") != "" {
		sizes = map[int][]string{500: {job.EngineAuto, "gonum"}, 1000: {job.EngineAuto}}
		if os.Getenv("GLADFLOW_CI") == "" {
			sizes[2000] = []string{job.EngineAuto}
		}
	}
	idle := measured(t, job.Job{Input: connected(t, 10, 50), Solvers: []string{"bcd", "glad"}, Penalty: "0.3"}, 0)
	t.Logf("a run of 10 variables: %d MiB", idle.Peak>>20)
	for _, d := range slices.Sorted(maps.Keys(sizes)) {
		input := connected(t, d, 200)
		for _, engine := range sizes[d] {
			// ADMM and GLAD need less where their roots need no eigenvectors, which depends
			// on the matrix: of ADMM's two runs the second has a λ with which they may.
			var spared int64
			for _, j := range []job.Job{
				{Solvers: []string{"glad"}}, {Solvers: []string{"bcd"}, Penalty: "0.01"}, {Solvers: []string{"gista"}, Penalty: "0.1"},
				{Solvers: []string{"admm"}, Penalty: "0.1"}, {Solvers: []string{"am"}, Penalty: "0.1"},
				{Solvers: []string{"bcd"}, Penalty: "edges:20000", Gap: 0.1}, {Solvers: []string{"bcd"}, Penalty: cv, Gap: 0.1},
				{Solvers: []string{"admm"}, Penalty: "0.1", ADMMLambda: 1}, {Solvers: []string{"bcd"}, Penalty: "0.01", Correlation: "none"},
			} {
				j.Input, j.Engine, j.IterationLimit = input, engine, 3
				what := fmt.Sprintf("%-6s d = %4d  %-5s %-4s", engine, d, j.Solvers[0], j.Penalty)
				m := compare(t, what, j, d, idle.Peak)
				switch {
				case j.Solvers[0] != "admm":
					m.used(t, what)
				case j.ADMMLambda == 0:
					spared = m.took
				default:
					m.took = max(m.took, spared)
					m.used(t, what)
				}
			}
		}
	}
}

// A need is what a job has reserved and what it took, beyond what the process takes
// without a job.
type need struct{ reserved, took, idle int64 }

// used asks that more than half of what is reserved for matrices is used. Part of what
// the idle process takes is free again for a job's matrices, so that it asks only where
// they take at least half as much as that.
func (n need) used(t *testing.T, what string) {
	t.Helper()
	if matrices := n.reserved - ownBytes; matrices > n.idle/2 && matrices > 2*n.took {
		t.Errorf("%s: %d MiB are reserved, of which %d MiB are used", what, n.reserved>>20, n.took>>20)
	}
}

// compare measures a job twice, the second time with Go's heap held to what the first
// has reserved. idle is what the process takes without a job.
func compare(t *testing.T, what string, j job.Job, d int, idle int64) need {
	t.Helper()
	free := measured(t, j, 0)
	bound := measured(t, j, free.Reserved)
	took := bound.Peak - idle
	t.Logf("%s  reserved %5d MiB, took %5d MiB (%5d MiB without a limit); in matrices %4.1f of %4.1f", what,
		free.Reserved>>20, took>>20, (free.Peak-idle)>>20, float64(took)/float64(matrix(d)), float64(free.Reserved-ownBytes)/float64(matrix(d)))
	if took > free.Reserved {
		t.Errorf("%s: %d MiB are reserved, and the run took %d MiB", what, free.Reserved>>20, took>>20)
	}
	return need{reserved: free.Reserved, took: took, idle: idle}
}

// The same of tables of so many variables that S is not formed. The table of
// docs/operations.md is the log with GLADFLOW_LONG=1 and -v.
func TestMemoryOfWide(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	d, samples, penalties := wideVariables, 60, []job.Value{"0.7"}
	if os.Getenv("GLADFLOW_LONG") != "" && os.Getenv("GLADFLOW_CI") == "" {
		d, samples, penalties = 50_000, 300, []job.Value{"0.4", "0.305"}
	}
	// Chains of 5 to 400 variables, neighbours in which are correlated by .5 to .9.
	rng := rand.New(rand.NewPCG(17, 17))
	weights := make([]float64, d)
	for j, left := 0, 0; j < d; j, left = j+1, left-1 {
		if left == 0 {
			left = 5 + rng.IntN(396)
			continue
		}
		weights[j] = 0.5 + 0.4*rng.Float64()
	}
	input := chained(t, d, samples, func(j int) (follows, own float64) {
		return weights[j], math.Sqrt(1 - weights[j]*weights[j])
	})
	idle := measured(t, job.Job{Input: connected(t, 10, 50), Solvers: []string{"bcd"}, Penalty: "0.3"}, 0)
	for _, penalty := range penalties {
		m := measured(t, job.Job{Input: input, Solvers: []string{"bcd"}, Penalty: penalty, Out: t.TempDir()}, 0)
		bound := measured(t, m.Job, m.Reserved)
		took := bound.Peak - idle.Peak
		t.Logf("%d variables, penalty %s: reserved %d MiB, took %d MiB (%d MiB without a limit, with the program %d MiB), %.1f s of CPU time",
			d, penalty, m.Reserved>>20, took>>20, (m.Peak-idle.Peak)>>20, m.Peak>>20, m.CPU.Seconds())
		if all := matrix(d) + bcdEntry().memory(solverConfig{job: job.Job{InputKind: job.KindSamples}}, d); took > m.Reserved || m.Reserved > all/2 {
			t.Errorf("penalty %s: %d MiB are reserved, the run took %d MiB, and with all of S it would be %d MiB", penalty, m.Reserved>>20, took>>20, all>>20)
		}
	}
}

// compareUsed is compare, with need.used.
func compareUsed(t *testing.T, what string, j job.Job, d int, idle int64) {
	t.Helper()
	compare(t, what, j, d, idle).used(t, what)
}

// The same of what is read, written and scored.
func TestMemoryOfTablesMeasured(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	if os.Getenv("GLADFLOW_LONG") == "" {
		t.Skip("takes long; set GLADFLOW_LONG=1 to run it")
	}
	const d = 1000
	idle := measured(t, job.Job{Input: connected(t, 10, 50), Solvers: []string{"bcd"}, Penalty: "0.3"}, 0)
	input, out := connected(t, d, 200), t.TempDir()
	reference := filepath.Join(out, "reference.csv")
	if err := os.WriteFile(reference, []byte("gene0,gene1\ngene1,gene2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for what, j := range map[string]job.Job{
		"all edges, parquet":   {Edges: "all", Format: "parquet"},
		"all edges, arrow":     {Edges: "all", Format: "arrow"},
		"all edges, csv":       {Edges: "all", Format: "csv"},
		"dense, parquet":       {Precision: job.PrecisionDense, Format: "parquet", Units: job.UnitsOriginal},
		"scored, all pairs":    {Reference: reference, Population: "all"},
		"many samples, ranked": {Correlation: "spearman"},
	} {
		j.Solvers, j.Penalty, j.Input, j.Out = []string{"bcd"}, "0.3", input, out
		if j.Correlation != "" {
			j.Input = connected(t, d, 10_000)
		}
		compareUsed(t, fmt.Sprintf("%-20s", what), j, d, idle.Peak)
	}
}

// The same of rankings, and of what is done where regulators are known.
func TestMemoryOfRankings(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the peak of a process is read from /proc")
	}
	if os.Getenv("GLADFLOW_LONG") == "" {
		t.Skip("takes long; set GLADFLOW_LONG=1 to run it")
	}
	const d = 1000
	input, out := connected(t, d, 1000), t.TempDir()
	var names strings.Builder
	for i := range d / 5 {
		fmt.Fprintf(&names, "gene%d\n", 5*i)
	}
	list := filepath.Join(out, "regulators.txt")
	if err := os.WriteFile(list, []byte(names.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	idle := measured(t, job.Job{Input: connected(t, 10, 50), Solvers: []string{"bcd", "glad"}, Penalty: "0.3"}, 0)
	for _, name := range slices.DeleteFunc(SelfSufficient(), func(name string) bool { return !find(name).Ranking }) {
		compareUsed(t, name, job.Job{Input: input, Solvers: []string{name}}, d, idle.Peak)
	}
	for _, name := range []string{"ridge", "glad", "bcd", "spectral"} {
		compareUsed(t, name+" with regulators", job.Job{Input: input, Solvers: []string{name}, Penalty: "0.1", Regulators: list}, d, idle.Peak)
	}
	compareUsed(t, "all pairs written", job.Job{Input: input, Solvers: []string{"correlation"}, Edges: "all", Out: out}, d, idle.Peak)
	compareUsed(t, "all edges of regulators written", job.Job{Input: input, Solvers: []string{"glad"}, Regulators: list, Edges: "all", Out: out}, d, idle.Peak)
}
