package association_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// everything computes all scores of samples, one after the other.
func everything(ctx context.Context, s association.Scorer, r *dense.Sym, rows []float64, d int) ([]*dense.Sym, error) {
	p, err := s.Decompose(ctx, r)
	if err != nil {
		return nil, err
	}
	var all []*dense.Sym
	for _, f := range []func(dst *dense.Sym) error{
		func(dst *dense.Sym) error { return p.Score(ctx, dst, association.Power) },
		func(dst *dense.Sym) error { return p.Score(ctx, dst, association.Logarithm) },
		func(dst *dense.Sym) error { _, err := s.PartialCorrelation(ctx, dst, r, 0.5); return err },
		func(dst *dense.Sym) error { return s.Information(ctx, dst, r) },
		func(dst *dense.Sym) error { return s.CLR(ctx, dst, r) },
		func(dst *dense.Sym) error { return s.Standardise(ctx, dst, r) },
	} {
		dst := dense.NewSym(d, nil)
		if err := f(dst); err != nil {
			return nil, err
		}
		all = append(all, dst)
	}
	mi, err := s.MutualInformation(ctx, rows, d)
	return append(all, mi), err
}

// Threads of gonum's kernels and of this package do not show in the bits.
func TestThreadsGiveTheSameBits(t *testing.T) {
	const n, d = 70, 90
	rows := samples(n, d, 5)
	r := correlation(t, rows, d, covariance.NormalScores)
	var first []*dense.Sym
	for _, threads := range []int{1, 2} {
		s := association.Scorer{Engine: dense.WithThreads(dense.Gonum{}, threads)}
		all, err := everything(t.Context(), s, r, rows, d)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = all
		}
		for i, a := range all {
			if !slices.Equal(a.Raw(), first[i].Raw()) {
				t.Errorf("score %d has other bits on %d threads", i, threads)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	const n, d = 20, 10
	rows := samples(n, d, 6)
	r := correlation(t, rows, d, covariance.Pearson)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := everything(ctx, association.Scorer{}, r, rows, d); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What is scored again and again allocates a few slices, whatever the number of pairs.
func TestScoresAllocateNoPairs(t *testing.T) {
	const n, d = 60, 50
	r := correlation(t, samples(n, d, 7), d, covariance.Pearson)
	s := association.Scorer{Engine: dense.WithThreads(dense.Gonum{}, 1)}
	p, err := s.Decompose(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	dst := dense.NewSym(d, nil)
	const few = 32
	for name, f := range map[string]func() error{
		"spectral":    func() error { return p.Score(t.Context(), dst, association.Logarithm) },
		"information": func() error { return s.Information(t.Context(), dst, r) },
		"clr":         func() error { return s.CLR(t.Context(), dst, r) },
		"standardise": func() error { return s.Standardise(t.Context(), dst, r) },
	} {
		var err error
		if got := testing.AllocsPerRun(3, func() { err = errors.Join(err, f()) }); got > few || err != nil {
			t.Errorf("%s: %v allocations, error %v", name, got, err)
		}
	}
}
