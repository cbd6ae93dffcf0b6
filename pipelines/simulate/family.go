package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/solver/dense"
)

// Symmetrisations of a Family: how the draws of a weight and of its mirror image
// make one number.
const (
	// Sym takes one draw for both, so weights are uniform.
	Sym = "sym"
	// Avg draws every entry of the matrix, keeps those at edges and takes
	// (A+Aᵀ)/2, so weights have the triangular distribution of a mean of two.
	Avg = "avg"
)

// A Family is a distribution over precision matrices: a random graph, weights at
// its edges, a diagonal that makes the matrix positive definite and, if asked for,
// variables on scales of their own. Fields that are zero are their defaults; those
// of other graphs than Graph do not count.
type Family struct {
	// Graph is one of Graphs; there is no default.
	Graph string `json:"graph"`
	// Dimension is d, the number of variables; there is no default.
	Dimension int `json:"dimension"`
	// Density is the probability of an edge: between any two variables for er
	// (default 0.1), within a block for block (default 0.3).
	Density float64 `json:"density,omitzero"`
	// Links is the number of edges that each new variable of scale-free brings
	// (default 1).
	Links int `json:"links,omitzero"`
	// Groups is the number of hubs or blocks (default d/20, at least 1).
	Groups int `json:"groups,omitzero"`
	// Bandwidth is the number of neighbours on each side of band (default 2).
	Bandwidth int `json:"bandwidth,omitzero"`
	// Neighbours is how many variables each of small-world is joined with on the
	// ring, half of them on each side: even, and below d (default 4, or what fits).
	Neighbours int `json:"neighbours,omitzero"`
	// Rewiring is the probability that an edge of small-world leaves the ring
	// (default 0.1).
	Rewiring float64 `json:"rewiring,omitzero"`
	// WeightLow and WeightHigh are the range [low, high) of uniform draws; both
	// zero are [-1, 1).
	WeightLow  float64 `json:"weight_low,omitzero"`
	WeightHigh float64 `json:"weight_high,omitzero"`
	// Symmetrisation is Sym (the default) or Avg.
	Symmetrisation string `json:"symmetrisation,omitzero"`
	// SmallestEigenvalue is that of Θ before the variables are rescaled: one
	// number on the whole diagonal brings it there (default 1).
	SmallestEigenvalue float64 `json:"smallest_eigenvalue,omitzero"`
	// ScaleLow and ScaleHigh rescale the variables, Θ → DΘD with a diagonal D of
	// draws from [low, high); both zero leave Θ as it is.
	ScaleLow  float64 `json:"scale_low,omitzero"`
	ScaleHigh float64 `json:"scale_high,omitzero"`
	// ScaleSpread rescales them instead by factors whose logarithm is drawn from
	// [-spread, spread), at most MostSpread; zero leaves Θ as it is.
	ScaleSpread float64 `json:"scale_spread,omitzero"`
}

// MostSpread is the largest Family.ScaleSpread: factors from 1/22026 to 22026.
const MostSpread = 10

