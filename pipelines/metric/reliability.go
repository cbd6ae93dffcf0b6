package metric

import (
	"fmt"
	"math"
)

// ReliabilityBins is the number of bins of a Reliability, of equal width.
const ReliabilityBins = 10

// A Reliability gathers how well probabilities hold: what they say of pairs against whether
// these are edges. The zero value is ready to use. Every pair weighs the same.
type Reliability struct {
	bins   [ReliabilityBins]ReliabilityBin
	pairs  int
	square float64 // Σ (probability − edge)²
}

// A ReliabilityBin is the pairs whose probability lies in one tenth of [0, 1].
type ReliabilityBin struct {
	// Pairs is their number.
	Pairs int
	// Said is the mean of their probabilities, Held the share of edges; NaN of no pair.
	Said, Held float64
}

// Add takes a pair: the probability that it is an edge, and whether it is. A number outside
// [0, 1] is an error.
func (r *Reliability) Add(probability float64, edge bool) error {
	if !(probability >= 0 && probability <= 1) {
		return fmt.Errorf("%v is no probability; it must be from 0 to 1", probability)
	}
	held := 0.0
	if edge {
		held = 1
	}
	b := &r.bins[min(ReliabilityBins-1, int(probability*ReliabilityBins))]
	b.Pairs++
	b.Said += probability
	b.Held += held
	r.pairs++
	r.square += (probability - held) * (probability - held)
	return nil
}

// Merge adds the pairs of other.
func (r *Reliability) Merge(other *Reliability) {
	for k, b := range other.bins {
		r.bins[k].Pairs += b.Pairs
		r.bins[k].Said += b.Said
		r.bins[k].Held += b.Held
	}
	r.pairs += other.pairs
	r.square += other.square
}

// Pairs is the number of pairs added.
func (r *Reliability) Pairs() int { return r.pairs }

// Bins are the tenths from [0, .1) to [.9, 1].
func (r *Reliability) Bins() [ReliabilityBins]ReliabilityBin {
	bins := r.bins
	for k := range bins {
		bins[k].Said /= float64(bins[k].Pairs)
		bins[k].Held /= float64(bins[k].Pairs)
	}
	return bins
}

// ExpectedError is the expected calibration error: the mean of |Said − Held| over bins,
// weighted by their pairs (Naeini, Cooper and Hauskrecht, AAAI 2015). NaN of no pair.
func (r *Reliability) ExpectedError() float64 {
	var sum float64
	for _, b := range r.bins {
		sum += math.Abs(b.Said - b.Held)
	}
	return sum / float64(r.pairs)
}

// Brier is the mean of (probability − edge)², the lower the better (Brier, Monthly Weather
// Review 78 (1950), for two outcomes counted once). NaN of no pair.
func (r *Reliability) Brier() float64 { return r.square / float64(r.pairs) }
