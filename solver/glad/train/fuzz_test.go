package train

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

// FuzzState resumes from any state: it goes on to a model or says what is wrong.
func FuzzState(f *testing.F) {
	preset, training, validation := quick(f, TiedPosteriorMean)
	s := preset.Settings
	var states [][]byte
	s.Checkpoint = func(st *State) error {
		data, err := json.Marshal(st)
		states = append(states, data)
		return err
	}
	if _, err := Run(f.Context(), preset.Starts, training, validation, s); err != nil {
		f.Fatal(err)
	}
	s.Checkpoint = nil
	f.Add(states[0])
	f.Add(states[len(states)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		var st State
		if json.Unmarshal(data, &st) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		result, err := Resume(ctx, &st, training, validation, s)
		if (result == nil || result.Model == nil) == (err == nil) && ctx.Err() == nil {
			t.Fatalf("%+v, %v", result, err)
		}
	})
}
