package training

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

// simulatedFolder holds tables of a family.
func simulatedFolder(t testing.TB, s job.Simulation) string {
	t.Helper()
	s.Out = t.TempDir()
	if _, err := simulation.Run(context.Background(), s, nil); err != nil {
		t.Fatal(err)
	}
	return s.Out
}

func remove(t testing.TB, folder, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v: no file %s", err, pattern)
	}
	for _, p := range paths {
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
	}
}

// Tables of a simulated folder make the model that it came from better on data
// that is unlike its own, from precision matrices and from networks alone.
func TestFineTuning(t *testing.T) {
	start := small(filepath.Join(t.TempDir(), "start.json"))
	start.Steps = 60
	first, m := trained(t, start)
	folder := simulatedFolder(t, job.Simulation{Family: "er", Dimension: 10, Samples: 40, Density: 0.4, Scales: "0.5:1.5", Graphs: 8, Seed: 3})
	tune := job.Training{From: start.Out, Data: folder, Correlation: "none", Steps: 40, Out: filepath.Join(t.TempDir(), "tuned.json")}
	r, tuned := trained(t, tune)
	if r.Before == nil || !(r.Validation.Metrics.Get("nmse_db") < r.Before.Metrics.Get("nmse_db")-0.3) {
		t.Errorf("NMSE %v, before %+v", r.Validation.Metrics.Get("nmse_db"), r.Before)
	}
	if r.Examples != 6 || r.Validation.Examples != 2 || r.Architecture != "pm" || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	c := tuned.Card
	if tuned.Name != "er-d10-m30-tuned" || !strings.Contains(c.Family, "fine-tuned from er-d10-m30 on covariances of 6 tables") ||
		!strings.Contains(c.Description, first.Command) || !slices.Equal(c.Samples, glad.Counts{40}) {
		t.Errorf("%s: card %+v", tuned.Name, c)
	}
	before := read(t, tune.Out)
	if trained(t, tune); !slices.Equal(read(t, tune.Out), before) {
		t.Error("the same fine-tuning gives another model")
	}

	// Of networks alone the ranking is judged, unless another figure is asked for.
	remove(t, folder, "*.precision.*")
	tune.Correlation, tune.Out = "", filepath.Join(t.TempDir(), "networks.json")
	if r, tuned = trained(t, tune); r.Training.Select != "aupr" || tuned.Card.Validation["selected_by"] != "aupr" || r.Training.Correlation != "none" ||
		!(r.Validation.Metrics.Get("aupr") >= r.Before.Metrics.Get("aupr")) {
		t.Errorf("%+v", r)
	}
	tune.Select = "nmse"
	if r, _ = trained(t, tune); !(r.Validation.Metrics.Get("nmse_db") < r.Before.Metrics.Get("nmse_db")) || !strings.Contains(r.Family, "8 of the 8 in the folder with a network only") {
		t.Errorf("NMSE %v, before %+v, family %s", r.Validation.Metrics.Get("nmse_db"), r.Before, r.Family)
	}

	// With a rate of next to nothing the model is the start: no worse than it.
	tune.LearningRate = 1e-300
	if r, tuned = trained(t, tune); r.Step != 0 || !slices.Equal(tuned.Values(), m.Values()) || tuned.Threshold != m.Threshold {
		t.Errorf("step %d: the start was not kept", r.Step)
	}
	if !r.StartKept || tuned.Card.Validation["start_kept"] != true || !strings.HasPrefix(tuned.Card.Description, "Equal to er-d10-m30") ||
		tuned.Card.Validation["nmse_db"] != tuned.Card.Validation["nmse_db_before"] {
		t.Errorf("it is not said that the start was kept: %+v, card %+v", r, tuned.Card)
	}

	// One table is both training and validation, and that is said.
	remove(t, folder, "er-[2-8]*")
	tune.LearningRate, tune.Steps = 0, 1
	if r, _ = trained(t, tune); r.Examples != 1 || r.Validation.Examples != 1 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "single table") {
		t.Errorf("%+v", r)
	}

	// On simulated networks of another family.
	shifted := small(tune.Out)
	shifted.Scales, shifted.From, shifted.Architecture, shifted.Name = "0.5:1.5", start.Out, "pm", "shifted"
	if r, tuned = trained(t, shifted); !(r.Validation.Metrics.Get("nmse_db") < r.Before.Metrics.Get("nmse_db")) || tuned.Name != "shifted" {
		t.Errorf("NMSE %v, before %+v", r.Validation.Metrics.Get("nmse_db"), r.Before)
	}
	shifted.Architecture = "pm-tied"
	var wrong *job.Error
	if _, err := Run(context.Background(), shifted, Host{}); !errors.As(err, &wrong) || wrong.Field != "architecture" {
		t.Errorf("error %v", err)
	}
	// A model of no architecture of ours can be tuned too.
	shifted.Architecture, shifted.From, shifted.Steps = "", glad.DefaultModelName, 2
	if r, _ = trained(t, shifted); r.Before == nil || r.Validation.Metrics.Get("nmse_db") > r.Before.Metrics.Get("nmse_db") {
		t.Errorf("%+v", r)
	}
}

