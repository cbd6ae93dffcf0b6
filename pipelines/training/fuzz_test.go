package training

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// FuzzCheckpoint opens any bytes as a checkpoint: it is that of this training, or an
// error of the field says what is wrong.
func FuzzCheckpoint(f *testing.F) {
	preset, err := train.NewPreset(train.Architectures()[0], 1)
	if err != nil {
		f.Fatal(err)
	}
	starts := preset.Starts[:1]
	for _, c := range []checkpoint{
		{Format: checkpointFormat, State: &train.State{Version: 1}},
		{Format: checkpointFormat, State: &train.State{Version: 1, Starts: []json.RawMessage{[]byte(`{}`)}}},
		{Format: "another"},
	} {
		data, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":"gladflow.checkpoint","state":{"starts":[null,3],"settings":{"engine":"gonum"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "checkpoint")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d := document{job.Training{Family: "er", Out: "x", Checkpoint: path, Resume: true}}
		c, err := d.openCheckpoint()
		if err == nil {
			err = c.check(d, append([]*glad.Model(nil), starts...))
		}
		if c != nil && err == nil {
			err = c.checkBackend(path, job.Device{}, glad.CPU{Engine: dense.Gonum{}})
		}
		var wrong *job.Error
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%T: %v", err, err)
		}
	})
}
