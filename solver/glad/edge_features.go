package glad

import "math"

// The features of a pair for the edge head. r is |Rij|, p the absolute partial correlation
// |Θij|/√(ΘiiΘjj), l that of the inverse of the shrunk correlation: R with the weight of
// the identity of Chen, Wiesel, Eldar and Hero (2010). M is guessed where it is not known,
// as ZScore says.
const (
	EdgeGate            Feature = "gate"                 // log odds of the last cell's gate, Zij/uij, within ±8
	EdgePartial         Feature = "partial"              // 4p
	EdgePartialScore    Feature = "partial_score"        // log(1 + p√M)
	EdgeShrunk          Feature = "shrunk"               // 4l
	EdgeShrunkScore     Feature = "shrunk_score"         // log(1 + l√M)
	EdgeCorrelation     Feature = "correlation"          // 4r
	EdgeScore           Feature = "correlation_score"    // log(1 + r√M)
	EdgeContext         Feature = "partial_context"      // mean of q(i), q(j), for q(i) = log(0.01 + Σk≠i p²)
	EdgeContextMost     Feature = "partial_context_most" // their larger one
	EdgeNodes           Feature = "node_context_mean"    // mean of log(1 + Σk≠i r²) of i and j
	EdgeNodesMost       Feature = "node_context_most"    // their larger one
	EdgeOfRow           Feature = "row_share"            // l over the smaller of the rows' largest
	EdgeOfRows          Feature = "row_share_least"      // l over the larger of them
	EdgeAboveMean       Feature = "row_mean"             // log of l over the rows' means, added, within ±8
	EdgePartialOfRow    Feature = "partial_row_share"    // p over the smaller of the rows' largest
	EdgePartialOfRows   Feature = "partial_row_share_least"
	EdgeShrunkContext   Feature = "shrunk_context"
	EdgeShrunkContextMx Feature = "shrunk_context_most"
)

// The features of the table for the edge head.
const (
	EdgeLogD          Feature = "log_d"              // log(d/50)
	EdgeLogRatio      Feature = "log_samples_per_d"  // log(M/d)
	EdgeMeanSquare    Feature = "mean_square"        // log of the mean of M·Rij²
	EdgeKurtosis      Feature = "kurtosis"           // log of the kurtosis of R, over 3
	EdgeHeterogeneity Feature = "row_heterogeneity"  // standard deviation of log(1 + Σk≠i r²)
	EdgeCrest         Feature = "row_crest"          // its largest value less its mean
	EdgeLargest       Feature = "largest"            // log of the largest M·l² over 2·log of the number of pairs
)

// An edgeFeature is a row of the table below: a feature of pairs, or of the table.
type edgeFeature struct {
	name  Feature
	pair  func(t *edgeTable, e *edgePairs, x []float64)
	table func(t *edgeTable) float64
	// score says that it needs Θ⁻¹; posterior that only models of kind GLADPM have it.
	score, posterior bool
}

// edgeLeast keeps logarithms finite.
const edgeLeast = 1e-3

func scaledBy(f float64, of func(e *edgePairs) []float64) func(*edgeTable, *edgePairs, []float64) {
	return func(_ *edgeTable, e *edgePairs, x []float64) {
		for k, v := range of(e)[:len(x)] {
			x[k] = f * v
		}
	}
}

func scoreOf(of func(e *edgePairs) []float64) func(*edgeTable, *edgePairs, []float64) {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		for k, v := range of(e)[:len(x)] {
			x[k] = math.Log1p(t.rootSamples * v)
		}
	}
}

// ofRows is f of a number of row i and of row j.
func ofRows(of func(t *edgeTable, i int) float64, f func(a, b float64) float64) func(*edgeTable, *edgePairs, []float64) {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		a := of(t, e.i)
		for k := range x {
			x[k] = f(a, of(t, e.from+k))
		}
	}
}

func mean2(a, b float64) float64 { return (a + b) / 2 }
func max2(a, b float64) float64  { return max(a, b) }

// share is a value over f of the largest ones of its rows.
func share(of func(e *edgePairs) []float64, row func(t *edgeTable) edgeRowStatistics, f func(a, b float64) float64) func(*edgeTable, *edgePairs, []float64) {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		largest := row(t).largest
		a := largest[e.i]
		for k, v := range of(e)[:len(x)] {
			x[k] = v / max(f(a, largest[e.from+k]), 1e-12)
		}
	}
}