// A folder without --from trains random weights.
func TestTrainOnTables(t *testing.T) {
	folder := simulatedFolder(t, job.Simulation{Family: "hub", Dimension: 8, Samples: 30, Graphs: 4, Format: "csv"})
	tr := job.Training{Data: folder, Steps: 5, Architecture: "pm-tied", Name: "hubs", Out: filepath.Join(t.TempDir(), "m.json")}
	if r, m := trained(t, tr); r.Before != nil || m.Parameters() != 70 || r.Examples != 3 {
		t.Errorf("%+v", r)
	}
}

// The truth of a correlation is the precision matrix of standardised variables,
// in the order of the table.
func TestTruthIsInTheUnitsOfS(t *testing.T) {
	ctx := context.Background()
	folder := simulatedFolder(t, job.Simulation{Family: "band", Dimension: 6, Samples: 20000, Scales: "0.2:5"})
	p := pair{table: filepath.Join(folder, "band.parquet"), precision: filepath.Join(folder, "band.precision.parquet")}
	names, values, _, err := arrowio.ReadSquare(ctx, p.precision, arrowio.SampleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The same matrix with its variables in another order.
	backwards := slices.Clone(names)
	slices.Reverse(backwards)
	slices.Reverse(values) // which turns rows and columns around
	p.precision = filepath.Join(t.TempDir(), "b.csv")
	if err := arrowio.WritePrecision(p.precision, "csv", backwards, dense.NewSym(len(names), values), nil); err != nil {
		t.Fatal(err)
	}
	for _, correlation := range []string{"none", "pearson", "spearman", "nonparanormal"} {
		e, _, err := document{job.Training{Correlation: correlation}}.resolved().read(ctx, p, dense.Gonum{})
		if err != nil {
			t.Fatal(err)
		}
		inverse := e.Truth.Clone()
		if _, ok := dense.NewWorkspace(dense.Gonum{}, 6).Inverse(inverse, e.Truth); !ok {
			t.Fatal("the truth is not positive definite")
		}
		for i := range 6 {
			for j := range 6 {
				scale := math.Sqrt(inverse.At(i, i) * inverse.At(j, j))
				if off := math.Abs(e.S.At(i, j)-inverse.At(i, j)) / scale; off > 0.05 {
					t.Errorf("%s: (%d,%d) of S is %v, of the inverse truth %v", correlation, i, j, e.S.At(i, j), inverse.At(i, j))
				}
			}
		}
	}
}

// Covariance selection: W = Θ⁻¹ agrees with S on the diagonal and, but for the
// penalty, at edges; Θ is zero elsewhere. That is the optimum and the only one.
func TestCovarianceSelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(2, 7).Draw(t, "d")
		m := rapid.IntRange(2, 20).Draw(t, "M") // fewer than d: singular
		rng := stream(int(rapid.Uint32().Draw(t, "seed")), 7, 0)
		rows := make([]float64, m*d)
		for i := range rows {
			rows[i] = rng.NormFloat64()
		}
		s := dense.NewSym(d, nil)
		dense.NewWorkspace(dense.Gonum{}, d).Gram(s, 1/float64(m), rows, m, 0)
		edges := dense.NewSym(d, nil)
		for i := range d {
			for j := range i {
				if rng.Float64() < 0.5 {
					edges.Set(i, j, 1)
				}
			}
		}
		theta, err := covarianceSelection(context.Background(), s, edges)
		if err != nil {
			t.Fatal(err)
		}
		w := theta.Clone()
		if _, ok := dense.NewWorkspace(dense.Gonum{}, d).Inverse(w, theta); !ok {
			t.Fatal("not positive definite")
		}
		mean := s.Trace() / float64(d)
		for i := range d {
			for j := range i + 1 {
				slack := 1e-3 * mean
				switch {
				case i != j && edges.At(i, j) == 0:
					if theta.At(i, j) != 0 {
						t.Fatalf("(%d,%d) is %v without an edge", i, j, theta.At(i, j))
					}
					continue
				case i != j:
					slack += selectionPenalty * mean // which bounds the subgradient
				}
				if math.Abs(w.At(i, j)-s.At(i, j)) > slack {
					t.Fatalf("(%d,%d): W %v, S %v", i, j, w.At(i, j), s.At(i, j))
				}
			}
		}
	})
}