// A FieldError says which field of a Family is wrong and why.
type FieldError struct {
	// Field is the name in JSON, such as weight_low.
	Field string
	// Reason is a sentence that says what to write instead.
	Reason string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Validate reports the first field that is wrong, as a *FieldError.
func (f Family) Validate() error {
	wrong := func(field, format string, args ...any) error {
		return &FieldError{field, fmt.Sprintf(format, args...)}
	}
	for _, v := range []struct {
		field string
		value float64
	}{
		{"density", f.Density},
		{"weight_low", f.WeightLow},
		{"weight_high", f.WeightHigh},
		{"smallest_eigenvalue", f.SmallestEigenvalue},
		{"scale_low", f.ScaleLow},
		{"scale_high", f.ScaleHigh},
		{"scale_spread", f.ScaleSpread},
		{"rewiring", f.Rewiring},
	} {
		if math.IsNaN(v.value) || math.IsInf(v.value, 0) {
			return wrong(v.field, "%v is not finite; give a finite number", v.value)
		}
	}
	switch {
	case !slices.Contains(Graphs(), f.Graph):
		return wrong("graph", "%q is unknown; choose from %s", f.Graph, strings.Join(Graphs(), ", "))
	case f.Dimension < 1:
		return wrong("dimension", "%d variables are too few; give at least 1", f.Dimension)
	case f.Density < 0 || f.Density > 1:
		return wrong("density", "%v is no probability; give a number from 0 to 1", f.Density)
	case f.Links < 0:
		return wrong("links", "%d is negative; give at least 1", f.Links)
	case f.Groups < 0:
		return wrong("groups", "%d is negative; give at least 1", f.Groups)
	case f.Groups > f.Dimension:
		return wrong("groups", "%d variables cannot make %d groups; give at most %[1]d", f.Dimension, f.Groups)
	case f.Bandwidth < 0:
		return wrong("bandwidth", "%d is negative; give at least 1", f.Bandwidth)
	case f.Neighbours < 0:
		return wrong("neighbours", "%d is negative; give an even number of at least 2", f.Neighbours)
	case f.Neighbours%2 != 0:
		return wrong("neighbours", "%d is odd, and half of the neighbours stand on each side; give an even number", f.Neighbours)
	case f.Neighbours > 0 && f.Neighbours >= f.Dimension:
		return wrong("neighbours", "a variable of %d has no %d neighbours; give fewer, or more variables", f.Dimension, f.Neighbours)
	case f.Rewiring < 0 || f.Rewiring > 1:
		return wrong("rewiring", "%v is no probability; give a number from 0 to 1", f.Rewiring)
	case f.WeightLow > f.WeightHigh:
		return wrong("weight_high", "%v is below the lower end %v; give the lower end first", f.WeightHigh, f.WeightLow)
	case !slices.Contains([]string{"", Sym, Avg}, f.Symmetrisation):
		return wrong("symmetrisation", "%q is unknown; choose %s or %s", f.Symmetrisation, Sym, Avg)
	case f.SmallestEigenvalue < 0:
		return wrong("smallest_eigenvalue", "%v is negative; give a positive number, for the matrix must be positive definite", f.SmallestEigenvalue)
	case f.ScaleLow < 0 || f.ScaleLow == 0 && f.ScaleHigh != 0:
		return wrong("scale_low", "%v is not positive; give a positive number, or neither end", f.ScaleLow)
	case f.ScaleHigh < f.ScaleLow:
		return wrong("scale_high", "%v is below the lower end %v; give the lower end first", f.ScaleHigh, f.ScaleLow)
	case f.ScaleSpread < 0 || f.ScaleSpread > MostSpread:
		return wrong("scale_spread", "a spread of %v is not from 0 to %v; give a number such as 0.5", f.ScaleSpread, MostSpread)
	case f.ScaleSpread > 0 && f.ScaleHigh != 0:
		return wrong("scale_spread", "a range and a spread of the scales are given; leave one out")
	}
	return nil
}

// Resolved is f with every default written out and the fields of other graphs
// zero: two families with the same Resolved are the same distribution.
func (f Family) Resolved() Family {
	r := Family{
		Graph:              f.Graph,
		Dimension:          f.Dimension,
		WeightLow:          f.WeightLow,
		WeightHigh:         f.WeightHigh,
		Symmetrisation:     orDefault(f.Symmetrisation, Sym),
		SmallestEigenvalue: orDefault(f.SmallestEigenvalue, 1),
		ScaleLow:           f.ScaleLow,
		ScaleHigh:          f.ScaleHigh,
		ScaleSpread:        f.ScaleSpread,
	}
	if f.WeightLow == 0 && f.WeightHigh == 0 {
		r.WeightLow, r.WeightHigh = -1, 1
	}
	if k, ok := kindNamed(f.Graph); ok && k.resolve != nil {
		k.resolve(f, &r)
	}
	return r
}

func orDefault[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// String is one line for cards and captions, defaults written out:
// "er p=0.1, d=100, weights U[-1, 1) sym, smallest eigenvalue 1".
func (f Family) String() string {
	r := f.Resolved()
	var b strings.Builder
	b.WriteString(r.Graph)
	if k, ok := kindNamed(r.Graph); ok && k.text != nil {
		b.WriteString(" " + k.text(r))
	}
	switch {
	case r.Symmetrisation == "": // no edges, no weights
		fmt.Fprintf(&b, ", d=%d", r.Dimension)
	case r.WeightLow == r.WeightHigh:
		fmt.Fprintf(&b, ", d=%d, weights %v", r.Dimension, r.WeightLow)
	default:
		fmt.Fprintf(&b, ", d=%d, weights U[%v, %v) %s", r.Dimension, r.WeightLow, r.WeightHigh, r.Symmetrisation)
	}
	fmt.Fprintf(&b, ", smallest eigenvalue %v", r.SmallestEigenvalue)
	if r.ScaleSpread != 0 {
		fmt.Fprintf(&b, ", variables rescaled by exp U(-%v, %[1]v)", r.ScaleSpread)
	}
	if r.ScaleHigh != 0 {
		fmt.Fprintf(&b, ", variables rescaled by U(%v, %v)", r.ScaleLow, r.ScaleHigh)
	}
	return b.String()
}

// Draw draws the graph.
func (f Family) Draw(rng *rand.Rand) (Graph, error) {
	if err := f.Validate(); err != nil {
		return Graph{}, err
	}
	r := f.Resolved()
	k, _ := kindNamed(r.Graph) // Validate knows it
	return k.draw(rng, r), nil
}

// Precision draws a precision matrix Θ: the graph, then the weights in the order
// of its edges, then the scales. It is positive definite; its non-zeros off the
// diagonal are the edges. The same state of rng gives the same bits.
func (f Family) Precision(rng *rand.Rand) (*dense.Sym, error) {
	g, err := f.Draw(rng)
	if err != nil {
		return nil, err
	}
	r := f.Resolved()
	weight := Uniform(r.WeightLow, r.WeightHigh)
	if r.Symmetrisation == Avg {
		// The two entries of an edge, averaged; those of other pairs are masked.
		one := weight
		weight = func(rng *rand.Rand) float64 { return (one(rng) + one(rng)) / 2 }
	}
	theta, err := Precision(g.Weights(rng, weight), r.SmallestEigenvalue)
	if err != nil || r.ScaleHigh == 0 && r.ScaleSpread == 0 {
		return theta, err
	}
	scale := Uniform(r.ScaleLow, r.ScaleHigh)
	if r.ScaleSpread != 0 {
		scale = spread(r.ScaleSpread)
	}
	rescale(theta, func(int) float64 { return scale(rng) })
	return theta, nil
}
