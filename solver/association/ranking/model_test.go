package ranking_test

import (
	"bytes"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/association/ranking"
)

// A built-in model is what its file says, bit by bit.
func TestBuiltin(t *testing.T) {
	for _, name := range ranking.BuiltinNames() {
		m, err := ranking.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != name || !m.Card.Trained || m.Card.Command == "" || m.Parameters() == 0 {
			t.Errorf("%s: %+v", name, m.Card)
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile("models/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file, b.Bytes()) {
			t.Errorf("%s is written otherwise than it was read", name)
		}
		again, err := ranking.Read(&b)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Errorf("%s is read otherwise than it was written: %v", name, err)
		}
	}
	if _, err := ranking.Builtin("nothing"); err == nil || !strings.Contains(err.Error(), ranking.DefaultModelName) {
		t.Errorf("%v", err)
	}
}

// What is wrong with a file is said with the name of the key.
func TestReadRefuses(t *testing.T) {
	file, err := os.ReadFile("models/" + ranking.DefaultModelName + ".json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"gladflow.ranking"`, `"gladflow.model"`, `format: is "gladflow.model"`},
		{`"version": 1`, `"version": 2`, "version: is 2"},
		{`"name": "gene"`, `"name": ""`, "name: is empty"},
		{`"correlation"`, `"covariance"`, `inputs[0]: "covariance" is unknown`},
		{`"correlation-clr"`, `"correlation"`, `inputs[1]: "correlation" is named twice`},
		{`"log-samples"`, `"samples"`, `context[0]: "samples" is unknown`},
		{`"bound": 8`, `"bound": 0`, "bound: is 0"},
		{`"bound": 8`, `"bounds": 8`, "bounds: is not a key"},
		{`"mean": [`, `"mean": [1, `, "mean: has 11 values; 10 are needed"},
		{`"deviation": [`, `"deviation": [-1, `, "deviation: has 11 values"},
		{`"bias": [`, `"bias": [1e999, `, "networks[0].bias[0]: is 1e999"},
		{`"output": [`, `"output": [0, `, "networks[0].output: has 17 values; 16 are needed"},
		{`"trained": true`, `"trained": 1`, "card.trained: must be true or false"},
		{`"intercept"`, `"slope"`, "probability.slope: is not a key"},
	} {
		text := strings.Replace(string(file), c.from, c.to, 1)
		if text == string(file) {
			t.Fatalf("%s is not in the file", c.from)
		}
		if _, err := ranking.Read(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "model: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: %v, want %s", c.to, c.from, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	file, err := os.ReadFile("models/" + ranking.DefaultModelName + ".json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte(`{"format": "gladflow.ranking", "version": 1, "networks": [{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ranking.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := m.Write(&bytes.Buffer{}); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}

func TestValidate(t *testing.T) {
	good := func() *ranking.Model {
		m, err := ranking.Builtin(ranking.DefaultModelName)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for want, spoil := range map[string]func(m *ranking.Model){
		"inputs: is empty":                   func(m *ranking.Model) { m.Inputs = nil },
		"networks: is empty":                 func(m *ranking.Model) { m.Networks = nil },
		"networks[1].weights: is empty":      func(m *ranking.Model) { m.Networks[1].Weights = nil },
		"networks[1].weights[2]: has 1":      func(m *ranking.Model) { m.Networks[1].Weights[2] = []float64{1} },
		"networks[0].output_bias[0]: is NaN": func(m *ranking.Model) { m.Networks[0].OutputBias = math.NaN() },
		"deviation[3]: is 0":                 func(m *ranking.Model) { m.Deviation[3] = 0 },
		"probability.score: is -1":           func(m *ranking.Model) { m.Probability.Score = -1 },
		"probability.samples: is +Inf":       func(m *ranking.Model) { m.Probability.Samples = math.Inf(1) },
		"card.steps: is -1":                  func(m *ranking.Model) { m.Card.Steps = -1 },
	} {
		m := good()
		spoil(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := m.Write(&bytes.Buffer{}); err == nil {
			t.Errorf("%s: it is written", want)
		}
	}
}

// A probability rises with the score.
func TestProbability(t *testing.T) {
	p := ranking.Probability{Intercept: -3, Score: 1, Variables: -0.9, Samples: 0.1}
	if got, want := p.Of(2, 100, 100), 1/(1+math.E); math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := p.Of(2, 1000, 10), 1/(1+math.Exp(1+1*math.Ln10)); math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if low, high := p.Of(-1e6, 5, 5), p.Of(1e6, 5, 5); low != 0 || high != 1 {
		t.Errorf("%v and %v", low, high)
	}
}
