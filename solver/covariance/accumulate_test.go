package covariance_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// A keeper is an engine that keeps sums, in memory of its own, once from samples are
// known.
type keeper struct {
	dense.Gonum
	from         int
	begun, ended int
	scaled       int
	fails        string // the method that does
}

var errKeeper = errors.New("the keeper is lost")

type kept struct {
	*keeper
	n    int
	sums []float64
}

func (k *keeper) Accumulate(_ context.Context, n, _, known int, sums []float64) (dense.Accumulator, error) {
	if k.fails == "Accumulate" {
		return nil, errKeeper
	}
	if known < k.from {
		return nil, nil
	}
	k.begun++
	a := &kept{keeper: k, n: n, sums: make([]float64, n*n)}
	copy(a.sums, sums)
	return a, nil
}

func (k *kept) fail(method string) error {
	if k.fails == method {
		return errKeeper
	}
	return nil
}

func (k *kept) Scale(_ context.Context, factor []float64) error {
	k.scaled++
	for i := range k.n {
		for j := range k.n {
			k.sums[i*k.n+j] *= factor[i] * factor[j]
		}
	}
	return k.fail("Scale")
}

func (k *kept) Add(_ context.Context, rows int, x []float64) error {
	k.Syrk(true, k.n, rows, 1, x, k.n, 1, k.sums, k.n)
	return k.fail("Add")
}

func (k *kept) Sum(_ context.Context, sums []float64) error {
	copy(sums, k.sums)
	return k.fail("Sum")
}

func (k *kept) Close() error {
	k.ended++
	return k.fail("Close")
}

// growing has columns whose scale is raised on the way.
func growing(m, d int) []float64 {
	rows := normalTable(5, m, d)
	for i := range rows {
		rows[i] *= 1 + float64(i)/100
	}
	return rows
}

// An engine that keeps the sums gets what the CPU multiplies, to the last bit, wherever it
// takes them over.
func TestSumsKeptElsewhere(t *testing.T) {
	const m, d = 1100, 5
	rows := growing(m, d)
	for _, s := range []covariance.Settings{{}, {Method: covariance.Covariance}, {Method: covariance.Nonparanormal}, {LedoitWolf: true}} {
		s.Engine = dense.Gonum{}
		want := estimate(t, rows, d, s)
		for _, from := range []int{0, 300, 1100, 1101} {
			k := &keeper{from: from}
			s.Engine = k
			got := estimate(t, rows, d, s)
			begun := 1
			if from > m {
				begun = 0
			}
			if k.begun != begun || k.ended != begun {
				t.Errorf("from %d: begun %d times, ended %d", from, k.begun, k.ended)
			}
			if s.Method == covariance.Pearson && from == 0 && k.scaled == 0 {
				t.Error("sums were never rescaled")
			}
			for i, v := range want.S.Raw() {
				if got.S.Raw()[i] != v {
					t.Fatalf("%v, from %d: entry %d is %v, want %v", s.Method, from, i, got.S.Raw()[i], v)
				}
			}
			for j, v := range want.StdDevs {
				if got.StdDevs[j] != v || got.Means[j] != want.Means[j] {
					t.Fatalf("%v, from %d: variable %d has the deviation %v, want %v", s.Method, from, j, got.StdDevs[j], v)
				}
			}
		}
	}
}

// Its errors are told, and it is closed once, also where the samples or ctx end the
// estimate.
func TestKeeperFails(t *testing.T) {
	const d = 3
	rows := growing(1000, d)
	for _, method := range []string{"Accumulate", "Scale", "Add", "Sum", "Close"} {
		for _, m := range []covariance.Method{covariance.Pearson, covariance.Spearman} {
			if m == covariance.Spearman && method == "Scale" {
				continue // ranks need not be rescaled
			}
			k := &keeper{fails: method}
			r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, d), d, covariance.Settings{Method: m, Engine: k})
			if r != nil || !errors.Is(err, errKeeper) || k.begun != k.ended {
				t.Errorf("%s, %v: %v; begun %d times, ended %d", method, m, err, k.begun, k.ended)
			}
		}
	}
	broken := errors.New("broken pipe")
	given := false
	src := sourceFunc(func() ([]float64, int, error) {
		if given {
			return nil, 0, broken
		}
		given = true
		return rows, 1000, nil
	})
	k := &keeper{}
	if _, err := covariance.Estimate(t.Context(), src, d, covariance.Settings{Engine: k}); !errors.Is(err, broken) || k.begun != 1 || k.ended != 1 {
		t.Errorf("%v; begun %d times, ended %d", err, k.begun, k.ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	k = &keeper{}
	src = sourceFunc(func() ([]float64, int, error) {
		if k.begun > 0 {
			cancel()
		}
		return rows, 1000, nil
	})
	if _, err := covariance.Estimate(ctx, src, d, covariance.Settings{Engine: k}); !errors.Is(err, context.Canceled) || k.begun != 1 || k.ended != 1 {
		t.Errorf("%v; begun %d times, ended %d", err, k.begun, k.ended)
	}
}