func edgeFeatures() []edgeFeature {
	partial := func(e *edgePairs) []float64 { return e.partial }
	shrunk := func(e *edgePairs) []float64 { return e.shrunk }
	correlation := func(e *edgePairs) []float64 { return e.correlation }
	partialRow := func(t *edgeTable) edgeRowStatistics { return t.partial }
	shrunkRow := func(t *edgeTable) edgeRowStatistics { return t.shrunkRow }
	context := func(t *edgeTable, i int) float64 { return math.Log(0.01 + t.partial.squares[i]) }
	shrunkContext := func(t *edgeTable, i int) float64 { return math.Log(0.01 + t.shrunkRow.squares[i]) }
	node := func(t *edgeTable, i int) float64 { return math.Log1p(t.correlation.squares[i]) }
	min2 := func(a, b float64) float64 { return min(a, b) }
	return []edgeFeature{
		{name: EdgeGate, score: true, posterior: true, pair: scaledBy(0.5, func(e *edgePairs) []float64 { return e.odds })},
		{name: EdgePartial, pair: scaledBy(4, partial)},
		{name: EdgePartialScore, pair: scoreOf(partial)},
		{name: EdgeShrunk, pair: scaledBy(4, shrunk)},
		{name: EdgeShrunkScore, pair: scoreOf(shrunk)},
		{name: EdgeCorrelation, pair: scaledBy(4, correlation)},
		{name: EdgeScore, pair: scoreOf(correlation)},
		{name: EdgeContext, pair: ofRows(context, mean2)},
		{name: EdgeContextMost, pair: ofRows(context, max2)},
		{name: EdgeShrunkContext, pair: ofRows(shrunkContext, mean2)},
		{name: EdgeShrunkContextMx, pair: ofRows(shrunkContext, max2)},
		{name: EdgeNodes, pair: ofRows(node, mean2)},
		{name: EdgeNodesMost, pair: ofRows(node, max2)},
		{name: EdgeOfRow, pair: share(shrunk, shrunkRow, min2)},
		{name: EdgeOfRows, pair: share(shrunk, shrunkRow, max2)},
		{name: EdgePartialOfRow, pair: share(partial, partialRow, min2)},
		{name: EdgePartialOfRows, pair: share(partial, partialRow, max2)},
		{name: EdgeAboveMean, pair: func(t *edgeTable, e *edgePairs, x []float64) {
			others := float64(max(1, t.d-1))
			a := t.shrunkRow.sum[e.i] / others
			for k, v := range e.shrunk[:len(x)] {
				b := t.shrunkRow.sum[e.from+k] / others
				x[k] = max(-oddsBound, min(oddsBound, math.Log((v+1e-9)*(v+1e-9)/((a+1e-9)*(b+1e-9)))/2))
			}
		}},
		{name: EdgeLogD, table: func(t *edgeTable) float64 { return math.Log(float64(t.d) / 50) }},
		{name: EdgeLogRatio, table: func(t *edgeTable) float64 { return math.Log(t.samples / float64(t.d)) }},
		{name: EdgeMeanSquare, table: func(t *edgeTable) float64 { return math.Log(edgeLeast + t.meanSquare) }},
		{name: EdgeKurtosis, table: func(t *edgeTable) float64 { return math.Log(edgeLeast + t.kurtosis/3) }},
		{name: EdgeHeterogeneity, table: func(t *edgeTable) float64 { return 4 * t.spread }},
		{name: EdgeCrest, table: func(t *edgeTable) float64 { return t.crest }},
		{name: EdgeLargest, table: func(t *edgeTable) float64 {
			return math.Log(edgeLeast + t.largest/(2*math.Log(1+float64(t.d)*float64(t.d-1)/2)))
		}},
		{name: "information", pair: ofRows(func(t *edgeTable, i int) float64 { return math.Log(t.shrunk0[i]) }, mean2)},
		{name: "information_most", pair: ofRows(func(t *edgeTable, i int) float64 { return math.Log(t.shrunk0[i]) }, max2)},
		{name: "mean_information", table: func(t *edgeTable) float64 { return t.meanInfo }},
		{name: "shrunk_kurtosis", table: func(t *edgeTable) float64 { return math.Log(edgeLeast+t.shrunkKurt/3) }},
		{name: "partial_square", table: func(t *edgeTable) float64 { return math.Log(edgeLeast+t.shrunkSquare) }},
	}
}

var edgeFeatureTable = edgeFeatures()

// edgeFeatureOf is the row of f, nil if there is none.
func edgeFeatureOf(f Feature) *edgeFeature {
	for i := range edgeFeatureTable {
		if edgeFeatureTable[i].name == f {
			return &edgeFeatureTable[i]
		}
	}
	return nil
}

// EdgeFeatures lists the inputs that the edge head of a model of a kind may have.
func EdgeFeatures(k Kind) []Feature {
	var names []Feature
	for _, f := range edgeFeatureTable {
		if k == GLADPM || !f.posterior {
			names = append(names, f.name)
		}
	}
	return names
}
