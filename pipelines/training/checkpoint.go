package training

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// checkpointFormat is the mark of a checkpoint.
const checkpointFormat = "gladflow.checkpoint"

// A checkpoint is the file with the state of a training.
type checkpoint struct {
	Format  string `json:"format"`
	Version string `json:"version"` // of gladflow
	// Command is for people and messages, Identity what is compared.
	Command  string       `json:"command"`
	Identity string       `json:"identity"`
	State    *train.State `json:"state"`
	// Device is where it is computed: cpu, or cuda:N. State has the name of the backend.
	Device string `json:"device,omitempty"`
}

// An Interruption is the error of a training that its context has ended.
type Interruption struct {
	// Checkpoint is the file to go on from; empty if the training had not got
	// through its data once.
	Checkpoint string
	// Command resumes the training.
	Command string
	Err     error
}

// Error says what to do.
func (e *Interruption) Error() string {
	if e.Checkpoint == "" {
		return fmt.Sprintf("the training was interrupted before its first checkpoint; start it again: %v", e.Err)
	}
	return fmt.Sprintf("the training was interrupted; resume it from its checkpoint %s: %v", e.Checkpoint, e.Err)
}

// Unwrap returns the cause.
func (e *Interruption) Unwrap() error { return e.Err }

// openCheckpoint reads the checkpoint to resume from; nil where there is none. A
// checkpoint that is there is not overwritten unless the training resumes it.
func (t document) openCheckpoint() (*checkpoint, error) {
	path := t.Checkpoint
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, job.FileError("checkpoint", path, err)
	case !t.Resume:
		return nil, job.Errorf("checkpoint", "%s is there already, perhaps of a training that was interrupted; resume that, remove the file, or name another", path)
	}
	var c checkpoint
	if err := json.Unmarshal(data, &c); err != nil || c.Format != checkpointFormat || c.State == nil {
		return nil, &job.Error{Field: "checkpoint", Reason: path + ": the file is no checkpoint of gladflow, or damaged; remove it and start the training again", Err: err}
	}
	return &c, nil
}

// check refuses a checkpoint of another training than t, which is resolved.
func (c *checkpoint) check(t document, starts []*glad.Model) error {
	same := c.Identity == t.identity() && len(c.State.Starts) == len(starts)
	for i := 0; same && i < len(starts); i++ {
		var file, short, kept bytes.Buffer
		if err := starts[i].Write(&file); err != nil {
			return err
		}
		same = json.Compact(&short, file.Bytes()) == nil && json.Compact(&kept, c.State.Starts[i]) == nil &&
			bytes.Equal(short.Bytes(), kept.Bytes())
	}
	if !same {
		return c.another(t.Checkpoint)
	}
	return nil
}

// another is the error of a checkpoint of another training.
func (c *checkpoint) another(path string) error {
	return job.Errorf("checkpoint", "%s belongs to another training (%s); resume with the options and the data of that one, or remove the file", path, c.Command)
}

// save writes a state of t, which is as it was asked for.
func (t document) save(path string, s *train.State, on job.Device) error {
	data, err := json.Marshal(checkpoint{checkpointFormat, job.Version(), t.Command(), t.identity(), s, on.String()})
	if err != nil {
		return err
	}
	return arrowio.ReplaceFile(path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}
