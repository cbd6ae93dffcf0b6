package recovery

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// screened runs a job and says whether it was done without all of S.
func screened(t *testing.T, j job.Job, h Host) (*job.Result, bool) {
	t.Helper()
	wide := false
	h.Progress = func(u progress.Update) { wide = wide || u.Stage == progress.Screening && u.Done }
	result, err := Run(t.Context(), j, h)
	if err != nil {
		t.Fatal(err)
	}
	return result, wide
}

// Without all of S a run has the same result, down to its files.
func TestWide(t *testing.T) {
	const d, m = 60, 40
	samples := testtable.CSV(t, d, m)
	constant := withColumn(t, samples, "always", "7")
	reference := testtable.File(t, "known.tsv", testtable.Star)
	for name, j := range map[string]job.Job{
		"correlation":       {},
		"ties and ranks":    {Correlation: "spearman"},
		"normal scores":     {Correlation: "normal-scores", PenaliseDiagonal: true},
		"covariance":        {Correlation: "none", Penalty: "40"},
		"shrunk":            {Shrinkage: "0.2", Divisor: "m-1"},
		"original units":    {Units: job.UnitsOriginal},
		"constant":          {Input: constant, Constant: job.ConstantDrop},
		"reference":         {Reference: reference, Population: "labelled"},
		"all pairs":         {Reference: reference, Population: "all", Undirected: true},
		"text":              {Format: "csv"},
		"no edge":           {Penalty: "0.99"},
		"adjusted":          {Adjust: []string{"v0", "v1"}},
		"one big component": {Penalty: "0.05"},
	} {
		if j.Input == "" {
			j.Input = samples
		}
		if j.Penalty == "" {
			j.Penalty = "0.35"
		}
		j.IDColumn, j.Solvers, j.Gap = "id", []string{"bcd"}, 1e-10
		out := func(h Host, wide bool) (*job.Result, *arrowio.EdgeList, map[[2]string]float64) {
			j.Out = t.TempDir()
			result, was := screened(t, j, h)
			if was != wide {
				t.Fatalf("%s: done without all of S: %v, want %v", name, was, wide)
			}
			format := cmp.Or(j.Format, "parquet")
			edges, err := arrowio.ReadEdges(t.Context(), filepath.Join(j.Out, "bcd.edges."+format), arrowio.ListOptions{})
			if err != nil {
				t.Fatal(name, err)
			}
			names, square, _, err := arrowio.ReadSquare(t.Context(), filepath.Join(j.Out, "bcd.precision."+format), arrowio.SampleOptions{})
			if err != nil {
				t.Fatal(name, err)
			}
			entries := make(map[[2]string]float64)
			for k, v := range square {
				entries[[2]string{names[k/len(names)], names[k%len(names)]}] = v
			}
			return result, edges, entries
		}
		want, wantEdges, wantEntries := out(Host{}, false)
		got, gotEdges, gotEntries := out(Host{wideFrom: d - 2}, true)
		near := func(a, b job.Float) bool { return math.Abs(float64(a-b)) <= 1e-8*math.Max(1, math.Abs(float64(b))) }
		a, b := got.Solvers[0], want.Solvers[0]
		if a.Status != b.Status || a.Edges != b.Edges || !near(a.Objective, b.Objective) || !near(a.DualityGap, b.DualityGap) || a.RelativeGap > 1e-10 || !near(a.KKTResidual, b.KKTResidual) {
			t.Errorf("%s: %+v, want %+v", name, a, b)
		}
		if !reflect.DeepEqual(a.Metrics, b.Metrics) || !reflect.DeepEqual(got.Warnings, want.Warnings) || got.Input.Variables != want.Input.Variables {
			t.Errorf("%s: %v and %v, want %v and %v", name, a.Metrics, got.Warnings, b.Metrics, want.Warnings)
		}
		if a.Network.Components != b.Network.Components || a.Network.Isolated != b.Network.Isolated || a.Network.Largest != b.Network.Largest {
			t.Errorf("%s: %+v, want %+v", name, a.Network, b.Network)
		}
		if !reflect.DeepEqual(gotEdges.Source, wantEdges.Source) || !reflect.DeepEqual(gotEdges.Target, wantEdges.Target) || len(gotEntries) != len(wantEntries) {
			t.Errorf("%s: another list of edges", name)
		}
		for pair, v := range wantEntries {
			if math.Abs(gotEntries[pair]-v) > 1e-5*math.Max(1, math.Abs(v)) {
				t.Errorf("%s: Θ of %v is %v, want %v", name, pair, gotEntries[pair], v)
			}
		}
	}
}

// withColumn is a table with one more column, of one value.
func withColumn(t *testing.T, path, name, value string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := range lines {
		if lines[i] += "," + value; i == 0 {
			lines[i] = strings.TrimSuffix(lines[i], value) + name
		}
	}
	return testtable.File(t, "more.csv", strings.Join(lines, "\n")+"\n")
}

