package train

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/association/ranking"
)

// drawn are tables whose edges are drawn with the probabilities of p.
func drawn(p ranking.Probability, seed uint64, tables, pairs int) []Scored {
	rng := rand.New(rand.NewPCG(seed, 4))
	all := make([]Scored, tables)
	for k := range all {
		s := &all[k]
		s.Variables, s.Samples = 20+rng.IntN(300), 20+rng.IntN(900)
		for range pairs {
			score := 2 * rng.NormFloat64()
			s.Scores = append(s.Scores, score)
			s.Edge = append(s.Edge, rng.Float64() < p.Of(score, s.Variables, s.Samples))
		}
	}
	return all
}

// Calibrate finds the probabilities that edges were drawn with, and Calibration that
// they hold; other probabilities do not.
func TestCalibrate(t *testing.T) {
	truth := ranking.Probability{Intercept: -1, Score: 1.2, Variables: -0.7, Samples: 0.3}
	p, err := Calibrate(drawn(truth, 1, 200, 500))
	if err != nil {
		t.Fatal(err)
	}
	// The standard errors are about .01, .007, .012 and .011.
	for _, c := range [][2]float64{{p.Intercept, truth.Intercept}, {p.Score, truth.Score}, {p.Variables, truth.Variables}, {p.Samples, truth.Samples}} {
		if math.Abs(c[0]-c[1]) > 0.05 {
			t.Errorf("%+v, want %+v", p, truth)
		}
	}
	fresh := drawn(truth, 2, 200, 500)
	bins, expected := Calibration(p, fresh)
	pairs := 0
	for _, b := range bins {
		pairs += b.Pairs
		if b.Pairs > 1000 && math.Abs(b.Said-b.Held) > 0.05 {
			t.Errorf("%+v", b)
		}
	}
	if pairs != 200*500 || expected > 0.02 {
		t.Errorf("%d pairs, expected error %v", pairs, expected)
	}
	if _, expected = Calibration(ranking.Probability{Intercept: 1, Score: 1.2}, fresh); expected < 0.1 {
		t.Errorf("probabilities that are far too high have the error %v", expected)
	}
}

// Scores that are the wrong way round have no probabilities.
func TestCalibrateRefuses(t *testing.T) {
	wrong := drawn(ranking.Probability{Score: 1}, 3, 10, 200)
	for _, s := range wrong {
		for i := range s.Scores {
			s.Scores[i] = -s.Scores[i]
		}
	}
	if p, err := Calibrate(wrong); !errors.Is(err, ErrUncertain) {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := Calibrate(nil); !errors.Is(err, ErrUncertain) {
		t.Errorf("of nothing: %+v, %v", p, err)
	}
}
