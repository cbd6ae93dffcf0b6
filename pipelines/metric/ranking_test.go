package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestRankClosedForms(t *testing.T) {
	yes := func(pattern string) []bool {
		b := make([]bool, len(pattern))
		for i, c := range pattern {
			b[i] = c == '+'
		}
		return b
	}
	tests := []struct {
		name                    string
		scores                  []float64
		positive                []bool
		auroc, aupr, mean, step float64
	}{
		{"perfect", []float64{4, 3, 2, 1}, yes("++--"), 1, 1, 1, 1},
		{"worst", []float64{1, 2, 3, 4}, yes("++--"), 0, (0 + 1./3 + 1./3 + 2./4) / 4, (1./3 + 2./4) / 2, (1./3 + 2./4) / 2},
		// A constant score leaves one tied group: the average precision of a
		// random order is above the prevalence, here (1 + 1/2 + 1/3 + 1/4)/4.
		{"constant, one positive", []float64{7, 7, 7, 7}, yes("+---"), 0.5, 0.25, (1 + 1./2 + 1./3 + 1./4) / 4, 0.25},
		{"constant, half", []float64{0, 0, 0, 0}, yes("++--"), 0.5, 0.5, (1 + 5./6 + 3./4 + 7./12 + 1./2 + 5./12) / 6, 0.5},
		{"tie at the top", []float64{1, 1}, yes("+-"), 0.5, 0.5, 0.75, 0.5},
		{"infinite scores", []float64{math.Inf(1), 0, math.Inf(-1)}, yes("+--"), 1, 1, 1, 1},
		{"negative zero ties with zero", []float64{math.Copysign(0, -1), 0}, yes("+-"), 0.5, 0.5, 0.75, 0.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Rank(tt.scores, tt.positive)
			if err != nil {
				t.Fatal(err)
			}
			got := [4]float64{r.AUROC, r.AUPR, r.AveragePrecision, r.StepAveragePrecision}
			want := [4]float64{tt.auroc, tt.aupr, tt.mean, tt.step}
			for i := range got {
				if !(math.Abs(got[i]-want[i]) <= rounding) {
					t.Errorf("got %v, want %v", got, want)
					break
				}
			}
		})
	}
}

func TestEarlyPrecision(t *testing.T) {
	for _, tt := range []struct {
		scores       []float64
		positive     []bool
		early, ratio float64
	}{
		{[]float64{4, 3, 2, 1}, []bool{true, true, false, false}, 1, 2},
		{[]float64{4, 3, 2, 1}, []bool{false, true, true, false}, 0.5, 1},
		{[]float64{1, 2, 3, 4}, []bool{true, true, false, false}, 0, 0},
		// The second of the best two is one of three, one of them positive.
		{[]float64{4, 2, 2, 2, 1}, []bool{true, true, false, false, false}, (1 + 1./3) / 2, (1 + 1./3) / 2 * 5 / 2},
		{[]float64{0, 0, 0, 0, 0}, []bool{true, true, false, false, false}, 2. / 5, 1},
	} {
		r, err := Rank(tt.scores, tt.positive)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.EarlyPrecision-tt.early) > rounding || math.Abs(r.EarlyPrecisionRatio()-tt.ratio) > rounding {
			t.Errorf("%v, %v: early precision %v, ratio %v, want %v and %v", tt.scores, tt.positive, r.EarlyPrecision, r.EarlyPrecisionRatio(), tt.early, tt.ratio)
		}
	}
}

func TestRankRefuses(t *testing.T) {
	tests := []struct {
		name     string
		scores   []float64
		positive []bool
		message  string
	}{
		{"lengths", []float64{1}, []bool{true, false}, "one score a pair"},
		{"nothing", nil, nil, "needs positives and negatives"},
		{"no positive", []float64{1, 2}, []bool{false, false}, "needs positives and negatives"},
		{"no negative", []float64{1, 2}, []bool{true, true}, "needs positives and negatives"},
		{"NaN", []float64{1, math.NaN()}, []bool{true, false}, "pair 1 is NaN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Rank(tt.scores, tt.positive)
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want one with %q", err, tt.message)
			}
		})
	}
}

// random draws scores of n pairs, of which about 1.4 % are positive as on the
// E. coli network; a share of them ties at zero.
func random(n int, tied float64) ([]float64, []bool) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores, positive := make([]float64, n), make([]bool, n)
	for i := range n {
		positive[i] = rng.Float64() < 0.014
		if rng.Float64() >= tied {
			scores[i] = rng.Float64()
		}
	}
	return scores, positive
}

func BenchmarkRank(b *testing.B) {
	for _, n := range []int{152280, 583740} {
		for _, tied := range []float64{0, 0.95} {
			b.Run(fmt.Sprintf("pairs=%d/tied=%v", n, tied), func(b *testing.B) {
				scores, positive := random(n, tied)
				for b.Loop() {
					if _, err := Rank(scores, positive); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func ExampleRank() {
	scores := []float64{0.9, 0.8, 0.8, 0.1}
	positive := []bool{true, true, false, false}
	r, err := Rank(scores, positive)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AUROC %.3f, AUPR %.3f\n", r.AUROC, r.AUPR)
	// Output: AUROC 0.875, AUPR 0.896
}

// sameFigures compares all that does not depend on the values of the scores.
func sameFigures(a, b Ranking) bool {
	a.pos, a.neg, b.pos, b.neg = nil, nil, nil, nil
	return reflect.DeepEqual(a, b)
}

func TestGroups(t *testing.T) {
	r, err := Rank([]float64{1, 3, 1, 2, 1, math.Inf(-1)}, []bool{true, true, false, false, true, false})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int
	for positives, negatives := range r.Groups() {
		got = append(got, [2]int{positives, negatives})
	}
	if want := [][2]int{{1, 0}, {0, 1}, {2, 1}, {0, 1}}; !slices.Equal(got, want) {
		t.Errorf("groups %v, want %v", got, want)
	}
	for range r.Groups() {
		break // a figure of the best pairs needs no more
	}
}
