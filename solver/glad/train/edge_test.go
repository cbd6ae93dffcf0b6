package train_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// edgeTables are tables whose edges are drawn with the probability of |x| > 1, mostly, which
// no linear head tells; of the second input nothing depends.
func edgeTables(seed uint64, tables, pairs int) []train.EdgeTable {
	rng := rand.New(rand.NewPCG(seed, 3))
	all := make([]train.EdgeTable, tables)
	for k := range all {
		t := &all[k]
		t.Inputs = make([][]float64, 2)
		for range pairs {
			x := 7 + 3*rng.NormFloat64()
			chance := 0.05
			if math.Abs(x-7) > 3 {
				chance = 0.8
			}
			t.Inputs[0], t.Inputs[1] = append(t.Inputs[0], x), append(t.Inputs[1], 100*rng.NormFloat64())
			t.Edge, t.Weight = append(t.Edge, rng.Float64() < chance), append(t.Weight, 1)
		}
	}
	return all
}

// A head finds the probabilities that edges were drawn with, the same ones every time.
func TestFitEdges(t *testing.T) {
	inputs := glad.EdgeFeatures()[:2]
	s := train.EdgeSettings{Members: 2, Epochs: 30, Batch: 64, Units: 6, Seed: 3}
	last := 0
	s.Progress = func(train.EdgeProgress) { last++ }
	r, err := train.FitEdges(t.Context(), inputs, edgeTables(1, 20, 100), edgeTables(2, 10, 100), s)
	if err != nil {
		t.Fatal(err)
	}
	if last != 2*30 || r.Pairs != 2000 || len(r.Network.Layers[0].Bias) != 2*6 {
		t.Errorf("%d epochs, %+v", last, r)
	}
	// The entropy of the labels, .68 of them of chance .05 and .32 of .8.
	if r.Validation > 0.36 || r.Validation < 0.24 {
		t.Errorf("validation loss %v", r.Validation)
	}
	d := glad.NewEdgeDifferentiator(r.Network, 3)
	logits := make([]float64, 3)
	d.Loss([][]float64{{7, 1, 13}, {0, 0, 0}}, make([]bool, 3), make([]float64, 3), nil, logits)
	for k, want := range []float64{0.05, 0.8, 0.8} {
		if got := 1 / (1 + math.Exp(-logits[k])); math.Abs(got-want) > 0.12 {
			t.Errorf("probability %v, want %v", got, want)
		}
	}
	again, err := train.FitEdges(t.Context(), inputs, edgeTables(1, 20, 100), edgeTables(2, 10, 100), s)
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the same training gives another head: %v", err)
	}
}

func TestFitEdgesRefuses(t *testing.T) {
	none := edgeTables(1, 1, 10)
	clear(none[0].Edge)
	if _, err := train.FitEdges(t.Context(), glad.EdgeFeatures()[:2], none, none, train.EdgeSettings{}); !errors.Is(err, train.ErrNoEdges) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	some := edgeTables(1, 2, 50)
	if _, err := train.FitEdges(ctx, glad.EdgeFeatures()[:2], some, some, train.EdgeSettings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