// Whatever is wrong with a folder is one sentence that names the file.
func TestTablesRefuse(t *testing.T) {
	const good = "a,b,c\n1,2,1\n2,1,3\n3,5,2\n4,4,9\n"
	const truth = "row,column,value\na,a,2\nb,b,2\nc,c,2\na,b,1\n"
	const network = "source,target\na,b\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"empty":           {map[string]string{"README.md": "x", ".x.csv": good}, "there is no table in the folder"},
		"alone":           {map[string]string{"x.csv": good}, "x.csv: nothing is known of the table; add x.precision.csv or x.reference.csv"},
		"no table":        {map[string]string{"x.csv": good, "x.reference.csv": network, "y.reference.csv": network}, "y.reference.csv: there is no table y.csv"},
		"two":             {map[string]string{"x.csv": good, "x.tsv": good, "x.reference.csv": network}, "have one name"},
		"broken":          {map[string]string{"x.csv": "a,b\n1,2\n3\n", "x.reference.csv": network}, "x.csv"},
		"constant":        {map[string]string{"x.csv": "a,b,c\n1,2,1\n1,1,3\n1,5,2\n", "x.reference.csv": network}, "x.csv: "},
		"too few":         {map[string]string{"x.csv": "a,b,c\n1,2,1\n", "x.reference.csv": network}, "x.csv: "},
		"broken truth":    {map[string]string{"x.csv": good, "x.precision.csv": "row,column,value\na,a,2\n"}, "x.precision.csv"},
		"other truth":     {map[string]string{"x.csv": good, "x.precision.csv": strings.ReplaceAll(truth, "b", "z")}, `x.precision.csv: there is no row for the variable "b"; give the matrix of the variables of `},
		"larger truth":    {map[string]string{"x.csv": good, "x.precision.csv": truth + "z,z,1\n"}, `x.precision.csv: the variable "z" is not one of the table`},
		"indefinite":      {map[string]string{"x.csv": good, "x.precision.csv": truth + "a,c,9\n"}, "x.precision.csv: the matrix is not positive definite"},
		"stranger":        {map[string]string{"x.csv": good, "x.reference.csv": "source,target\na,q\n"}, `x.reference.csv: the variable "q" is not in `},
		"no edge":         {map[string]string{"x.csv": good, "x.reference.csv": "source,target,label\na,b,0\n"}, "x.reference.csv: it lists no edge"},
		"wrong reference": {map[string]string{"x.csv": good, "x.reference.csv": "source,target,label\na,b,7\n"}, "x.reference.csv"},
	} {
		folder := t.TempDir()
		for file, content := range c.files {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(t.TempDir(), "new", "m.json")
		var wrong *job.Error
		_, err := Run(context.Background(), job.Training{From: glad.DefaultModelName, Data: folder, Out: out}, Host{})
		if !errors.As(err, &wrong) || wrong.Field != "data" || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), folder) || strings.Count(err.Error(), folder) > 2 {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(filepath.Dir(out)); err == nil {
			t.Errorf("%s: a folder is left", name)
		}
	}
	var wrong *job.Error
	if _, err := Run(context.Background(), job.Training{From: glad.DefaultModelName, Data: "nowhere", Out: "x"}, Host{}); !errors.As(err, &wrong) || wrong.Field != "data" {
		t.Errorf("error %v", err)
	}
	if _, err := Run(context.Background(), job.Training{From: "nothing", Data: "nowhere", Out: "x"}, Host{}); !errors.As(err, &wrong) || wrong.Field != "from" {
		t.Errorf("error %v", err)
	}
}

