package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestRunWritesEverything(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "b") // made on the way
	j := job.Job{
		Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: SelfSufficient(), Penalty: "0.2",
		Reference: testtable.File(t, "known.tsv", testtable.Star), Out: out,
	}
	result, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"metrics.parquet", "report.html", "run.json"}
	for _, s := range result.Solvers {
		for _, f := range s.Files {
			want = append(want, f.Name)
		}
		entry, wantStatus := find(s.Name), "completed"
		if entry.Certified {
			wantStatus = "converged"
		}
		if s.Status != wantStatus || s.Metrics == nil || s.Error != "" || s.Note != "" || s.TimeLimitReached {
			t.Errorf("%s: %+v", s.Name, s)
		}
		if entry.takesPenalty && s.Penalty != 0.2 {
			t.Errorf("%s: penalty %v", s.Name, s.Penalty)
		}
		if entry.Certified && (s.RelativeGap > 1e-6 || !(s.DualityGap >= 0)) {
			t.Errorf("%s: gap %v (relative %v)", s.Name, s.DualityGap, s.RelativeGap)
		}
	}
	slices.Sort(want)
	if got := testtable.List(t, out); len(want) != 3+2*5+6 || !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}

	data, err := os.ReadFile(filepath.Join(out, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back job.Result
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Partial || back.Version != job.Version() || back.Input.Samples != 60 || back.Input.Variables != 8 ||
		len(back.Input.SHA256) != 64 || len(back.Solvers) != len(SelfSufficient()) || back.Reference.Pairs != 4 || back.Engine == "" {
		t.Errorf("run.json: %s", data)
	}
	if !math.IsNaN(float64(back.Solvers[0].Objective)) || !bytes.Contains(data, []byte(`"objective": null`)) {
		t.Error("GLAD has no objective: run.json must say null")
	}
	if !reflect.DeepEqual(back.Job, Resolved(j)) {
		t.Errorf("run.json holds the job %+v", back.Job)
	}
}

// withoutSeconds are the times in a page.
var withoutSeconds = regexp.MustCompile(`<li>[0-9.]+ s</li>|<td class="n[^>]*>[0-9.]+</td></tr>`)

// The same job gives the same bytes in every table, and the same page but for the seconds.
func TestRunRepeats(t *testing.T) {
	out := t.TempDir()
	j := job.Job{Input: testtable.CSV(t, 8, 60), IDColumn: "id", Solvers: SelfSufficient(), Out: out}
	read := func() map[string]string {
		if _, err := Run(context.Background(), j, Host{}); err != nil {
			t.Fatal(err)
		}
		all := make(map[string]string)
		for _, name := range testtable.List(t, out) {
			data, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			switch name {
			case "run.json": // it holds seconds
			case "report.html":
				all[name] = withoutSeconds.ReplaceAllString(string(data), "")
			default:
				all[name] = string(data)
			}
		}
		return all
	}
	first := read()
	for name, data := range read() {
		if first[name] != data {
			t.Errorf("%s differs", name)
		}
	}
}

// readBack returns a matrix that a run wrote, and its metadata.
func readBack(t *testing.T, path string) *dense.Sym {
	t.Helper()
	names, values, _, err := arrowio.ReadSquare(context.Background(), path, arrowio.SampleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return dense.NewSym(len(names), values)
}

// Without a penalty the graphical lasso is the inverse of the covariance,
// whichever way the run takes to it.
func TestUnitsAndKindsAgreeWithTheInverse(t *testing.T) {
	const d, m = 6, 80
	path := testtable.CSV(t, d, m)
	s := testtable.Covariance(t, path)
	inverse := dense.NewSym(d, nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(inverse, s); !ok {
		t.Fatal("the covariance is singular")
	}
	folder := t.TempDir()
	var names []string
	for j := range d {
		names = append(names, "v"+string(rune('0'+j)))
	}
	square := filepath.Join(folder, "covariance.parquet")
	if err := arrowio.WriteDensePrecision(square, arrowio.Parquet, names, s, nil); err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]job.Job{
		"covariance of samples":        {Input: path, IDColumn: "id", Correlation: "none"},
		"correlation, original units":  {Input: path, IDColumn: "id", Units: job.UnitsOriginal},
		"covariance":                   {Input: square, InputKind: job.KindCovariance, Samples: m, Correlation: "none"},
		"its correlation, mapped back": {Input: square, InputKind: job.KindCovariance, Samples: m, Units: job.UnitsOriginal},
	} {
		for _, precision := range []string{job.PrecisionSparse, job.PrecisionDense} {
			for _, format := range []string{"parquet", "arrow", "csv"} {
				j.Penalty, j.Solvers, j.Gap = "0", []string{"bcd"}, 1e-12
				j.Precision, j.Format, j.Out = precision, format, t.TempDir()
				if _, err := Run(context.Background(), j, Host{}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				got := readBack(t, filepath.Join(j.Out, "bcd.precision."+format))
				for i := range d {
					for j := range d {
						// The gap bounds the squared relative error of Θ.
						scale := math.Sqrt(inverse.At(i, i) * inverse.At(j, j))
						if diff := math.Abs(got.At(i, j) - inverse.At(i, j)); diff > 1e-5*scale {
							t.Errorf("%s, %s %s: entry (%d,%d) is %v, want %v", name, precision, format, i, j, got.At(i, j), inverse.At(i, j))
						}
					}
				}
			}
		}
	}
}

func TestPenaltyAboveEveryCorrelationLeavesNoEdge(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 6, 50), IDColumn: "id", Penalty: "1", Solvers: []string{"bcd", "gista", "admm"}, Out: t.TempDir()}
	result, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range result.Solvers {
		// Θ = I, so the objective is tr(R) = d.
		if s.Edges != 0 || math.Abs(float64(s.Objective)-6) > 1e-5 {
			t.Errorf("%s: %d edges, objective %v", s.Name, s.Edges, s.Objective)
		}
	}
}

func TestEdgeLists(t *testing.T) {
	const d = 8
	path := testtable.CSV(t, d, 40)
	for _, c := range []struct {
		edges string
		want  func(support int) int
	}{
		{"", func(n int) int { return n }},
		{job.EdgesAll, func(int) int { return d * (d - 1) / 2 }},
		{"top:3", func(int) int { return 3 }},
		{"top:1000", func(int) int { return d * (d - 1) / 2 }},
	} {
		j := job.Job{Input: path, IDColumn: "id", Solvers: []string{"glad"}, Edges: c.edges, Out: t.TempDir(), Labels: map[string]string{"request": "4711"}}
		result, err := Run(context.Background(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		edges, err := arrowio.ReadEdges(context.Background(), filepath.Join(j.Out, "glad.edges.parquet"), arrowio.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.want(result.Solvers[0].Edges); edges.Len() != want {
			t.Errorf("edges %q: %d lines, want %d", c.edges, edges.Len(), want)
		}
		if !slices.IsSortedFunc(edges.Score, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			t.Errorf("edges %q: not in descending order: %v", c.edges, edges.Score)
		}
		for key, want := range map[string]string{
			"gladflow.version": job.Version(), "gladflow.solver": "glad", "gladflow.status": "completed", "gladflow.directed": "false",
			"gladflow.samples": "40", "gladflow.input_sha256": result.Input.SHA256, "gladflow.units": "standardised",
			"gladflow.labels": `{"request":"4711"}`,
		} {
			if got := edges.Metadata[key]; got != want {
				t.Errorf("metadata %s is %q, want %q", key, got, want)
			}
		}
		var job2 job.Job
		if err := json.Unmarshal([]byte(edges.Metadata["gladflow.job"]), &job2); err != nil || !reflect.DeepEqual(job2, Resolved(j)) {
			t.Errorf("metadata gladflow.job: %v, %+v", err, job2)
		}
		var sds []float64
		if err := json.Unmarshal([]byte(edges.Metadata[output.MetaDeviations]), &sds); err != nil || len(sds) != d {
			t.Errorf("metadata %s: %v, %v", output.MetaDeviations, err, sds)
		}
	}
}

func TestEBICIsChosenOnceForAll(t *testing.T) {
	j := job.Job{Input: testtable.CSV(t, 10, 100), IDColumn: "id", Solvers: []string{"bcd", "gista", "glad"}, Penalty: ebic}
	result, err := Run(context.Background(), j, Host{})
	if err != nil {
		t.Fatal(err)
	}
	p := result.Penalty
	if p == nil || p.From != ebic || len(p.Path) < 4 || p.Criterion != ebic {
		t.Fatalf("penalty: %+v", p)
	}
	least := slices.MinFunc(p.Path, func(a, b job.PathPoint) int { return int(math.Copysign(1, float64(a.EBIC-b.EBIC))) })
	if !least.Chosen || least.Penalty != p.Rho || result.Solvers[0].Penalty != p.Rho || result.Solvers[1].Penalty != p.Rho {
		t.Errorf("least %+v, chosen %v", least, p.Rho)
	}
	if !math.IsNaN(float64(result.Solvers[2].Penalty)) {
		t.Error("GLAD takes no penalty")
	}
	j.Solvers = []string{"glad"}
	if result, err = Run(context.Background(), j, Host{}); err != nil || result.Penalty != nil {
		t.Errorf("GLAD alone needs no penalty: %+v, %v", result.Penalty, err)
	}
}

// A penalty matrix of equal entries is that number, in whatever order its
// variables stand.
func TestPenaltyMatrix(t *testing.T) {
	path := testtable.CSV(t, 4, 40)
	matrix := func(order string, rho string) string {
		text := order + "\n"
		for range 4 {
			text += strings.TrimSuffix(strings.Repeat(rho+",", 4), ",") + "\n"
		}
		return testtable.File(t, "penalties.csv", text)
	}
	run := func(j job.Job) (*job.Result, error) {
		j.Input, j.IDColumn, j.Solvers = path, "id", []string{"bcd"}
		return Run(context.Background(), j, Host{})
	}
	a, err := run(job.Job{PenaltyMatrix: matrix("v3,v1,v0,v2", "0.2")})
	if err != nil {
		t.Fatal(err)
	}
	b, err := run(job.Job{Penalty: "0.2"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := math.Abs(float64(a.Solvers[0].Objective - b.Solvers[0].Objective)); diff > 2e-6*4 {
		t.Errorf("objectives %v and %v", a.Solvers[0].Objective, b.Solvers[0].Objective)
	}
	if a.Penalty.From != "matrix" || len(a.Penalty.MatrixSHA256) != 64 || !math.IsNaN(float64(a.Solvers[0].Penalty)) {
		t.Errorf("penalty %+v", a.Penalty)
	}
	for text, reason := range map[string]string{
		matrix("v3,v1,v0,v9", "0.2"):  `no row for the variable "v2"`,
		matrix("v3,v1,v0,v2", "-0.2"): "zero or more",
		matrix("v3,v1,v0", "0.2"):     "",
	} {
		_, err := run(job.Job{PenaltyMatrix: text})
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != "penalty_matrix" || !strings.Contains(wrong.Reason, reason) {
			t.Errorf("error %v, want %q", err, reason)
		}
	}
	// A permuted matrix of unequal entries must follow the names: a pair with
	// a prohibitive penalty is no edge.
	huge := "v3,v1,v0,v2\n0,0,0,0\n0,0,9,0\n0,9,0,0\n0,0,0,0\n"
	out := t.TempDir()
	if _, err := run(job.Job{PenaltyMatrix: testtable.File(t, "p.csv", huge), Out: out}); err != nil {
		t.Fatal(err)
	}
	theta := readBack(t, filepath.Join(out, "bcd.precision.parquet"))
	for i := range 4 {
		for j := range i {
			if zero := i == 1 && j == 0; (theta.At(i, j) == 0) != zero {
				t.Errorf("entry (%d,%d) is %v", i, j, theta.At(i, j))
			}
		}
	}
}

func TestStandardInput(t *testing.T) {
	data, err := os.ReadFile(testtable.CSV(t, 4, 30))
	if err != nil {
		t.Fatal(err)
	}
	j := job.Job{Input: "-", InputFormat: "csv", IDColumn: "id", Solvers: []string{"glad"}}
	result, err := Run(context.Background(), j, Host{Files: table.Files{Stdin: bytes.NewReader(data)}})
	if err != nil || result.Input.Samples != 30 {
		t.Errorf("%+v, %v", result, err)
	}
}

// What the user can put right is found before a solver starts.
func TestErrorsComeBeforeComputing(t *testing.T) {
	good := job.Job{Input: testtable.CSV(t, 6, 40), IDColumn: "id"}
	covarianceFile := testtable.File(t, "s.csv", "a,b\n2,0.5\n0.5,2\n")
	notDefinite := testtable.File(t, "n.csv", "a,b\n1,2\n2,1\n")
	aFile := testtable.File(t, "file", "")
	unmade := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		field, text string
		job         job.Job
	}{
		{"input", "no such file", job.Job{Input: "missing.csv"}},
		{"input", "folder", job.Job{Input: t.TempDir()}},
		{"input", "pass id_column id, otherwise", with(good, func(j *job.Job) { j.IDColumn = "" })},
		{"input", "constant", job.Job{Input: testtable.File(t, "c.csv", "a,b\n1,2\n1,3\n1,4\n")}},
		{"input", "two are the least", job.Job{Input: testtable.File(t, "c.csv", "a,b\n1,2\n")}},
		{"input", "line 3", job.Job{Input: testtable.File(t, "c.csv", "a,b\n1,2\n3\n")}},
		{"input", "correlation", job.Job{Input: notDefinite, InputKind: job.KindCovariance, Samples: 9}},
		{"input_kind", "call the input a covariance", job.Job{Input: covarianceFile, InputKind: job.KindCorrelation, Samples: 9}},
		{"model", "neither a built-in model", with(good, func(j *job.Job) { j.Model = "no-such-model" })},
		{"model", "model file", with(good, func(j *job.Job) { j.Model = aFile })},
		{"reference", "no such file", with(good, func(j *job.Job) { j.Reference = "missing.tsv" })},
		{"reference", "names no pair", with(good, func(j *job.Job) { j.Reference = testtable.File(t, "r.tsv", "x\ty\t1\nx\tz\t0\n") })},
		{"reference", "edges only", with(good, func(j *job.Job) { j.Reference = testtable.File(t, "r.tsv", "v0\tv1\nv0\tv2\n") })},
		{"penalty_matrix", "no such file", with(good, func(j *job.Job) { j.PenaltyMatrix = "missing.csv" })},
		{"input", "constant", job.Job{Input: testtable.File(t, "c.csv", "a,b\n1,2\n1,3\n1,4\n"), Out: unmade}},
		{"out", "cannot be made", with(good, func(j *job.Job) { j.Out = filepath.Join(aFile, "out") })},
	} {
		host := Host{Progress: func(p progress.Update) {
			if p.Stage != progress.Reading && p.Stage != progress.Opening {
				t.Errorf("%s: %s has begun", c.text, p.Stage)
			}
		}}
		result, err := Run(context.Background(), c.job, host)
		var wrong *job.Error
		if result != nil || !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v:\nresult %v, error %v; want %q of field %s", c.job, result, err, c.text, c.field)
		}
	}
	if _, err := os.Stat(unmade); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder is left for nothing: %v", err)
	}
}

func TestProgress(t *testing.T) {
	var seen []progress.Update
	j := job.Job{Input: testtable.CSV(t, 20, 40), IDColumn: "id", Penalty: "0.05"}
	if _, err := Run(context.Background(), j, Host{Progress: func(p progress.Update) { seen = append(seen, p) }}); err != nil {
		t.Fatal(err)
	}
	var stages []string
	last := progress.Update{}
	for _, p := range seen {
		if p.Done && p.Stage != progress.Opening { // which builds with GPU code have
			stages = append(stages, string(p.Stage)+" "+p.Solver)
			if p.Elapsed <= 0 || p.Elapsed > time.Minute || p.Detail == "" {
				t.Errorf("%+v", p)
			}
		}
		if p.Fraction < 0 || p.Fraction > 1 || p.Stage == last.Stage && p.Solver == last.Solver && p.Fraction < last.Fraction {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	if want := []string{"reading ", "solving glad", "solving bcd"}; !slices.Equal(stages, want) {
		t.Errorf("stages %q, want %q", stages, want)
	}
}

func BenchmarkRun(b *testing.B) {
	path := testtable.CSV(b, 60, 300)
	for _, solvers := range [][]string{{"glad"}, {"bcd"}} {
		b.Run(solvers[0], func(b *testing.B) {
			j := job.Job{Input: path, IDColumn: "id", Solvers: solvers, Penalty: "0.2", Out: b.TempDir()}
			for b.Loop() {
				if _, err := Run(context.Background(), j, Host{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
