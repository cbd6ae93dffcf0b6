package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/internal/adam"
)

// A State is all that a training needs to go on where it was: see Resume. It
// marshals to JSON without loss.
type State struct {
	// Version is that of this struct, 1.
	Version int `json:"version"`
	// Starts are the models that training began from, as model files.
	Starts []json.RawMessage `json:"starts"`
	// Settings are the numbers among the Settings of the run.
	Settings numbers `json:"settings"`
	// Data is a hash of the training and validation examples.
	Data string `json:"data"`

	// Start and Step count the starts that are done and the steps of the
	// present one.
	Start int `json:"start"`
	Step  int `json:"step"`
	// Values, and Adam, are those of the present start.
	Values []float64 `json:"values"`
	Adam   adam.Adam `json:"adam"`
	// Total counts the steps of all starts.
	Total int `json:"total"`
	// Damping multiplies the learning rate; it is halved where a step is
	// rolled back. Before and BeforeAdam are the last values and moments at
	// which the loss was finite, to which it is rolled back.
	Damping          float64   `json:"damping"`
	Before           []float64 `json:"before"`
	BeforeAdam       adam.Adam `json:"before_adam"`
	RolledBack       int       `json:"undone"`
	RolledBackInARow int       `json:"undone_in_a_row"`
	// Own is the best of the present start, Best that of all.
	Own          best `json:"own"`
	Best         best `json:"best"`
	WithoutAGain int  `json:"without_a_gain"`
	// OwnCurve and BestCurve are the best so far after every validation.
	OwnCurve  []best `json:"own_curve"`
	BestCurve []best `json:"best_curve"`
	// Seconds is the time that was spent.
	Seconds float64 `json:"seconds"`
}

const stateVersion = 1

// numbers are the settings that decide what comes out.
type numbers struct {
	Steps         int       `json:"steps"`
	Batch         int       `json:"batch"`
	LearningRate  float64   `json:"learning_rate"`
	Milestones    []float64 `json:"milestones"`
	Decay         float64   `json:"decay"`
	ClipNorm      float64   `json:"clip_norm"`
	Loss          Loss      `json:"loss"`
	ValidateEvery int       `json:"validate_every"`
	Patience      int       `json:"patience"`
	Race          float64   `json:"race"`
	Figure        string    `json:"figure"`
	SupportCost   float64   `json:"support_cost"`
	Seed          uint64    `json:"seed"`
	Engine        string    `json:"engine"`
}

func (s Settings) numbers() numbers {
	return numbers{s.Steps, s.Batch, s.LearningRate, s.Milestones, s.Decay, s.ClipNorm, s.Loss,
		s.ValidateEvery, s.Patience, s.Race, s.Criterion.Name, s.SupportCost, s.Seed, s.Backend.Name()}
}

// best is the best checkpoint so far.
type best struct {
	// Found is false before the first validation with a finite figure.
	Found  bool      `json:"found"`
	Figure float64   `json:"figure"`
	Start  int       `json:"start"`
	Step   int       `json:"step"`
	Values []float64 `json:"values,omitempty"`
}

// without is b without its values, for a curve.
func (b best) without() best {
	b.Values = nil
	return b
}

// ErrOtherTraining is returned by Resume where the state is of another
// training: of other examples, settings or linear algebra.
var ErrOtherTraining = errors.New("the checkpoint belongs to another training")

// newState is the state before the first step.
func newState(starts []*glad.Model, s Settings, data string) (*State, error) {
	st := &State{Version: stateVersion, Settings: s.numbers(), Data: data}
	for i, m := range starts {
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			return nil, fmt.Errorf("start %d: %w", i, err)
		}
		var short bytes.Buffer
		if err := json.Compact(&short, file.Bytes()); err != nil {
			return nil, err
		}
		st.Starts = append(st.Starts, short.Bytes())
	}
	st.begin(starts[0])
	return st, nil
}

// begin makes m the present start.
func (st *State) begin(m *glad.Model) {
	st.Step, st.RolledBackInARow, st.WithoutAGain, st.Damping = 0, 0, 0, 1
	st.Values = m.Values()
	st.Before = append([]float64(nil), st.Values...)
	st.Adam, st.BeforeAdam = adam.New(len(st.Values)), adam.New(len(st.Values))
	st.Own, st.OwnCurve = best{}, nil
}

// models reads the starts back, and checks what a damaged state would break.
func (st *State) models() ([]*glad.Model, error) {
	if st.Version != stateVersion {
		return nil, fmt.Errorf("the checkpoint has version %d, and this program reads %d; start the training again", st.Version, stateVersion)
	}
	var starts []*glad.Model
	for _, file := range st.Starts {
		m, err := glad.Read(bytes.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("the checkpoint: %w", err)
		}
		starts = append(starts, m)
	}
	damaged := errors.New("the checkpoint is damaged; start the training again")
	if st.Start < 0 || st.Start >= len(starts) || st.Step < 0 {
		return nil, damaged
	}
	n := starts[st.Start].Parameters()
	for _, v := range [][]float64{st.Values, st.Before, st.Adam.First, st.Adam.Second, st.BeforeAdam.First, st.BeforeAdam.Second} {
		if len(v) != n || !allFinite(v) {
			return nil, damaged
		}
	}
	for _, b := range []best{st.Own, st.Best} {
		if b.Found && (b.Start < 0 || b.Start >= len(starts) || len(b.Values) != starts[b.Start].Parameters() || !allFinite(b.Values)) {
			return nil, damaged
		}
	}
	return starts, nil
}

// fingerprint is a hash of the examples.
func fingerprint(sets ...[]solver.Example) string {
	h := sha256.New()
	put := func(v any) { _ = binary.Write(h, binary.LittleEndian, v) } // a hash takes everything
	for _, set := range sets {
		put(int64(len(set)))
		for _, e := range set {
			put(int64(e.S.Len()))
			put(e.S.Raw())
			put(e.Truth.Raw())
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