// A table of a training folder has an id column, and its error is the folder's.
func TestErrorTextOfTraining(t *testing.T) {
	path := testtable.File(t, "t.csv", "id,x\na,1\nb,2\n")
	_, _, err := document{job.Training{}}.resolved().read(context.Background(), pair{table: path, precision: path}, dense.Gonum{})
	var j *job.Error
	if !errors.As(err, &j) || j.Field != "data" {
		t.Fatal(err)
	}
	if got := j.Text(job.FlagOption); !strings.Contains(got, "pass --id-column id,") || strings.Contains(got, "SampleOptions") {
		t.Error(got)
	}
	if got := j.Error(); !strings.Contains(got, "pass id_column id,") || strings.Contains(got, "SampleOptions") {
		t.Error(got)
	}
}

// Simulated examples are correlations where that is asked for, and where the model to start
// from was trained on such: their truth is that of the standardised variables.
func TestSimulatedCorrelations(t *testing.T) {
	asked := document{job.Training{Family: "hub", Dimension: job.Counts{8}, Samples: job.Counts{4000}, Correlation: "pearson", Seed: 4}}
	e, err := asked.resolved().draw(t.Context(), trainingStream, 0)
	if err != nil {
		t.Fatal(err)
	}
	inverse := dense.NewSym(8, nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, 8).Inverse(inverse, e[0].Truth); !ok {
		t.Fatal("the truth is not positive definite")
	}
	for i := range 8 {
		if math.Abs(inverse.At(i, i)-1) > 1e-12 || e[0].S.At(i, i) != 1 {
			t.Errorf("variable %d has the variances %v and %v", i, inverse.At(i, i), e[0].S.At(i, i))
		}
		for j := range i {
			// Five standard errors of a correlation.
			if v := math.Abs(e[0].S.At(i, j) - inverse.At(i, j)); v > 5/math.Sqrt(4000) {
				t.Errorf("correlation (%d,%d) is %v, of the truth %v", i, j, e[0].S.At(i, j), inverse.At(i, j))
			}
		}
	}

	start := small(filepath.Join(t.TempDir(), "start.json"))
	start.Correlation, start.Steps = "pearson", 2
	if _, m := trained(t, start); !slices.Equal(m.Card.Input, []string{"pearson"}) || !strings.Contains(m.Card.Family, "standardised") {
		t.Errorf("card %+v", m.Card)
	}
	next := small(filepath.Join(t.TempDir(), "next.json"))
	next.From, next.Architecture, next.Steps = start.Out, "", 2
	if r, m := trained(t, next); !slices.Equal(m.Card.Input, []string{"pearson"}) || len(r.Warnings) != 0 {
		t.Errorf("%+v, card %+v", r, m.Card)
	}
	next.Correlation = "none"
	if r, m := trained(t, next); !slices.Equal(m.Card.Input, []string{"covariance"}) || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "was trained on correlations") {
		t.Errorf("%+v, card %+v", r, m.Card)
	}
}
