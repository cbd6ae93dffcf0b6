package rankings_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/training/rankings"
	"github.com/gladflow/gladflow/solver/association/ranking"
)

// small is a training of a second.
func small(out string) job.RankingTraining {
	return job.RankingTraining{Networks: 12, ValidationNetworks: 8, Seed: 3, Members: 2, Epochs: 4, Others: 100, Out: out}
}

// A training writes a model that is better than guessing, and the same bytes again,
// whatever the number of workers.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "mine.json")
	stages := make(map[progress.Stage]int)
	r, err := rankings.Run(t.Context(), small(out), rankings.Host{Progress: func(u progress.Update) {
		if u.Done {
			stages[u.Stage]++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[progress.Stage]int{progress.Simulating: 3, progress.Training: 1}; !reflect.DeepEqual(stages, want) {
		t.Errorf("stages %v, want %v", stages, want)
	}
	first, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ranking.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "mine" || r.Model != "mine" || m.Parameters() != r.Parameters || m.Probability != r.Probability || r.Networks != 12 || r.Pairs < 12*50 {
		t.Errorf("%+v", r)
	}
	const want = "gladflow train ranking --networks 12 --validation-networks 8 --seed 3 --others 100 --members 2 --epochs 4 --out mine.json"
	if m.Card.Command != want || r.Command != want || m.Card.Seed != 3 || m.Card.Graphs != 12 {
		t.Errorf("card %+v", m.Card)
	}
	if all := r.Families[0]; all.Family != "all" || all.Networks != 4 || !(all.AUROC > 0.65) || !(all.AveragePrecision > 0.1) || !(all.Spectral > 0.1) {
		t.Errorf("%+v", r.Families)
	}
	networks, pairs := 0, 0
	for _, f := range r.Families[1:] {
		networks += f.Networks
	}
	for _, b := range r.Calibration.Bins {
		pairs += b.Pairs
	}
	if networks != 4 || pairs < 4*100 || !(r.Calibration.Error >= 0) || !(r.Calibration.Error < 0.2) {
		t.Errorf("%d networks, %d pairs, %+v", networks, pairs, r.Calibration)
	}
	again := small(out)
	again.Workers = 1
	if _, err := rankings.Run(t.Context(), again, rankings.Host{}); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(out); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the same training writes another file: %v", err)
	}
}

// With regulators a model is directed, learned from pairs that start at one of them, and
// the same bytes again.
func TestRunWithRegulators(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mine.json")
	training := small(out)
	training.Regulators = true
	r, err := rankings.Run(t.Context(), training, rankings.Host{})
	if err != nil {
		t.Fatal(err)
	}
	first := readFile(t, out)
	m, err := ranking.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if !m.Directed() || len(m.Inputs) != 9 || len(m.Context) != 5 || !strings.Contains(m.Card.Command, " --seed 3 --regulators --others 100 ") {
		t.Errorf("inputs %q, context %q, %s", m.Inputs, m.Context, m.Card.Command)
	}
	all := r.Families[0]
	if blend, ok := m.Card.Validation["blend_average_precision"].(float64); !ok || blend != float64(all.Blend) || !(all.Blend > 0.1) || !(all.AUROC > 0.65) || !(all.AveragePrecision > 0.1) {
		t.Errorf("%+v, %v", all, m.Card.Validation)
	}
	if !(r.Calibration.Error >= 0) || !(r.Calibration.Error < 0.2) {
		t.Errorf("%+v", r.Calibration)
	}
	training.Workers = 1
	if _, err := rankings.Run(t.Context(), training, rankings.Host{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, readFile(t, out)) {
		t.Error("the same training writes another file")
	}
}

// A training that is interrupted leaves what was there.
func TestInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := rankings.Run(ctx, small(out), rankings.Host{Progress: func(u progress.Update) {
		if u.Stage == progress.Training {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(out); err != nil || string(text) != "before" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		field, want string
		change      func(r *job.RankingTraining)
	}{
		{"out", "no model file", func(r *job.RankingTraining) { r.Out = "" }},
		{"out", "is not a file", func(r *job.RankingTraining) { r.Out = "x/" }},
		{"out", "is a URL", func(r *job.RankingTraining) { r.Out = "s3://bucket/x.json" }},
		{"out", "not a regular file", func(r *job.RankingTraining) { r.Out = os.TempDir() }},
		{"networks", "-1 is too few", func(r *job.RankingTraining) { r.Networks = -1 }},
		{"networks", "too many", func(r *job.RankingTraining) { r.Networks = 1 << 40 }},
		{"validation_networks", "1 is too few", func(r *job.RankingTraining) { r.ValidationNetworks = 1 }},
		{"seed", "-2", func(r *job.RankingTraining) { r.Seed = -2 }},
		{"units", "at most 10000", func(r *job.RankingTraining) { r.Units = 20_000 }},
		{"learning_rate", "-1 is no learning rate", func(r *job.RankingTraining) { r.LearningRate = -1 }},
		{"decay", "-1 is no weight", func(r *job.RankingTraining) { r.Decay = -1 }},
		{"name", "makes no name", func(r *job.RankingTraining) { r.Out = ".json" }},
	} {
		r := small("x.json")
		c.change(&r)
		_, err := rankings.Run(t.Context(), r, rankings.Host{})
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s: %s", err, c.field, c.want)
		}
	}
	if _, err := os.Stat("x.json"); err == nil {
		t.Error("a file is left")
	}
}

// The shipped models are what their commands write. It takes a minute.
func TestBuiltinIsWhatItsCommandWrites(t *testing.T) {
	if os.Getenv("GLADFLOW_LONG") == "" {
		t.Skip("GLADFLOW_LONG is not set")
	}
	for _, name := range ranking.BuiltinNames() {
		m, err := ranking.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), name+".json")
		again := job.RankingTraining{Seed: int(m.Card.Seed), Description: m.Card.Description, Regulators: m.Directed(), Out: out}
		r, err := rankings.Run(t.Context(), again, rankings.Host{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Command != m.Card.Command {
			t.Errorf("%s was made by %s, not by %s", name, m.Card.Command, r.Command)
		}
		got, err := ranking.Read(bytes.NewReader(readFile(t, out)))
		if err != nil {
			t.Fatal(err)
		}
		// On another kind of processor the last bits may differ, in weights too, and pairs
		// that nearly tie change places: the figures of the card move far less than 1e-4.
		for key, v := range m.Card.Validation {
			want, ok := v.(float64)
			is, also := got.Card.Validation[key].(float64)
			if !ok || !also || !(math.Abs(is-want) <= 1e-4*math.Abs(want)) {
				t.Errorf("%s: the %s of what its command writes is %v, in the card %v", name, key, got.Card.Validation[key], v)
			}
		}
		if !slices.Equal(got.Inputs, m.Inputs) || !slices.Equal(got.Context, m.Context) {
			t.Errorf("%s: its command writes a model of %v and %v", name, got.Inputs, got.Context)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
