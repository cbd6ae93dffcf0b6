package card

import (
	"slices"
	"strconv"
)

// InputCovariance is the word of Card.Input for covariances in the units of the
// variables.
const InputCovariance = "covariance"

// Inputs lists the words of Card.Input: covariances, and correlations by the names
// that package covariance gives to them.
func Inputs() []string {
	return []string{InputCovariance, "pearson", "spearman", "nonparanormal", "normal-scores"}
}

// OnCovariances and OnCorrelations say whether training data were of that kind. Both
// are false where the file does not say.
func (c Card) OnCovariances() bool { return slices.Contains(c.Input, InputCovariance) }

// OnCorrelations is beside OnCovariances.
func (c Card) OnCorrelations() bool {
	return slices.ContainsFunc(c.Input, func(word string) bool { return word != InputCovariance })
}

// A Range says how large training data were, from the smallest to the largest.
type Range struct {
	// Dimension is that of d, Samples that of M.
	Dimension Span `json:"dimension,omitzero"`
	Samples   Span `json:"samples,omitzero"`
	// Ratio is that of d/M of one example.
	Ratio Span `json:"ratio,omitzero"`
}

// A Span is the least and the most of a positive quantity. Zero means unknown.
type Span [2]float64

// Known says whether s says anything.
func (s Span) Known() bool { return s != Span{} }

// Add widens s to hold v, which is positive.
func (s *Span) Add(v float64) {
	if !s.Known() {
		*s = Span{v, v}
		return
	}
	s[0], s[1] = min(s[0], v), max(s[1], v)
}

// Beyond is by which factor v lies outside of s: 1 where it lies inside, or s is not
// known; above 1 where v is too large, below 1 where it is too small.
func (s Span) Beyond(v float64) float64 {
	switch {
	case !s.Known():
		return 1
	case v > s[1]:
		return v / s[1]
	case v < s[0]:
		return v / s[0]
	}
	return 1
}

// String is "5 to 400", or "100" where both ends are one.
func (s Span) String() string {
	if s[0] == s[1] {
		return digits(s[0])
	}
	return digits(s[0]) + " to " + digits(s[1])
}

// digits are three, or those before the point.
func digits(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Add widens r to hold an example of d variables and m samples; m is 0 where it is not
// known.
func (r *Range) Add(d, m int) {
	r.Dimension.Add(float64(d))
	if m > 0 {
		r.Samples.Add(float64(m))
		r.Ratio.Add(float64(d) / float64(m))
	}
}

// TrainedOn is Range or, for a file that does not have it, what Dimension and Samples
// say. A file with one of them only says too little: zero.
func (c Card) TrainedOn() Range {
	r := c.Range
	if r != (Range{}) || len(c.Dimension) == 0 {
		return r
	}
	for _, d := range c.Dimension {
		for _, m := range c.Samples {
			if d > 0 && m > 0 {
				r.Add(d, m)
			}
		}
	}
	return r
}
