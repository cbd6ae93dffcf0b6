package train

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver"
)

// A training that ends after any epoch goes on to the same model.
func TestResume(t *testing.T) {
	preset, training, validation := quick(t, Features)
	s := preset.Settings
	s.Patience = 2
	var states []string
	s.Checkpoint = func(st *State) error {
		data, err := json.Marshal(st)
		states = append(states, string(data))
		return err
	}
	whole, err := Run(t.Context(), preset.Starts, training, validation, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(states) < 10 {
		t.Fatalf("%d checkpoints", len(states))
	}
	s.Checkpoint = nil
	for i, data := range states {
		var st State
		if err := json.Unmarshal([]byte(data), &st); err != nil {
			t.Fatal(err)
		}
		result, err := Resume(t.Context(), &st, training, validation, s)
		if err != nil {
			t.Fatal(err)
		}
		if file(t, result.Model) != file(t, whole.Model) || result.Validation != whole.Validation || result.Steps != whole.Steps {
			t.Errorf("resumed from checkpoint %d, the model is another", i)
		}
	}
}

// A stop changes nothing before it, and one that is taken away nothing at all.
func TestStop(t *testing.T) {
	preset, training, validation := quick(t, TiedPosteriorMean)
	whole, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings)
	if err != nil {
		t.Fatal(err)
	}
	s := preset.Settings
	s.Stop = 14 // of 24, not at a validation
	var data []byte
	s.Checkpoint = func(st *State) (err error) {
		data, err = json.Marshal(st)
		return err
	}
	stopped, err := Run(t.Context(), preset.Starts, training, validation, s)
	if err != nil {
		t.Fatal(err)
	}
	if stopped.Steps != 14 || stopped.Model.Card.Steps != 14 || stopped.BestStep > 14 {
		t.Errorf("%d steps, %d in the card, the best at %d, want 14 at most", stopped.Steps, stopped.Model.Card.Steps, stopped.BestStep)
	}
	resume := func(stop int) (*Result, error) {
		var st State
		if err := json.Unmarshal(data, &st); err != nil {
			t.Fatal(err)
		}
		s.Stop, s.Checkpoint = stop, nil
		return Resume(t.Context(), &st, training, validation, s)
	}
	if went, err := resume(0); err != nil || went.Steps != whole.Steps || whole.BestStep > 14 && file(t, went.Model) != file(t, whole.Model) {
		t.Errorf("resumed, the training ends after %+v (%v), want %+v", went, err, whole)
	}
	for _, stop := range []int{12, 14} {
		if _, err := resume(stop); err == nil || !strings.Contains(err.Error(), "cannot stop") {
			t.Errorf("a stop at %d, where the training was at 14: %v", stop, err)
		}
	}
	for _, stop := range []int{-1, 25} {
		s := preset.Settings
		s.Stop = stop
		if s.Validate() == nil {
			t.Errorf("a stop at %d of 24 steps is not refused", stop)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	preset, training, validation := quick(t, TiedPosteriorMean)
	var data []byte
	preset.Settings.Checkpoint = func(st *State) (err error) {
		if data == nil {
			data, err = json.Marshal(st)
		}
		return err
	}
	if _, err := Run(t.Context(), preset.Starts, training, validation, preset.Settings); err != nil {
		t.Fatal(err)
	}
	preset.Settings.Checkpoint = nil
	for name, c := range map[string]struct {
		change func(*State, *Settings, *[]solver.Example)
		want   string
	}{
		"settings": {func(_ *State, s *Settings, _ *[]solver.Example) { s.LearningRate = 0.5 }, "another training"},
		"examples": {func(_ *State, _ *Settings, e *[]solver.Example) { *e = (*e)[1:] }, "another training"},
		"version":  {func(st *State, _ *Settings, _ *[]solver.Example) { st.Version = 2 }, "version 2"},
		"values":   {func(st *State, _ *Settings, _ *[]solver.Example) { st.Values = st.Values[1:] }, "damaged"},
		"start":    {func(st *State, _ *Settings, _ *[]solver.Example) { st.Start = 3 }, "damaged"},
		"best":     {func(st *State, _ *Settings, _ *[]solver.Example) { st.Own.Values = nil }, "damaged"},
		"model":    {func(st *State, _ *Settings, _ *[]solver.Example) { st.Starts[0] = []byte(`{}`) }, "format: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			var st State
			if err := json.Unmarshal(data, &st); err != nil {
				t.Fatal(err)
			}
			s, e := preset.Settings, training
			c.change(&st, &s, &e)
			_, err := Resume(t.Context(), &st, e, validation, s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
			if want := c.want == "another training"; errors.Is(err, ErrOtherTraining) != want {
				t.Errorf("ErrOtherTraining: %v", !want)
			}
		})
	}
}
