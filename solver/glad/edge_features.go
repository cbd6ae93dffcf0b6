package glad

import "math"

// The features of a pair for the edge head. r is |Rij|, R the correlation of S; p is
// |Θij|/√(ΘiiΘjj) and z is |Zij| over the same root; l is that of the inverse of the shrunk R,
// whose diagonal is v. M is guessed where it is not known, as ZScore says.
const (
	EdgeCorrelation      Feature = "correlation"       // 4r
	EdgeCorrelationScore Feature = "correlation_score" // log(1 + r√M)
	EdgePartial          Feature = "partial"           // 4p
	EdgePartialScore     Feature = "partial_score"     // log(1 + p√M)
	EdgeSparse           Feature = "sparse"            // 4z
	EdgeSparseScore      Feature = "sparse_score"      // log(1 + z√M)
	EdgeGate             Feature = "gate"              // log((10⁻³ + z)/(10⁻³ + p))
	EdgeSparseNode       Feature = "sparse_node"       // mean of log(0.01 + Σ z²) of i and j, over their other variables
	EdgeSparseNodeMost   Feature = "sparse_node_most"  // the larger of the two
	EdgeShrunk           Feature = "shrunk"            // 4l
	EdgeShrunkScore      Feature = "shrunk_score"      // log(1 + l√M)
	EdgeNode             Feature = "node"              // mean of log(1 + Σ r²) of i and j, over their other variables
	EdgeNodeMost         Feature = "node_most"         // the larger of the two
	EdgePartialNode      Feature = "partial_node"      // mean of log(0.01 + Σ p²)
	EdgePartialNodeMost  Feature = "partial_node_most" // the larger of the two
	EdgeShrunkNode       Feature = "shrunk_node"       // mean of log(0.01 + Σ l²)
	EdgeShrunkNodeMost   Feature = "shrunk_node_most"  // the larger of the two
	EdgeInformation      Feature = "information"       // mean of log vi and log vj
	EdgeInformationMost  Feature = "information_most"  // the larger of the two
	EdgeRowShare         Feature = "row_share"         // l over the largest of row i or of row j, whichever is smaller
	EdgeRowShareLeast    Feature = "row_share_least"   // l over the larger of the two
	EdgeRowMean          Feature = "row_mean"          // log of l over the root of the means of both rows, within ±8
)

// The features of the table for the edge head.
const (
	EdgeSampleRatio     Feature = "samples_per_d"        // log(M/d)
	EdgeMeanSquare      Feature = "mean_square"          // log(10⁻³ + M·mean r²)
	EdgeKurtosis        Feature = "correlation_kurtosis" // log(10⁻³ + kurtosis/3) of r, about zero
	EdgeSparseSquare    Feature = "sparse_square"        // log(10⁻³ + M·mean z²)
	EdgeSparseKurtosis  Feature = "sparse_kurtosis"      // log(10⁻³ + kurtosis/3) of z
	EdgeSparseSpread    Feature = "sparse_spread"        // the standard deviation of log(0.01 + Σ z²)
	EdgeSparseCrest     Feature = "sparse_crest"         // its largest less its mean
	EdgeShrunkSquare    Feature = "shrunk_square"        // log(10⁻³ + M·mean l²)
	EdgeShrunkKurtosis  Feature = "shrunk_kurtosis"      // log(10⁻³ + kurtosis/3) of l
	EdgeRowSpread       Feature = "node_spread"          // 4 times the standard deviation of log(1 + Σ r²)
	EdgeRowCrest        Feature = "node_crest"           // its largest less its mean
	EdgeLargest         Feature = "largest"              // log(10⁻³ + M·max l²/(2·log(1 + number of pairs)))
	EdgeMeanInformation Feature = "mean_information"     // mean of log vi
)

// An edgeFeature is a row of the table below: a feature of pairs, or of the table.
type edgeFeature struct {
	name  Feature
	pair  func(t *edgeTable, e *edgePairs, x []float64)
	table func(t *edgeTable) float64
}

// The formulas of edgeFeatures, for many pairs at a time.
type edgeFormula = func(t *edgeTable, e *edgePairs, x []float64)

func fourTimes(of func(e *edgePairs) []float64) edgeFormula {
	return func(_ *edgeTable, e *edgePairs, x []float64) {
		for k, v := range of(e)[:len(x)] {
			x[k] = 4 * v
		}
	}
}

func scoreOf(of func(e *edgePairs) []float64) edgeFormula {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		for k, v := range of(e)[:len(x)] {
			x[k] = math.Log1p(t.rootSamples * v)
		}
	}
}

func meanOf(of func(t *edgeTable) []float64) edgeFormula {
	return func(t *edgeTable, e *edgePairs, x []float64) { average(x, of(t)[e.from:][:len(x)], of(t)[e.i]) }
}

func mostOf(of func(t *edgeTable) []float64) edgeFormula {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		a := of(t)[e.i]
		for k, b := range of(t)[e.from:][:len(x)] {
			x[k] = max(a, b)
		}
	}
}

// shareOf is l over one of the two largest of its rows.
func shareOf(choose func(a, b float64) float64) edgeFormula {
	return func(t *edgeTable, e *edgePairs, x []float64) {
		const least = 1e-12 // where all of a row are 0
		a := t.shrunkLargest[e.i]
		for k, v := range e.shrunk[:len(x)] {
			x[k] = v / max(choose(a, t.shrunkLargest[e.from+k]), least)
		}
	}
}

