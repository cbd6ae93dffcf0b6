package experiment

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// quick runs one experiment in its quick form and checks the shape of its report.
func quick(t *testing.T, e Experiment) *Report {
	t.Helper()
	r := &Run{Quick: true, Seed: uint64(Options{}.Resolved().Seed), memory: map[string]any{}}
	if e.Reads == "challenge" {
		r.Challenge = challengeFolder(t)
	}
	rep, err := e.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, c := range rep.Columns {
		n := reflect.ValueOf(c.Values).Len()
		if i == 0 {
			rows = n
		}
		if n != rows || n == 0 {
			t.Errorf("column %q has %d values, %q has %d", c.Name, n, rep.Columns[0].Name, rows)
		}
	}
	if rep.Setting == "" || rep.Paragraph == "" || len(rep.Main) < 2 {
		t.Errorf("the report is not whole: %+v", rep)
	}
	for _, row := range rep.Main {
		if len(row) != len(rep.Main[0]) {
			t.Errorf("row %v has %d cells, the titles are %d", row, len(row), len(rep.Main[0]))
		}
	}
	for _, text := range append(slices.Concat(rep.Main...), rep.Paragraph) {
		if strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
			t.Errorf("the report says %q", text)
		}
	}
	path := filepath.Join(t.TempDir(), e.Name)
	if err := rep.Figure.Write(path); err != nil {
		t.Error(err)
	}
	return rep
}

func column[T any](t *testing.T, r *Report, name string) []T {
	t.Helper()
	for _, c := range r.Columns {
		if c.Name == name {
			return c.Values.([]T)
		}
	}
	t.Fatalf("there is no column %q", name)
	return nil
}

func TestADMMGridReproducesTable1(t *testing.T) {
	rep := quick(t, admmGrid())
	ours, paper := column[float64](t, rep, "nmse_db"), column[float64](t, rep, "paper_db")
	var squares, n float64
	for i, v := range ours {
		if math.IsNaN(paper[i]) { // converged: not in the paper's table
			continue
		}
		squares += (v - paper[i]) * (v - paper[i])
		n++
	}
	// Four graphs have standard errors of 0.15 dB; the bar is the project's.
	if rmse := math.Sqrt(squares / n); n != 25 || rmse > 0.6 {
		t.Errorf("rmse %.2f dB over %v cells, want at most 0.6 over 25", rmse, n)
	}
}

func TestObjectiveFallsWhileNMSEDoesNot(t *testing.T) {
	rep := quick(t, admmObjective())
	rho, excess, figure := column[float64](t, rep, "rho"), column[float64](t, rep, "objective_excess"), column[float64](t, rep, "nmse_db")
	var rise float64
	for i := range rho {
		if i == 0 || rho[i] != rho[i-1] {
			continue
		}
		if rho[i] == 0.1 && excess[i] < excess[i-1] {
			rise = math.Max(rise, figure[i]-figure[i-1])
		}
	}
	if rise <= 0 {
		t.Error("the NMSE never rises where the objective falls, at ρ = 0.1")
	}
}

// The quickest of those that no other test runs whole.
func TestReportsAreWhole(t *testing.T) {
	for _, e := range []Experiment{runtimes(), unrolledADMM()} {
		t.Run(e.Name, func(t *testing.T) { quick(t, e) })
	}
}

