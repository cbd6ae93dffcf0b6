package edges

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulate"
)

// small is a training of a second.
func small(t *testing.T) job.EdgeTraining {
	return job.EdgeTraining{
		From: "grid", Tables: 15, ValidationTables: 5, Checks: 1, Seed: 3, Members: 2, Epochs: 3, Batch: 128,
		Out: filepath.Join(t.TempDir(), "model.json"), Engine: "gonum",
	}
}

// sizes are small ones of tables to check on.
func sizes() [][2]int { return [][2]int{{12, 30}, {20, 100}} }

// A training writes the model with a head whose card says how it does, the same bytes whatever
// the number of workers, and the cells stay.
func TestRun(t *testing.T) {
	e := small(t)
	var last progress.Update
	r, err := runOn(t.Context(), e, Host{Progress: func(u progress.Update) { last = u }}, sizes())
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(e.Out)
	if err != nil {
		t.Fatal(err)
	}
	m, err := recovery.OpenModel("model", e.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	from, err := recovery.OpenModel("model", "grid", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !m.HasEdgeHead() || m.Name != "grid" || !slices.Equal(m.Values(), from.Values()) || m.EdgeParameters() != r.Parameters || !last.Done {
		t.Errorf("%+v, %+v", r, last)
	}
	c := m.Card.Edges
	if c.Tables != 15 || c.Pairs != r.Edges.Pairs || c.Pairs < 15 || c.Command != e.Command() || len(c.Families) != len(simulate.Graphs())+1 || !(c.Validation > 0) {
		t.Errorf("card %+v", c)
	}
	for _, f := range c.Families {
		pairs, held := 0, 0.0
		for b, n := range f.Counts {
			pairs += n
			held += float64(n) * f.Held[b]
			if n > 0 && (f.Said[b] < float64(b)/10 || f.Said[b] > float64(b+1)/10) {
				t.Errorf("%s: in interval %d a mean of %v", f.Family, b, f.Said[b])
			}
		}
		unseen := f.Family == simulate.GraphBand || f.Family == simulate.GraphSmallWorld
		if f.Tables != 2 || pairs != f.Pairs || pairs != 12*11/2+20*19/2 || math.Abs(held-float64(f.Edges)) > 1e-9 || f.Seen == unseen || !(f.Brier >= 0) {
			t.Errorf("%+v", f)
		}
		if empty := f.Family == simulate.GraphEmpty; empty != (f.Edges == 0) || empty != (f.AUPR == 0) {
			t.Errorf("%+v", f)
		}
	}
	e.Workers = 1
	if _, err = runOn(t.Context(), e, Host{}, sizes()); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(e.Out); err != nil || !bytes.Equal(first, again) {
		t.Errorf("one worker gives another file: %v", err)
	}
}

func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := small(t)
	if _, err := Run(ctx, e, Host{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(e.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written: %v", err)
	}
}

func TestValidate(t *testing.T) {
	for key, change := range map[string]func(e *job.EdgeTraining){
		"out":           func(e *job.EdgeTraining) { e.Out = "" },
		"tables":        func(e *job.EdgeTraining) { e.Tables = -1 },
		"learning_rate": func(e *job.EdgeTraining) { e.LearningRate = math.NaN() },
		"engine":        func(e *job.EdgeTraining) { e.Engine = "abacus" },
		"from":          func(e *job.EdgeTraining) { e.From = "nothing" },
		"epochs":        func(e *job.EdgeTraining) { e.Epochs = 1 << 30 },
	} {
		e := small(t)
		change(&e)
		var wrong *job.Error
		if _, err := Run(t.Context(), e, Host{}); !errors.As(err, &wrong) || wrong.Field != key {
			t.Errorf("%s: %v", key, err)
		}
	}
}
