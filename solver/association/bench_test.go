package association_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// BenchmarkScores takes 500 samples of 1000 variables.
func BenchmarkScores(b *testing.B) {
	const n, d = 500, 1000
	rows := samples(n, d, 1)
	r := correlation(b, rows, d, covariance.NormalScores)
	dst := dense.NewSym(d, nil)
	for _, threads := range []int{1, 2} {
		s := association.Scorer{Engine: dense.WithThreads(dense.Default(), threads)}
		p, err := s.Decompose(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name string
			f    func(ctx context.Context) error
		}{
			{"normal scores", func(ctx context.Context) error {
				_, err := covariance.Estimate(ctx, covariance.NewTable(rows, d), d, covariance.Settings{Method: covariance.NormalScores, Engine: s.Engine})
				return err
			}},
			{"decompose", func(ctx context.Context) error { _, err := s.Decompose(ctx, r); return err }},
			{"spectral", func(ctx context.Context) error { return p.Score(ctx, dst, association.Logarithm) }},
			{"partial correlation", func(ctx context.Context) error { _, err := s.PartialCorrelation(ctx, dst, r, 0.5); return err }},
			{"information", func(ctx context.Context) error { return s.Information(ctx, dst, r) }},
			{"clr", func(ctx context.Context) error { return s.CLR(ctx, dst, r) }},
			{"standardise", func(ctx context.Context) error { return s.Standardise(ctx, dst, r) }},
			{"mutual information", func(ctx context.Context) error { _, err := s.MutualInformation(ctx, rows, d); return err }},
		} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				for b.Loop() {
					if err := c.f(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
