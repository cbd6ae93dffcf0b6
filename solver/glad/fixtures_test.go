package glad

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

// A fixture is a case of glad_fixtures.json: Algorithm 1 by an independent
// implementation in float64, for several S at once.
type fixture struct {
	D          int            `json:"d"`
	K          int            `json:"K"`
	T          float64        `json:"t"`
	Rho        []fixtureLayer `json:"rho_nn"`
	Lambda     []fixtureLayer `json:"lambda_nn"`
	S          [][][]float64  `json:"S"`
	True       [][][]float64  `json:"theta_true"`
	Theta      [][][]float64  `json:"theta_K"`
	Z          [][][]float64  `json:"Z_K"`
	Lambdas    [][]float64    `json:"lambda_traj"` // by iteration, then S
	NMSETheta  float64        `json:"nmse_theta"`
	NMSEZ      float64        `json:"nmse_Z"`
	NMSEZSteps []float64      `json:"nmse_Z_per_k"`
	Losses     []struct {
		On       LossOn    `json:"on"`
		Gamma    float64   `json:"gamma"`
		Loss     float64   `json:"loss"`
		Gradient []float64 `json:"grad_flat"` // in the order of Model.Values
	} `json:"losses"`
}

type fixtureLayer struct {
	W [][]float64 `json:"W"`
	B []float64   `json:"b"`
}

func readFixtures(t *testing.T) []fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/glad_fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []fixture `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("the fixtures hold no case")
	}
	return file.Cases
}

func (f fixture) model() *Model {
	layers := func(from []fixtureLayer) (to []Layer) {
		for i, l := range from {
			activation := Tanh
			if i == len(from)-1 {
				activation = Sigmoid
			}
			to = append(to, Layer{Weights: l.W, Bias: l.B, Activation: activation})
		}
		return to
	}
	return &Model{
		Name: "fixture", Kind: GLAD, Iterations: f.K, Theta0Offset: f.T, Lambda0: 1,
		Rho:     Network{Inputs: []Feature{Theta, S, Z}, Layers: layers(f.Rho)},
		Lambda:  Network{Inputs: []Feature{Norm2, Lambda}, Layers: layers(f.Lambda)},
		Scaling: Scaling{Mode: ScalingNone},
	}
}

func fromRows(rows [][]float64) *dense.Sym {
	a := dense.NewSym(len(rows), nil)
	for i, row := range rows {
		for j := range i + 1 {
			// What another program computed may differ in the last bit.
			a.Set(i, j, (row[j]+rows[j][i])/2)
		}
	}
	return a
}

func distance(a, b *dense.Sym) float64 {
	var worst float64
	for i, v := range a.Raw() {
		worst = max(worst, math.Abs(v-b.Raw()[i]))
	}
	return worst
}

// nmse adds ‖A − B‖²F and ‖B‖²F: the paper's NMSE is 10·log10 of the ratio of
// their sums over graphs.
type nmse struct{ off, norm float64 }

func (n *nmse) add(a, b *dense.Sym) {
	for i, v := range b.Raw() {
		n.off += (a.Raw()[i] - v) * (a.Raw()[i] - v)
		n.norm += v * v
	}
}

func (n *nmse) decibel() float64 { return 10 * math.Log10(n.off/n.norm) }

// testEngines are the engines of this machine.
func testEngines() []dense.Engine {
	engines := []dense.Engine{dense.Gonum{}}
	if e, err := dense.Open("openblas"); err == nil {
		engines = append(engines, e)
	}
	return engines
}

func TestFixtures(t *testing.T) {
	// The entries are of order one and 30 iterations of a contraction do not
	// build rounding up: measured differences are below 1e-13.
	const tolerance = 1e-11
	for _, f := range readFixtures(t) {
		for _, engine := range testEngines() {
			t.Run(fmt.Sprintf("d=%d,K=%d/%s", f.D, f.K, engine.Name()), func(t *testing.T) {
				s := Solver{Model: f.model(), Backend: CPU{Engine: engine}}
				theta, z, steps := nmse{}, nmse{}, make([]nmse, f.K)
				for g, rows := range f.S {
					truth := fromRows(f.True[g])
					seen := 0
					est, err := s.Trajectory(context.Background(), solver.Problem{S: fromRows(rows)}, func(s Step) {
						seen++
						if s.Iteration != seen {
							t.Fatalf("step %d comes as number %d", s.Iteration, seen)
						}
						if want := f.Lambdas[seen-1][g]; math.Abs(s.Lambda-want) > tolerance {
							t.Errorf("graph %d: λ_%d = %v, want %v", g, seen, s.Lambda, want)
						}
						_, z := pairOf(t, s)
						steps[seen-1].add(z, truth)
					})
					if err != nil {
						t.Fatal(err)
					}
					if est.Status != solver.Completed || est.Iterations != f.K || seen != f.K {
						t.Errorf("graph %d: %v after %d iterations, %d of them observed", g, est.Status, est.Iterations, seen)
					}
					if got := distance(est.Precision, fromRows(f.Theta[g])); got > tolerance {
						t.Errorf("graph %d: Θ_K is off by %g", g, got)
					}
					if got := distance(est.Support, fromRows(f.Z[g])); got > tolerance {
						t.Errorf("graph %d: Z_K is off by %g", g, got)
					}
					if a := est.Support.Asymmetry(); a != 0 {
						t.Errorf("graph %d: Z_K is asymmetric by %g", g, a)
					}
					theta.add(est.Precision, truth)
					z.add(est.Support, truth)
				}
				check := func(what string, got, want float64) {
					if math.Abs(got-want) > 1e-10 {
						t.Errorf("NMSE of %s is %v dB, want %v", what, got, want)
					}
				}
				check("Θ_K", theta.decibel(), f.NMSETheta)
				check("Z_K", z.decibel(), f.NMSEZ)
				for k := range steps {
					check(fmt.Sprintf("Z_%d", k+1), steps[k].decibel(), f.NMSEZSteps[k])
				}
			})
		}
	}
}

func TestParametersOfThePaper(t *testing.T) {
	if got := paperModel(rand.New(rand.NewPCG(1, 1)), 30).Parameters(); got != 54 {
		t.Errorf("%d parameters, want 40 + 13 + t = 54", got)
	}
}
