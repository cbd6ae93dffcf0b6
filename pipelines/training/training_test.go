package training

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/simulation"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// small is a training of a tenth of a second.
func small(out string) job.Training {
	return job.Training{Family: "er", Dimension: job.Counts{10}, Samples: job.Counts{30}, Graphs: 3, ValidationGraphs: 2, Density: "0.2", Steps: 20, Seed: 5, Out: out}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func trained(t testing.TB, tr job.Training) (*Result, *glad.Model) {
	t.Helper()
	r, err := Run(context.Background(), tr, Host{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := recovery.OpenModel("model", tr.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// What is written is a model whose card says where it comes from, and nothing
// besides.
func TestTrain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	tr := small(filepath.Join(folder, "m.json"))
	tr.Description = "For the test."
	r, m := trained(t, tr)
	if got := testtable.List(t, folder); !slices.Equal(got, []string{"m.json"}) {
		t.Errorf("files %v", got)
	}
	c := m.Card
	if m.Name != "er-d10-m30" || r.Model != m.Name || m.Kind != glad.GLADPM || m.Parameters() != 634 || r.Architecture != "pm" {
		t.Errorf("model %s of kind %s, result %+v", m.Name, m.Kind, r)
	}
	const command = "gladflow train er --out m.json --dimension 10 --samples 30 --graphs 3 --validation-graphs 2 --seed 5 --density 0.2 --steps 20 --description 'For the test.'"
	if sorted(c.Command) != sorted(command) || c.Command != r.Command {
		t.Errorf("command %s", c.Command)
	}
	if c.Family != "er p=0.2, d=10, weights U[-1, 1) sym, smallest eigenvalue 1" || !slices.Equal(c.Dimension, glad.Counts{10}) ||
		!slices.Equal(c.Samples, glad.Counts{30}) || c.Graphs != 3 || c.Steps != 20 || c.Seed != 5 || !c.Trained || c.Description != "For the test." {
		t.Errorf("card %+v", c)
	}
	if c.Validation["nmse_db"] != float64(r.Validation.Metrics.Get("nmse_db")) || c.Validation["examples"] != 4.0 || c.Validation["graphs"] != 2.0 || c.Validation["selected_by"] != "nmse" {
		t.Errorf("validation %v, result %+v", c.Validation, r.Validation)
	}
	// The figures are those of the file.
	x, err := document{tr}.resolved().simulated(context.Background(), progress.Begin(nil, progress.Simulating, ""))
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := evaluate(context.Background(), m, x.validation, glad.CPU{Workers: 1})
	if err != nil || !reflect.DeepEqual(again, r.Validation) {
		t.Errorf("%v: the file has %+v, the result says %+v", err, again, r.Validation)
	}
	// A few steps are better than none.
	tr.Steps, tr.Out = 1, filepath.Join(folder, "one.json")
	if one, _ := trained(t, tr); r.Validation.Metrics.Get("nmse_db") > one.Validation.Metrics.Get("nmse_db") {
		t.Errorf("NMSE %v after 20 steps, %v after one", r.Validation.Metrics.Get("nmse_db"), one.Validation.Metrics.Get("nmse_db"))
	}
}

func sorted(command string) string {
	words := strings.Fields(command)
	slices.Sort(words)
	return strings.Join(words, " ")
}

// The same training gives the same bytes, with however many workers, and also
// when it is interrupted in any of its starts and resumed.
func TestTrainRepeatsAndResumes(t *testing.T) {
	for _, c := range []struct {
		architecture string
		stop         []int // steps, counted over all starts
	}{
		{"pm", []int{9}}, {"literal", []int{7, 19}},
	} {
		tr := small(filepath.Join(t.TempDir(), "m.json"))
		tr.Architecture, tr.Steps = c.architecture, 12
		_, _ = trained(t, tr)
		want := read(t, tr.Out)

		tr.Out, tr.Workers = filepath.Join(t.TempDir(), "m.json"), 1
		for i, stop := range c.stop {
			tr.Resume = i > 0
			ctx, cancel := context.WithCancel(context.Background())
			_, err := Run(ctx, tr, Host{Progress: func(p Update) {
				if p.Stage == progress.Training && (p.Step.Start-1)*12+p.Step.Step >= stop {
					cancel()
				}
			}})
			cancel()
			var interruption *Interruption
			if !errors.As(err, &interruption) || !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: error %v", c.architecture, err)
			}
			if interruption.Checkpoint != strings.TrimSuffix(tr.Out, ".json")+".checkpoint" || !strings.Contains(interruption.Command, " --resume") {
				t.Errorf("%+v", interruption)
			}
			if got := testtable.List(t, filepath.Dir(tr.Out)); !slices.Equal(got, []string{"m.checkpoint"}) {
				t.Fatalf("files %v", got)
			}
		}
		// Neither another training nor the same without being told to resume.
		other := tr
		other.Resume = false
		var wrong *job.Error
		if _, err := Run(context.Background(), other, Host{}); !errors.As(err, &wrong) || wrong.Field != "checkpoint" {
			t.Errorf("error %v", err)
		}
		if dense.Default() != (dense.Gonum{}) { // there are two engines
			other.Resume, other.Engine = true, "gonum"
			if _, err := Run(context.Background(), other, Host{}); !errors.As(err, &wrong) || wrong.Field != "engine" {
				t.Errorf("error %v", err)
			}
		}
		for _, change := range []func(*job.Training){
			func(o *job.Training) { o.Steps = 13 }, func(o *job.Training) { o.Samples = job.Counts{31} },
			func(o *job.Training) { o.Seed = 6 }, func(o *job.Training) { o.Architecture = "pm-tied" }, func(o *job.Training) { o.Select = "auc" },
		} {
			other := tr
			other.Resume = true
			change(&other)
			var wrong *job.Error
			if _, err := Run(context.Background(), other, Host{}); !errors.As(err, &wrong) || wrong.Field != "checkpoint" || !strings.Contains(wrong.Reason, "gladflow train er ") {
				t.Errorf("%+v: %v", other, err)
			}
		}
		tr.Resume = true
		r, _ := trained(t, tr)
		if !bytes.Equal(read(t, tr.Out), want) {
			t.Errorf("%s: the resumed training gives another model", c.architecture)
		}
		if got := testtable.List(t, filepath.Dir(tr.Out)); !slices.Equal(got, []string{"m.json"}) || !r.Resumed {
			t.Errorf("files %v, resumed %v", got, r.Resumed)
		}
	}
}

// An interrupted training leaves the model that was there.
func TestTrainKeepsTheOldModel(t *testing.T) {
	out := testtable.File(t, "m.json", "old")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := Run(ctx, small(out), Host{Progress: func(p Update) {
		if p.Stage == progress.Training {
			cancel()
		}
	}})
	var interruption *Interruption
	if !errors.As(err, &interruption) || interruption.Checkpoint != "" {
		t.Errorf("error %v", err)
	}
	if got := testtable.List(t, filepath.Dir(out)); len(got) != 1 || string(read(t, out)) != "old" {
		t.Errorf("files %v", got)
	}
	// A training without a checkpoint begins at its beginning, and says so.
	tr := small(out)
	tr.Resume = true
	if r, _ := trained(t, tr); r.Resumed || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "no checkpoint") {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(strings.TrimSuffix(out, ".json")+".checkpoint", []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	var wrong *job.Error
	if _, err := Run(context.Background(), tr, Host{}); !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, "is no checkpoint") {
		t.Errorf("error %v", err)
	}
}

// Training, validation and simulated files share no network, and the first
// networks do not depend on how many there are.
func TestTrainingStreams(t *testing.T) {
	ctx := context.Background()
	draw := func(graphs int) examples {
		tr := small("x")
		tr.Graphs = graphs
		x, err := document{tr}.resolved().simulated(ctx, progress.Begin(nil, progress.Simulating, ""))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	three, five := draw(3), draw(5)
	seen := make(map[string]bool)
	for _, e := range slices.Concat(five.training, five.validation) {
		key := fmt.Sprint(e.S.Raw())
		if seen[key] {
			t.Error("two examples have one covariance")
		}
		seen[key] = true
	}
	for i, e := range three.training {
		if !slices.Equal(e.S.Raw(), five.training[i].S.Raw()) || !slices.Equal(e.Truth.Raw(), five.training[i].Truth.Raw()) {
			t.Errorf("example %d depends on the number of networks", i)
		}
	}
	if !slices.Equal(three.validation[0].Truth.Raw(), five.validation[0].Truth.Raw()) {
		t.Error("validation depends on the number of training networks")
	}
	s := job.Simulation{Family: "er", Dimension: 10, Density: 0.2, Seed: 5}.Resolved()
	f, err := simulation.FamilyOf(s)
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.Precision(stream(5, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Concat(five.training, five.validation) {
		if slices.Equal(e.Truth.Raw(), other.Raw()) {
			t.Error("an example has the network that simulate draws")
		}
	}
}

// Of several dimensions and numbers of samples all combinations come, and equally
// often; densities lie in their range.
func TestMixedTraining(t *testing.T) {
	tr := job.Training{
		Family: "er", Dimension: job.Counts{8, 12}, Samples: job.Counts{5, 10, 20}, Density: "0.3:0.6", Graphs: 12, Out: "x",
	}
	if err := Validate(tr); err != nil {
		t.Fatal(err)
	}
	x, err := document{tr}.resolved().simulated(context.Background(), progress.Begin(nil, progress.Simulating, ""))
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for _, e := range x.training {
		times[fmt.Sprintf("d=%d M=%d", e.S.Len(), e.Samples)]++
	}
	if len(times) != 6 {
		t.Errorf("combinations %v", times)
	}
	for c, n := range times {
		if n != 4 {
			t.Errorf("%s comes %d times of 24", c, n)
		}
	}
	if x.family != "er p=U(0.3, 0.6), d=8,12, weights U[-1, 1) sym, smallest eigenvalue 1" {
		t.Errorf("family %s", x.family)
	}
	d, err := document{tr}.densities()
	if err != nil {
		t.Fatal(err)
	}
	low, high := 1.0, 0.0
	for k := range uint64(200) {
		p := d.draw(stream(0, 9, k))
		low, high = min(low, p), max(high, p)
	}
	if low < 0.3 || low > 0.32 || high > 0.6 || high < 0.58 {
		t.Errorf("densities from %v to %v", low, high)
	}
}

// A model that is chosen by the probability of success has the threshold that
// makes it one, and its figures are no worse than without.
func TestSelect(t *testing.T) {
	tr := small(filepath.Join(t.TempDir(), "m.json"))
	tr.Samples, tr.Select, tr.Steps = job.Counts{4000}, selectPS, 60
	r, m := trained(t, tr)
	if !(r.Validation.Metrics.Get("strict_ps") > 0) || m.Threshold <= 0 || m.Threshold != r.Threshold {
		t.Errorf("strict PS %v with threshold %v", r.Validation.Metrics.Get("strict_ps"), m.Threshold)
	}
	if m.Card.Validation["strict_ps"] != float64(r.Validation.Metrics.Get("strict_ps")) || m.Card.Validation["selected_by"] != "ps" {
		t.Errorf("card %v", m.Card.Validation)
	}
	tr = small(tr.Out)
	tr.Select, tr.Architecture, tr.Steps = selectAUC, "literal", 2
	if r, m = trained(t, tr); !(r.Validation.Metrics.Get("auroc") > 0.5) || m.Threshold != 0 || r.Starts != 3 {
		t.Errorf("%+v", r)
	}
	// A complete graph has no ranking.
	tr.Density = "1"
	var wrong *job.Error
	if _, err := Run(context.Background(), tr, Host{}); !errors.As(err, &wrong) || wrong.Field != "select" {
		t.Errorf("error %v", err)
	}
}

func TestSupportCost(t *testing.T) {
	threshold := make(map[job.Value]float64)
	for _, cost := range []job.Value{"none", "0", "", "1"} {
		tr := small(filepath.Join(t.TempDir(), "m.json"))
		tr.SupportCost = cost
		r, _ := trained(t, tr)
		threshold[cost] = r.Threshold
	}
	if threshold["none"] != 0 || !(threshold["0"] <= threshold[""] && threshold[""] <= threshold["1"]) || threshold["1"] == 0 {
		t.Errorf("thresholds by cost %v", threshold)
	}
	tr := small("x")
	tr.SupportCost, tr.Architecture = "0.1", "literal"
	var wrong *job.Error
	if _, err := Run(context.Background(), tr, Host{}); !errors.As(err, &wrong) || wrong.Field != "support_cost" {
		t.Errorf("error %v", err)
	}
}

// The families mixed and standardised draw networks of several sizes, numbers of samples
// and scales, the same for the same seed; those of the latter are correlations.
func TestTrainingMixtures(t *testing.T) {
	for _, c := range []struct {
		family, architecture, by, figure, says, input string
	}{
		{simulate.GraphMixed, train.GeneralPosteriorMean, "mean-nmse", "mean_nmse_db", "mixed graphs, sizes up to d=30", "covariance,pearson"},
		{simulate.GraphStandardised, train.TablePosteriorMean, "floored-nmse", "floored_nmse_db", "correlation matrices of er, ", "pearson"},
	} {
		t.Run(c.family, func(t *testing.T) { testMixture(t, c.family, c.architecture, c.by, c.figure, c.says, c.input) })
	}
}

func testMixture(t *testing.T, family, architecture, by, figure, says, input string) {
	c := job.Training{
		Family: family, Dimension: job.Counts{30}, Graphs: 6, ValidationGraphs: 3, Architecture: architecture,
		Select: by, Steps: 12, Seed: 4, Out: filepath.Join(t.TempDir(), "m.json"),
	}
	first, m := trained(t, c)
	if first.Examples != 6 || first.Model != family+"-d30" || !strings.HasPrefix(first.Family, says) {
		t.Errorf("%d examples, model %s, family %q", first.Examples, first.Model, first.Family)
	}
	if _, ok := m.Card.Validation[figure]; !ok {
		t.Errorf("the card's figures are %v", m.Card.Validation)
	}
	if got := strings.Join(m.Card.Input, ","); got != input {
		t.Errorf("the card's input is %s, want %s", got, input)
	}
	for _, wrong := range []func(*job.Training){
		func(c *job.Training) { c.Samples = job.Counts{20} },
		func(c *job.Training) { c.Density = "0.1" },
		func(c *job.Training) { c.Dimension = job.Counts{20, 30} },
		func(c *job.Training) { c.Correlation = "pearson" },
	} {
		bad := c
		wrong(&bad)
		if err := Validate(bad); err == nil {
			t.Errorf("%+v is not refused", bad)
		}
	}
}