// gate is how much of a partial correlation the sparse twin keeps.
func gate(_ *edgeTable, e *edgePairs, x []float64) {
	for k, z := range e.sparse[:len(x)] {
		x[k] = math.Log((edgeLeast + z) / (edgeLeast + e.partial[k]))
	}
}

func rowMean(t *edgeTable, e *edgePairs, x []float64) {
	const least, bound = 1e-9, 8
	a := t.shrunkMean[e.i] + least
	for k, v := range e.shrunk[:len(x)] {
		b := t.shrunkMean[e.from+k] + least
		x[k] = max(-bound, min(bound, math.Log((v+least)*(v+least)/(a*b))/2))
	}
}

var edgeFeatures = func() []edgeFeature {
	correlation := func(e *edgePairs) []float64 { return e.correlation }
	partial := func(e *edgePairs) []float64 { return e.partial }
	sparse := func(e *edgePairs) []float64 { return e.sparse }
	shrunk := func(e *edgePairs) []float64 { return e.shrunk }
	node := func(t *edgeTable) []float64 { return t.node }
	partialNode := func(t *edgeTable) []float64 { return t.partialContext }
	sparseNode := func(t *edgeTable) []float64 { return t.sparseContext }
	shrunkNode := func(t *edgeTable) []float64 { return t.shrunkContext }
	information := func(t *edgeTable) []float64 { return t.information }
	logarithm := func(of func(t *edgeTable) float64) func(*edgeTable) float64 {
		return func(t *edgeTable) float64 { return math.Log(edgeLeast + of(t)) }
	}
	return []edgeFeature{
		{name: EdgeCorrelation, pair: fourTimes(correlation)},
		{name: EdgeCorrelationScore, pair: scoreOf(correlation)},
		{name: EdgePartial, pair: fourTimes(partial)},
		{name: EdgePartialScore, pair: scoreOf(partial)},
		{name: EdgeShrunk, pair: fourTimes(shrunk)},
		{name: EdgeShrunkScore, pair: scoreOf(shrunk)},
		{name: EdgeNode, pair: meanOf(node)},
		{name: EdgeNodeMost, pair: mostOf(node)},
		{name: EdgePartialNode, pair: meanOf(partialNode)},
		{name: EdgePartialNodeMost, pair: mostOf(partialNode)},
		{name: EdgeShrunkNode, pair: meanOf(shrunkNode)},
		{name: EdgeShrunkNodeMost, pair: mostOf(shrunkNode)},
		{name: EdgeInformation, pair: meanOf(information)},
		{name: EdgeInformationMost, pair: mostOf(information)},
		{name: EdgeRowShare, pair: shareOf(func(a, b float64) float64 { return min(a, b) })},
		{name: EdgeRowShareLeast, pair: shareOf(func(a, b float64) float64 { return max(a, b) })},
		{name: EdgeRowMean, pair: rowMean},
		{name: EdgeSparse, pair: fourTimes(sparse)},
		{name: EdgeSparseScore, pair: scoreOf(sparse)},
		{name: EdgeGate, pair: gate},
		{name: EdgeSparseNode, pair: meanOf(sparseNode)},
		{name: EdgeSparseNodeMost, pair: mostOf(sparseNode)},
		{name: EdgeSampleRatio, table: func(t *edgeTable) float64 { return math.Log(t.samples / float64(t.d)) }},
		{name: EdgeMeanSquare, table: logarithm(func(t *edgeTable) float64 { return t.meanSquare })},
		{name: EdgeKurtosis, table: logarithm(func(t *edgeTable) float64 { return t.kurtosis / 3 })},
		{name: EdgeSparseSquare, table: logarithm(func(t *edgeTable) float64 { return t.sparseSquare })},
		{name: EdgeSparseKurtosis, table: logarithm(func(t *edgeTable) float64 { return t.sparseKurtosis / 3 })},
		{name: EdgeSparseSpread, table: func(t *edgeTable) float64 { return t.sparseSpread }},
		{name: EdgeSparseCrest, table: func(t *edgeTable) float64 { return t.sparseCrest }},
		{name: EdgeShrunkSquare, table: logarithm(func(t *edgeTable) float64 { return t.shrunkSquare })},
		{name: EdgeShrunkKurtosis, table: logarithm(func(t *edgeTable) float64 { return t.shrunkKurtosis / 3 })},
		{name: EdgeRowSpread, table: func(t *edgeTable) float64 { return 4 * t.spread }},
		{name: EdgeRowCrest, table: func(t *edgeTable) float64 { return t.crest }},
		{name: EdgeLargest, table: logarithm(func(t *edgeTable) float64 { return t.largest })},
		{name: EdgeMeanInformation, table: func(t *edgeTable) float64 { return t.meanInformation }},
	}
}()

// edgeFeatureOf is the row of f, nil if there is none.
func edgeFeatureOf(f Feature) *edgeFeature {
	for i := range edgeFeatures {
		if edgeFeatures[i].name == f {
			return &edgeFeatures[i]
		}
	}
	return nil
}

// EdgeFeatures lists the inputs that an edge head may have, those of pairs first.
func EdgeFeatures() []Feature {
	var names []Feature
	for _, f := range edgeFeatures {
		names = append(names, f.name)
	}
	return names
}