// A number of edges is found without all of S too.
func TestWideEdges(t *testing.T) {
	const d = 60
	j := job.Job{Input: testtable.CSV(t, d, 40), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: "edges:31"}
	want, _ := screened(t, j, Host{})
	got, wide := screened(t, j, Host{wideFrom: d})
	q := got.Penalty
	if !wide || got.Solvers[0].Edges != 31 || want.Solvers[0].Edges != 31 || q.From != "edges" || len(q.Path) == 0 || q.How != want.Penalty.How {
		t.Errorf("%d edges at %+v, with all of S %d at %+v", got.Solvers[0].Edges, q, want.Solvers[0].Edges, want.Penalty)
	}
	if got.Solvers[0].Penalty != q.Rho {
		t.Errorf("the penalty is %v, and %v was chosen", got.Solvers[0].Penalty, q.Rho)
	}
	j.Penalty = "edges:1771"
	if _, err := Run(t.Context(), j, Host{wideFrom: d}); err == nil || !strings.Contains(err.Error(), "60 variables have 1770 pairs") {
		t.Error(err)
	}
}

// What takes all of S, and samples that are many, are done as ever.
func TestNotWide(t *testing.T) {
	const d = 10
	few, many := testtable.CSV(t, d, 8), testtable.CSV(t, d, 30)
	for name, j := range map[string]job.Job{
		"rule":        {Penalty: ebic},
		"solver":      {Solvers: []string{"bcd", "gista"}},
		"all pairs":   {Edges: "all"},
		"dense":       {Precision: job.PrecisionDense, Out: t.TempDir()},
		"ledoit-wolf": {Shrinkage: job.ShrinkageLedoitWolf},
		"samples":     {Input: many},
		"tests":       {PValues: job.PValuesLasso},
	} {
		if j.Input == "" {
			j.Input = few
		}
		if j.Penalty == "" {
			j.Penalty = "0.5"
		}
		if j.Solvers == nil {
			j.Solvers = []string{"bcd"}
		}
		j.IDColumn = "id"
		if _, wide := screened(t, j, Host{wideFrom: d}); wide {
			t.Errorf("%s: done without all of S", name)
		}
	}
	if _, wide := screened(t, job.Job{Input: few, IDColumn: "id", Solvers: []string{"bcd"}, Penalty: "0.5"}, Host{wideFrom: d + 1}); wide {
		t.Error("of few variables all of S is formed")
	}
}

// Memory is asked for what is connected, and a refusal names a penalty that fits.
func TestWideMemory(t *testing.T) {
	const d = 700
	input := connected(t, d, 50)
	j := job.Job{Input: input, Solvers: []string{"bcd"}, Penalty: "0.5", Out: t.TempDir(), Report: "none"}
	h := Host{wideFrom: d, smallComponent: 40}
	whole := reserved(t, j, Host{})
	small := reserved(t, j, h)
	if small >= whole-2*matrix(d) {
		t.Errorf("%d bytes are reserved, and %d for all of S", small, whole)
	}
	limit := memory.Process + small
	j.Penalty = "0.1" // connects all
	room := refused(t, j, h, limit)
	if !strings.Contains(room.Error(), "give a larger penalty, such as 0.") || !strings.Contains(room.What, "component of 700") {
		t.Error(room)
	}
	j.Penalty = refit
	room = refused(t, j, h, limit)
	if !strings.Contains(room.Error(), "give the penalty as a number") {
		t.Error(room)
	}
	_, number, _ := strings.Cut(room.Advice, "such as ")
	number, _, _ = strings.Cut(number, ",")
	if j.Penalty = job.Value(number); reserved(t, j, h) > small {
		t.Errorf("the penalty %s that was advised takes more", number)
	}
	j.Solvers = []string{"glad"}
	if room = refused(t, j, h, limit); !strings.Contains(room.Error(), "the solver bcd with a penalty that is a number") {
		t.Error(room)
	}
}

// A run is cancelled while pairs are screened, and while parts are solved.
func TestWideEnds(t *testing.T) {
	j := job.Job{Input: connected(t, 1500, 60), Solvers: []string{"bcd"}, Penalty: "0.05", Gap: 1e-12}
	for _, stage := range []progress.Stage{progress.Screening, progress.Solving} {
		ctx, cancel := context.WithCancel(t.Context())
		var ended time.Time
		_, err := Run(ctx, j, Host{wideFrom: 1500, Progress: func(u progress.Update) {
			if u.Stage == stage && ended.IsZero() {
				ended = time.Now()
				cancel()
			}
		}})
		if took := time.Since(ended); !errors.Is(err, context.Canceled) || took > 2*time.Second {
			t.Errorf("%s: %v, %v after the end", stage, err, took)
		}
		cancel()
	}
	j.TimeLimit = job.Duration(20 * time.Millisecond)
	result, wide := screened(t, j, Host{wideFrom: 1500})
	s := result.Solvers[0]
	if !wide || !s.TimeLimitReached || !s.DualityGap.IsFinite() || s.DualityGap < 0 {
		t.Errorf("%v: %+v", wide, s)
	}
}

// A run that needs much memory says so.
func TestMuchMemory(t *testing.T) {
	var told []string
	r := newRun(job.Job{}, Host{Progress: func(u progress.Update) {
		if u.Done {
			told = append(told, string(u.Stage)+": "+u.Detail)
		}
	}})
	r.memory.what = "solver admm on 9000 variables"
	for _, peak := range []int64{muchMemory / 2, 3 << 30} {
		r.memory.peak = peak - ownBytes
		if err := r.told(nil); err != nil {
			t.Fatal(err)
		}
	}
	if none := new(memory.Error); r.told(none) != none || !reflect.DeepEqual(told, []string{"memory: up to 3 GiB, for solver admm on 9000 variables"}) {
		t.Error(told)
	}
}