func TestADMMuStartsFromTheSameWeights(t *testing.T) {
	preset, err := train.NewPreset(train.Literal, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := preset.Starts[0]
	u := m.Clone()
	asADMMu(u)
	if err := u.Validate(); err != nil {
		t.Fatal(err)
	}
	if u.Kind != glad.ADMMu || u.Parameters() != m.Parameters()+3 {
		t.Errorf("%s with %d parameters, GLAD has %d", u.Kind, u.Parameters(), m.Parameters())
	}
	for i, row := range m.Rho.Layers[0].Weights {
		if len(row) != 3 || !slices.Equal(u.Rho.Layers[0].Weights[i], append(slices.Clone(row), 0)) {
			t.Errorf("unit %d starts from %v, GLAD's from %v", i, u.Rho.Layers[0].Weights[i], row)
		}
	}
}

func TestUnroll(t *testing.T) {
	for _, architecture := range []string{train.Literal, train.UntiedPosteriorMean} {
		for _, cells := range []int{1, 3, 7} {
			preset, err := train.NewPreset(architecture, 1)
			if err != nil {
				t.Fatal(err)
			}
			m := preset.Starts[0]
			unroll(m, cells)
			if err := m.Validate(); err != nil || m.Iterations != cells {
				t.Errorf("%s: %d cells, want %d (%v)", architecture, m.Iterations, cells, err)
			}
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	r := &Run{Seed: 1}
	seen := map[uint64]string{}
	for _, purpose := range []string{forTraining, forValidation, forTest} {
		for _, setting := range []string{"a", "b"} {
			v := r.seed(purpose, setting)
			if before, ok := seen[v]; ok {
				t.Errorf("%s %s has the stream of %s", purpose, setting, before)
			}
			seen[v] = purpose + " " + setting
			if v != r.seed(purpose, setting) {
				t.Error("the same stream begins differently")
			}
		}
	}
	if r.seed(forTest, "a") == (&Run{Seed: 2}).seed(forTest, "a") {
		t.Error("two seeds give one stream")
	}
}

func TestGraphsDoNotDependOnTheSamples(t *testing.T) {
	r := &Run{Seed: 3}
	var all [][]solver.Example
	for _, m := range []int{10, 20} {
		cases, err := r.cases(t.Context(), forTest, erdosRenyi(8), 3, m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases)
	}
	copied, err := r.copies(t.Context(), forTest, erdosRenyi(8), 3, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all[0] {
		a, b, c := all[0][i], all[1][i], copied[i]
		if !slices.Equal(a.Truth.Raw(), b.Truth.Raw()) || !slices.Equal(a.Truth.Raw(), c.Truth.Raw()) {
			t.Errorf("graph %d is another one", i)
		}
		if slices.Equal(a.S.Raw(), b.S.Raw()) || slices.Equal(a.S.Raw(), c.S.Raw()) {
			t.Errorf("graph %d has the same samples twice", i)
		}
	}
}

// On three variables the readings of AUC can be counted by hand.
func TestAreas(t *testing.T) {
	truth := dense.NewSym(3, []float64{2, -1, 0, -1, 2, 0.5, 0, 0.5, 2})
	score := dense.NewSym(3, []float64{1, 0.3, 0.2, 0.3, 1, 0.1, 0.2, 0.1, 1})
	c := []solver.Example{{S: dense.Identity(3), Truth: truth}}
	for _, tt := range []struct {
		rd   reading
		want float64
	}{
		{reading{}, 0.5}, // edges .3 and .1 around the non-edge .2
		// Seven positives, two negatives of .2: (3·2 + 2·2 + 0)/14.
		{reading{diagonal: true}, 10. / 14},
		// Five positives (the diagonal and .1 twice), four negatives.
		{reading{diagonal: true, signed: true}, 12. / 20},
	} {
		got, err := areasOf([]*dense.Sym{score}, c, tt.rd)
		if err != nil || len(got) != 1 || math.Abs(got[0]-tt.want) > 1e-15 {
			t.Errorf("%+v: %v (%v), want %v", tt.rd, got, err, tt.want)
		}
	}
}

func TestPerformWritesWholeFiles(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	done := 0
	outcomes, err := Perform(t.Context(), Options{Name: "admm-objective", Quick: true, Out: out}, func(p progress.Update) {
		if p.Solver != "admm-objective" || p.Fraction < 0 || p.Fraction > 1 {
			t.Errorf("progress %+v", p)
		}
		if p.Done {
			done++
		}
	})
	if err != nil || len(outcomes) != 1 || done != 1 {
		t.Fatalf("%d outcomes, %d times done, %v", len(outcomes), done, err)
	}
	for _, f := range outcomes[0].Files {
		if info, err := os.Stat(filepath.Join(out, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "admm-objective.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Quick run", "seed 2020", "gladflow experiment admm-objective --quick", "(admm-objective.svg)", "*The paper:*"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text does not say %q", want)
		}
	}
	document := filepath.Join(filepath.Dir(out), "RESULTS.md")
	const peers = "\n## peers: others\n\nwho wins\n"
	if err := os.WriteFile(document, []byte("# older\n"+peers), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeDocument(document, outcomes); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`!\[[^]]*\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(document), m[1])); err != nil {
			t.Errorf("the document shows %s: %v", m[1], err)
		}
	}
	if !strings.HasSuffix(string(text), peers) || strings.Contains(string(text), "older") {
		t.Error("the section on peers is not kept, or something else is")
	}
	if !strings.Contains(string(text), "(results/admm-objective.svg)") {
		t.Error("the document does not show the figure beside it")
	}
}

func TestWhereFilesGo(t *testing.T) {
	for want, o := range map[[2]string]Options{
		{"results", ""}:                               {Name: "auc"},
		{"docs/results", "docs/RESULTS.md"}:           {All: true},
		{"results-quick", "results-quick/RESULTS.md"}: {All: true, Quick: true},
		{"elsewhere", "docs/RESULTS.md"}:              {All: true, Out: "elsewhere"},
		{"elsewhere", "elsewhere/RESULTS.md"}:         {All: true, Quick: true, Out: "elsewhere"},
	} {
		if got := o.Resolved(); got.Out != want[0] || got.Document != want[1] {
			t.Errorf("%+v: %s and %s, want %v", o, got.Out, got.Document, want)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"nothing":             {},
		"unknown":             {Name: "admm-gird"},
		"one and all":         {Name: "auc", All: true},
		"document of one":     {Name: "auc", Document: "x.md"},
		"negative seed":       {All: true, Seed: -1},
		"unknown engine":      {All: true, Engine: "mkl"},
		"no network":          {Name: "ecoli-subnetwork"},
		"network of none":     {Name: "auc", Network: "x.sif"},
		"no challenge":        {Name: "dream5"},
		"challenge of none":   {Name: "auc", Challenge: t.TempDir()},
		"empty challenge":     {Name: "dream5", Challenge: t.TempDir(), Out: t.TempDir()},
		"table of another":    {Name: "auc", Table: "x.csv"},
		"table that is not":   {Name: "missing", Quick: true, Table: "x.csv", Out: t.TempDir()},
		"network that is not": {Name: "ecoli-subnetwork", Network: "x.sif", Out: t.TempDir()},
		"folder under a file": {Name: "auc", Out: "experiment.go/x"},
		"document under one":  {All: true, Out: t.TempDir(), Document: "experiment.go/x.md"},
	} {
		_, err := Perform(t.Context(), o, nil)
		var wrong *job.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Options{Name: "admm-gird"}).Validate(); !strings.Contains(err.Error(), "admm-grid") {
		t.Errorf("a mistyped name: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	for _, e := range All() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Run(ctx, &Run{Quick: true, Seed: 1, Network: regulon(t), Challenge: challengeFolder(t)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func TestTableColumnsCanBeWritten(t *testing.T) {
	tab := newTable("name", "count", "value")
	tab.add("a", 1, 0.5)
	tab.add("b", 2, math.NaN())
	path := filepath.Join(t.TempDir(), "table.parquet")
	if err := arrowio.WriteTable(path, arrowio.Parquet, tab.done(), nil); err != nil {
		t.Error(err)
	}
	if got := tab.done()[1].Values; !reflect.DeepEqual(got, []int64{1, 2}) {
		t.Errorf("counts %v", got)
	}
}

func TestAnchors(t *testing.T) {
	got := anchor(Experiment{Name: "convergence", Title: "NMSE by iteration at D = 100, fixed"})
	if want := "convergence-nmse-by-iteration-at-d--100-fixed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := number(-1.005); !strings.HasPrefix(got, "−1.0") {
		t.Errorf("%q has no true minus", got)
	}
}

func TestNamesAreThoseOfTheIssue(t *testing.T) {
	want := []string{"admm-objective", "admm-grid", "convergence", "runtime", "recovery-probability", "auc", "selection", "unroll-length", "penalty-sensitivity", "admmu", "gene-nmse", "ecoli-subnetwork", "dream5", "general", "correlation", "missing", "calibration", "scaling"}
	got := Names()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
