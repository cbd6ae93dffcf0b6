// Package association scores pairs of variables by how much they have to do with
// each other: rankings of the possible edges of a network without a precision matrix.
//
//	r, err := covariance.Estimate(ctx, source, d, covariance.Settings{Method: covariance.NormalScores})
//	if err != nil {
//		return err
//	}
//	var s association.Scorer
//	spectrum, err := s.Decompose(ctx, r.S)
//	if err != nil {
//		return err
//	}
//	score := dense.NewSym(d, nil)
//	if err = spectrum.Score(ctx, score, association.Logarithm); err != nil {
//		return err
//	}
//	if err = s.Information(ctx, score, score); err != nil {
//		return err
//	}
//	err = s.CLR(ctx, score, score)
//
// Correlations themselves, of the samples, of their ranks and of normal scores, are
// those of package covariance; the learned rankings are not here either.
//
// A matrix of scores is symmetric to the last bit, and its diagonal is 0: a variable
// is no pair. Methods work on as many goroutines as their engine has threads, with
// the same bits for any number of them, engines aside. When the context ends, they
// return its error, and what they were writing to, and a Spectrum, can no longer be
// used, or reused.
package association

import "github.com/gladflow/gladflow/solver/dense"

// A Scorer computes scores. The zero value is ready, and safe for concurrent use.
type Scorer struct {
	// Engine does the linear algebra. Default (nil): dense.Default().
	Engine dense.Engine
}

func (s Scorer) engine() dense.Engine {
	if s.Engine == nil {
		return dense.Default()
	}
	return s.Engine
}

func (s Scorer) threads() int { return dense.Threads(s.engine()) }
