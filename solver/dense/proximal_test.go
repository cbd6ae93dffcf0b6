package dense

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Θ minimises −log det Θ + (λ/2)‖Θ + Y‖²F where Θ⁻¹ = λ(Θ + Y).
func TestLogDetProx(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		lambda := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log λ"))
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		y := NewSym(n, nil)
		for i := range n {
			for j := range i + 1 {
				y.Set(i, j, r.NormFloat64())
			}
		}
		w := NewWorkspace(Gonum{}, n)
		theta, inverse := NewSym(n, nil), NewSym(n, nil)
		values, phi := make([]float64, n), make([]float64, n)
		if err := w.LogDetProx(theta, y, lambda, 0, values, phi, make([]float64, n*n)); err != nil {
			t.Fatal(err)
		}
		if _, ok := w.Inverse(inverse, theta); !ok {
			t.Fatal("Θ is not positive definite")
		}
		var size float64
		for _, v := range inverse.Raw() {
			size = max(size, math.Abs(v))
		}
		for i, v := range inverse.Raw() {
			if want := lambda * (theta.Raw()[i] + y.Raw()[i]); math.Abs(v-want) > 1e-9*size {
				t.Fatalf("Θ⁻¹ has %v where λ(Θ + Y) has %v", v, want)
			}
		}
		// In place, on the storage of y.
		again := y.Clone()
		if err := w.LogDetProx(theta, again, lambda, 0, values, values, again.Raw()); err != nil {
			t.Fatal(err)
		}
		for i, v := range phi {
			if values[i] != v {
				t.Errorf("in place eigenvalue %d is %v, want %v", i, values[i], v)
			}
		}
	})
}

func TestLogDetProxValues(t *testing.T) {
	// Where y is large and positive, the textbook formula cancels to 0; where
	// it overflows, so would its square.
	values := []float64{-1e200, 0, 1e9}
	phi := make([]float64, 3)
	LogDetProxValues(phi, values, 4, 0)
	for i, want := range []float64{1e200, 0.5, 0.25e-9} {
		if math.Abs(phi[i]/want-1) > 1e-15 {
			t.Errorf("φ(%v) = %v, want %v", values[i], phi[i], want)
		}
	}
	LogDetProxValues(phi, values, 4, 1e-10)
	for i, want := range []float64{1e200, 1e190, 1e190} {
		if math.Abs(phi[i]/want-1) > 1e-15 {
			t.Errorf("with a floor φ(%v) = %v, want %v", values[i], phi[i], want)
		}
	}
}

func TestSoftThreshold(t *testing.T) {
	for _, c := range []struct{ x, t, want float64 }{
		{3, 1, 2}, {-3, 1, -2}, {1, 1, 0}, {-1, 1, 0}, {-0.5, 1, 0}, {math.Copysign(0, -1), 0, 0},
		{2, 0, 2}, {-2, -1, -3}, {1, math.Inf(1), 0},
	} {
		if got := SoftThreshold(c.x, c.t); got != c.want || got == 0 && math.Signbit(got) {
			t.Errorf("SoftThreshold(%v, %v) = %v, want %v", c.x, c.t, got, c.want)
		}
	}
	if got := SoftThreshold(1, math.NaN()); !math.IsNaN(got) {
		t.Errorf("a threshold of NaN gives %v", got)
	}
}

func TestAwaitLong(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ran := false
	if err := AwaitLong(ctx, LongFrom-1, func() { ran = true }); err != nil || !ran {
		t.Errorf("a short kernel ran: %v, %v", ran, err)
	}
	if err := AwaitLong(ctx, LongFrom, func() { t.Error("a long kernel ran after the end of ctx") }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
