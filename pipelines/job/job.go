package job

import (
	"path/filepath"
	"strconv"
	"strings"
)

// A Job is one recovery: a table in, networks out. The zero value of every
// field but Input is its default. Keys of the document, flags of the command
// line (with dashes for underscores) and the JSON Schema come from the tags
// below, and so do the defaults that Resolved fills in: see the
// package comment.
//
// Paths are relative to the working directory of the process that runs the job, or
// to the folder of a service that opens the files of one folder only.
type Job struct {
	// Input is the table: a path, a URL of a scheme that the program has a store for,
	// or "-" for standard input.
	Input string `json:"input" file:"read" jsonschema:"required,minLength=1" jsonschema_description:"table to recover a network from, a path or a URL such as s3://bucket/key: .parquet, .arrow, .feather, .arrows, .csv, .tsv, the last two also .gz, or .xlsx; - is standard input"`
	// InputKind says what the table holds. A covariance or correlation needs
	// Samples.
	InputKind string `json:"input_kind,omitzero" flag:"input" jsonschema:"enum=samples,enum=covariance,enum=correlation,default=samples" jsonschema_description:"what the table holds"`
	// InputFormat overrides what the extension and the first bytes say.
	InputFormat string `json:"input_format,omitzero" jsonschema:"enum=parquet,enum=arrow,enum=feather,enum=arrows,enum=csv,enum=tsv,enum=xlsx" jsonschema_description:"format of the table where its extension does not tell"`
	// Sheet is that of an Excel workbook. Default: its only one.
	Sheet string `json:"sheet,omitzero" jsonschema_description:"sheet of an Excel workbook; its only one without it"`
	// Samples is M, the number of samples behind a covariance. A table of
	// samples is counted.
	Samples int `json:"samples,omitzero" jsonschema:"minimum=0" jsonschema_description:"number of samples behind a covariance or correlation"`
	// Orientation says which way a table of samples lies.
	Orientation string `json:"orientation,omitzero" jsonschema:"enum=rows,enum=columns,default=rows" jsonschema_description:"what the samples are in the table"`
	// IDColumn labels the rows and is no variable: a name, or #N for the N-th
	// column from 1.
	IDColumn string `json:"id_column,omitzero" jsonschema_description:"column that labels the rows, by name or as #N"`
	// NoHeader, Decimal, Thousands and NA say how text is written: see
	// arrowio.TextOptions.
	NoHeader  bool     `json:"no_header,omitzero" jsonschema_description:"the first line of text is a row of numbers and no header; columns are then v1, v2 and so on"`
	Decimal   string   `json:"decimal,omitzero" jsonschema_description:"decimal mark of numbers in text: a point, which is the default, or a comma"`
	Thousands string   `json:"thousands,omitzero" jsonschema_description:"mark between thousands in text: a comma, a point, a space, ' or _; none without it"`
	NA        []string `json:"na,omitzero" jsonschema_description:"words in text that stand for a missing value, besides the empty cell, NA, NaN, null and the like"`
	// Columns are the variables that are taken, Exclude those of them that are left
	// out, by name or by patterns with * and ?. Default: all are taken.
	Columns []string `json:"columns,omitzero" jsonschema_description:"variables to take, by name or pattern (* for any letters, ? for one); all without it"`
	Exclude []string `json:"exclude,omitzero" jsonschema_description:"variables to leave out, by name or pattern (* for any letters, ? for one)"`
	// Rows are the samples that are taken, ExcludeRows those of them that are left out: their
	// labels, patterns of labels, or numbers from 1 such as #3, #10-20 and #100-. Default:
	// all are taken.
	Rows        []string `json:"rows,omitzero" jsonschema_description:"samples to take, by label, pattern (* for any letters, ? for one) or number from 1 (#3, #10-20, #100-); all without it"`
	ExcludeRows []string `json:"exclude_rows,omitzero" jsonschema_description:"samples to leave out, by label, pattern (* for any letters, ? for one) or number from 1 (#3, #10-20, #100-)"`
	// Adjust are columns, by name or as #N, that are no variables and are regressed out of
	// them: numbers as they are, words as groups. M is less by the degrees of freedom that
	// they take. See covariance.Residuals.
	Adjust []string `json:"adjust,omitzero" jsonschema_description:"columns to regress out of the variables, of which they are none: numbers as they are, words as groups; the degrees of freedom they take are no samples"`
	// Weights is the column, by name or as #N, with the weights of the samples. M is the
	// number of equal samples that they count as. See covariance.EstimateWeighted.
	Weights string `json:"weights,omitzero" jsonschema_description:"column with the weights of the samples, zero or more, which is no variable; they count as (sum w)^2 / (sum w^2) samples"`
	// Transform is applied to every value first.
	Transform string `json:"transform,omitzero" jsonschema:"enum=none,enum=log,enum=log1p,default=none" jsonschema_description:"what to do with every value first: log is the natural logarithm, log1p that of 1 + x"`
	// Constant says what is done about variables that do not vary.
	Constant string `json:"constant,omitzero" jsonschema:"enum=error,enum=drop,default=error" jsonschema_description:"what to do about variables that do not vary: stop, or leave them out"`
	// TopVariance takes so many variables of the largest variance, after Transform.
	// Default: all.
	TopVariance int `json:"top_variance,omitzero" jsonschema:"minimum=0" jsonschema_description:"take so many variables of the largest variance, after the transform; 0 is all"`
	// Missing says what is done about missing values: stop; leave out the samples that
	// have one; estimate every pair from the samples that have both; a Gaussian model
	// by EM; or put the variable's mean in their place. See
	// covariance.EstimateIncomplete.
	Missing string `json:"missing,omitzero" jsonschema:"enum=error,enum=rows,enum=pairwise,enum=em,enum=mean,default=error" jsonschema_description:"what to do about missing values: stop, leave out their rows, estimate pairwise, by em, or put means in their place"`

	// Correlation is what is estimated from the samples; none is the plain
	// covariance. Default: what the model of GLAD was trained on by its card, pearson
	// where that is several or not said, and where GLAD is not among Solvers.
	Correlation string `json:"correlation,omitzero" jsonschema:"enum=pearson,enum=spearman,enum=nonparanormal,enum=normal-scores,enum=auto,enum=none" jsonschema_description:"what to estimate from the samples; none is the covariance; auto is normal-scores where many variables have heavy tails or outliers, else pearson; without it what GLAD's model was trained on, which is pearson for the default one and where GLAD does not run"`
	// RankingCorrelation is what the rankings of solvers such as spectral are made
	// from, whatever Correlation says: of normal scores of the variables, of ranks, or of
	// the values. Of a covariance it is the covariance's.
	RankingCorrelation string `json:"ranking_correlation,omitzero" jsonschema:"enum=normal-scores,enum=pearson,enum=spearman,default=normal-scores" jsonschema_description:"correlation that spectral ranks by; pearson where a few samples far out carry the signal"`
	// Divisor is that of variances: m (maximum likelihood) or m-1 (unbiased).
	Divisor string `json:"divisor,omitzero" jsonschema:"enum=m,enum=m-1,default=m" jsonschema_description:"divisor of variances, m being the number of samples"`
	// Shrinkage is a weight from 0 to 1 towards the identity, or ledoit-wolf.
	Shrinkage Value `json:"shrinkage,omitzero" words:"ledoit-wolf" jsonschema:"default=0,maximum=1" jsonschema_description:"weight towards the identity, 0 to 1, or ledoit-wolf"`

	// Regulators lists the variables at which edges may start, such as transcription
	// factors: every list of edges is then directed, from a regulator to any other
	// variable. Default: edges are undirected.
	Regulators string `json:"regulators,omitzero" file:"read" jsonschema_description:"file with the names of the variables at which edges start, one a line: edges are then directed"`

	// Solvers run in this order. See recovery.Solvers for the names.
	Solvers []string `json:"solvers,omitzero" jsonschema:"default=glad,default=bcd,minItems=1,uniqueItems=true" jsonschema_description:"solvers to run, in this order"`
	// Model is GLAD's: the name of a built-in model, or the path of a model
	// file. Default: general, or gene-regulators with Regulators.
	Model string `json:"model,omitzero" file:"read-model" jsonschema_description:"GLAD's model: the name of a built-in one, or a model file; with regulators gene-regulators without it"`
	// Adapt fits GLAD to the table: experts averages the general model and models trained
	// for a family of graphs each, equal-scales does so with experts on covariances of
	// simulated variables whose precision matrix has an equal diagonal, train fine-tunes the
	// general model on simulated networks like the table. Default: neither.
	Adapt string `json:"adapt,omitzero" bare:"experts" jsonschema:"enum=experts,enum=equal-scales,enum=train" jsonschema_description:"fit GLAD to the table: average experts on families of graphs, of standardised variables or, equal-scales, of simulated covariances, or train on simulated networks most like the table"`
	// Score is what glad's list of edges is ranked by: probability, that of an edge, which a
	// model with an edge head gives, or partial-correlation. Default: probability where
	// there is one.
	Score string `json:"score,omitzero" jsonschema:"enum=probability,enum=partial-correlation" jsonschema_description:"what glad ranks edges by; without it the probability of an edge where the model gives one, see gladflow models"`
	// FDR bounds the expected share of false edges in glad's list, for a model with an
	// edge head: see solver.LikelyThreshold. Default: solver.DefaultFDR.
	FDR float64 `json:"fdr,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"largest expected share of false edges in glad's list, for a model that gives the probability of an edge; 0 is the default, 0.2"`
	// RankingModel is expression's: the name of a built-in model, or the path of a
	// model file. Default: gene, or gene-directed with Regulators.
	RankingModel string `json:"ranking_model,omitzero" file:"read-model" jsonschema_description:"model of expression: the name of a built-in one, or a model file; with regulators gene-directed without it"`
	// Penalty is ρ of the classical solvers: a number in units of S, "edges:N" for the one
	// with which the graphical lasso has so many edges, or nearest to that, or a rule that
	// chooses it from the data, such as refit. See recovery.Penalties for these.
	Penalty Value `json:"penalty,omitzero" jsonschema:"pattern=^edges:[1-9][0-9]*$" jsonschema_description:"penalty of the classical solvers: a number, edges:N for the one that leaves N edges, or {words} to choose it from the data"`
	// Select is the rule that Penalty would name: Resolved puts it there.
	Select string `json:"select,omitzero" jsonschema_description:"rule that chooses the penalty, the same as penalty with its name: refit and ebic by information criteria of the graph and of the lasso, bic, cv by held-out likelihood, stars by stability, ric by permuted samples"`
	// SelectGamma is γ of refit and ebic: see selection.Settings. Default: 0.4 and 0.5.
	SelectGamma float64 `json:"select_gamma,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"weight of the number of possible edges in refit and ebic, above 0 and up to 1; 0 is the default, 0.4 for refit and 0.5 for ebic"`
	// SelectThreshold is the largest instability of stars.
	SelectThreshold float64 `json:"select_threshold,omitzero" jsonschema:"minimum=0,maximum=0.5" jsonschema_description:"largest instability that stars allows, below 0.5; 0 is the default, 0.05"`
	// SelectResamples is the number of subsamples of stars, folds of cv or permutations of
	// ric. Default: 20, 5 and 20.
	SelectResamples int `json:"select_resamples,omitzero" jsonschema:"minimum=0" jsonschema_description:"subsamples of stars, folds of cv, permutations of ric; 0 is 20, 5 and 20"`
	// SelectSeed is that of subsamples, folds and permutations.
	SelectSeed int `json:"select_seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of subsamples, folds and permutations"`
	// PenaliseDiagonal penalises the diagonal of Θ as well.
	PenaliseDiagonal bool `json:"penalise_diagonal,omitzero" jsonschema_description:"penalise the diagonal of the precision matrix too"`
	// PenaltyMatrix is a symmetric table with a penalty for every pair of the
	// table's variables, in place of Penalty.
	PenaltyMatrix string `json:"penalty_matrix,omitzero" file:"read" jsonschema_description:"file with a penalty for every pair of variables, instead of one number"`
	// Gap is the relative duality gap, gap / max(|objective|, d), at which
	// classical solvers stop.
	Gap float64 `json:"gap,omitzero" jsonschema:"minimum=0,default=1e-06" jsonschema_description:"duality gap to stop at, relative to the objective"`
	// TimeLimit bounds every solver, and the choice of the penalty, on its
	// own. A solver that reaches it leaves its best iterate. Default: none.
	TimeLimit Duration `json:"time_limit,omitzero" jsonschema_description:"longest time for each solver, such as 90s or 2m"`
	// IterationLimit bounds the iterations of every classical solver.
	IterationLimit int `json:"iteration_limit,omitzero" jsonschema:"minimum=0,default=100000" jsonschema_description:"largest number of iterations of each classical solver"`
	// ADMMLambda is the quadratic penalty of ADMM. Default: it adapts.
	ADMMLambda float64 `json:"admm_lambda,omitzero" jsonschema:"minimum=0" jsonschema_description:"quadratic penalty of admm; 0 lets it adapt"`
	// AMLambda is the quadratic penalty of AM. Default: four times the
	// squared mean variance, 4 for correlations.
	AMLambda float64 `json:"am_lambda,omitzero" jsonschema:"minimum=0" jsonschema_description:"quadratic penalty of am; 0 is four times the squared mean variance"`

	// Reference is a known network, to score the recovered ones with.
	Reference string `json:"reference,omitzero" file:"read" jsonschema_description:"known network to score with: columns source, target and, if labelled, 0 or 1"`
	// Population says which pairs are scored: those that the reference lists,
	// or every pair of the variables.
	Population string `json:"population,omitzero" jsonschema:"enum=labelled,enum=all,default=labelled" jsonschema_description:"pairs to score: those that the reference lists, or all pairs of variables"`
	// Undirected scores unordered pairs; one is an edge if either direction
	// is in the reference.
	Undirected bool `json:"undirected,omitzero" jsonschema_description:"score unordered pairs instead of ordered ones"`

	// Out is the folder for the files, made where it is missing. Files of the
	// same name are replaced, each at once and whole. Default: no files.
	Out string `json:"out,omitzero" file:"write-folder" jsonschema_description:"folder to write the files to; without it nothing is written"`
	// Format is that of the edge lists, and of the other tables where they have
	// it. See arrowio.EdgeFormats.
	Format string `json:"format,omitzero" jsonschema:"default=parquet" jsonschema_description:"format of the tables written"`
	// Edges says which pairs an edge list holds: the support (where Z is not zero, or,
	// where FDR is bounded, the pairs that it keeps), all, or the N of highest score. The support of a ranking is its MostRanked best pairs.
	Edges string `json:"edges,omitzero" jsonschema:"pattern=^(support|all|top:[1-9][0-9]*|fdr:[0-9.eE-]+)$,default=support" jsonschema_description:"pairs in the edge list: support (where the sparse matrix is not zero, or those that fdr keeps; of a ranking the best 100000), all, top:N, or fdr:Q, those that tests of all pairs keep at a false discovery rate of Q, such as fdr:0.1"`
	// Stability is the number of complementary pairs of halves of the samples that every
	// solver is run on again, to count how often each pair of variables is selected: see
	// package stability. Default: none, but DefaultStability where FalseEdges needs them.
	Stability int `json:"stability,omitzero" bare:"50" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"run every solver on so many pairs of halves of the samples, such as 50: columns selection_probability and sign_consistency of the list; 0 is none"`
	// FalseEdges keeps the edges for which the bound on the expected number of false ones
	// among those selected as often is at most this: stability.Bound.Concave.
	FalseEdges float64 `json:"false_edges,omitzero" jsonschema:"minimum=0" jsonschema_description:"keep the edges that halves of the samples select so often that at most so many false ones are expected among them; 0 keeps all"`
	// PValues tests every pair of variables for a partial correlation: by the classical
	// test, by the de-sparsified graphical lasso, or auto, which is the former where there
	// are twice as many samples as variables. Default: no tests, but auto where Edges
	// needs them. See package inference.
	PValues string `json:"p_values,omitzero" bare:"auto" jsonschema:"enum=auto,enum=partial-correlation,enum=desparsified" jsonschema_description:"test every pair for a partial correlation: columns p_value, q_value, lower and upper of the list; auto is partial-correlation, Student's t, from M = 2d on, else desparsified, the graphical lasso without its bias"`
	// Confidence is the probability with which the intervals of PValues cover the partial
	// correlation.
	Confidence float64 `json:"confidence,omitzero" jsonschema:"minimum=0,maximum=1,default=0.95" jsonschema_description:"probability with which the intervals of p_values cover the partial correlation"`
	// Precision says which matrix is written: the non-zeros of Z, or all of Θ.
	Precision string `json:"precision,omitzero" jsonschema:"enum=sparse,enum=dense,default=sparse" jsonschema_description:"precision matrix to write: the non-zeros of the sparse one, or the dense one"`
	// Units are those of the variables that Θ belongs to. Without a
	// correlation the two are the same.
	Units string `json:"units,omitzero" jsonschema:"enum=standardised,enum=original,default=standardised" jsonschema_description:"units of the precision matrix written"`

	// Report is an HTML page to look at, made where it is missing and replaced as the
	// files in Out are, or ReportNone. Default: ReportFile in Out, and none without Out.
	Report string `json:"report,omitzero" file:"write" jsonschema:"pattern=^none$|[.]html$" jsonschema_description:"page to look at, with tables, curves and the network drawn: one HTML file whose name ends in .html, or none; without it report.html in the folder of the files"`

	// Engine does the linear algebra.
	Engine string `json:"engine,omitzero" jsonschema:"enum=auto,enum=openblas,enum=gonum,default=auto" jsonschema_description:"linear algebra; auto is openblas where this machine has it"`
	// Threads bounds what the run computes on at the same time, in Go and in the
	// linear algebra. Default, and the most: the processors that the process may
	// use. With OpenBLAS the number may change the last bits of a result.
	Threads int `json:"threads,omitzero" jsonschema:"minimum=0" jsonschema_description:"threads to compute on at the same time; 0 is one for each processor that the process may use"`
	// Device is where the solvers compute that have code for a GPU, GLAD, ADMM, AM and
	// G-ISTA: cpu, cuda, cuda:N or auto. See ParseDevice.
	Device string `json:"device,omitzero" jsonschema:"pattern=^(auto|cpu|cuda(:(0|[1-9][0-9]?[0-9]?))?)$,default=auto" jsonschema_description:"where glad, gista, admm and am compute: cpu, cuda (the first GPU), cuda:N (GPU N, from 0), or auto, which is a GPU where one works and the CPU elsewhere"`

	// Labels are the caller's own words on the job, such as an id to find it by. They
	// change nothing and come back in events, results, the metadata of files and the
	// log. See MaxLabels for their bounds.
	Labels map[string]string `json:"labels,omitzero" flag:"label" jsonschema_description:"words of your own, KEY=VALUE, that come back in results, metadata of files, events and logs; on the command line once for each"`

	// JSON asks for the result as one JSON document instead of a table. Only the
	// command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}

// Values of Job's fields.
const (
	KindSamples     = "samples"
	KindCovariance  = "covariance"
	KindCorrelation = "correlation"

	// CorrelationAuto is a value of Correlation that is decided from the samples.
	CorrelationAuto = "auto"

	ShrinkageLedoitWolf = "ledoit-wolf"

	TransformNone  = "none"
	TransformLog   = "log"
	TransformLog1p = "log1p"

	ConstantError = "error"
	ConstantDrop  = "drop"

	MissingError    = "error"
	MissingRows     = "rows"
	MissingPairwise = "pairwise"
	MissingEM       = "em"
	MissingMean     = "mean"

	AdaptExperts     = "experts"
	AdaptEqualScales = "equal-scales"
	AdaptTrain       = "train"

	// DefaultStability is the number of pairs of halves where FalseEdges needs some.
	DefaultStability = 50

	PValuesAuto    = "auto"
	PValuesPartial = "partial-correlation"
	PValuesLasso   = "desparsified"

	EdgesSupport = "support"
	EdgesAll     = "all"

	PrecisionSparse = "sparse"
	PrecisionDense  = "dense"

	// MostRanked is how many pairs of a ranking are listed with EdgesSupport: as many
	// as a list for the DREAM5 challenge may have.
	MostRanked = 100_000

	ScoreProbability        = "probability"
	ScorePartialCorrelation = "partial-correlation"

	// ReportNone is the value of Report that asks for no page, ReportFile the name of the
	// page in the folder of a run.
	ReportNone = "none"
	ReportFile = "report.html"

	UnitsStandardised = "standardised"
	UnitsOriginal     = "original"

	EngineAuto = "auto"
)

// What values of Edges begin with: that which bounds their number, and that which bounds a
// false discovery rate.
const (
	topPrefix = "top:"
	fdrPrefix = "fdr:"
)

// Resolved returns j with every default filled in that is a value and that the
// document knows; a field whose default is "none", or that has no meaning beside
// the others, stays zero. It is valid if j is. Package recovery knows more
// defaults: see its Resolved.
func (j Job) Resolved() Job { return j.ResolvedBy(Facts{}) }

// ResolvedBy is Resolved with the defaults of a program besides.
func (j Job) ResolvedBy(known Facts) Job {
	r := j
	if r.Select != "" {
		r.Penalty, r.Select = Value(r.Select), ""
	}
	Resolve(&r, known)
	if !j.SamplesGiven() {
		r.Orientation, r.Divisor, r.RankingCorrelation = "", "", ""
		r.Transform, r.Constant, r.Missing = "", "", ""
	}
	if j.PenaltyMatrix != "" {
		r.Penalty = ""
	}
	if j.Report == "" {
		r.Report = j.defaultReport()
	}
	if j.Reference == "" {
		r.Population = ""
	}
	if j.FalseEdges > 0 && j.Stability == 0 {
		r.Stability = DefaultStability
	}
	if !j.TestsPairs() {
		r.Confidence = 0
	} else if j.PValues == "" {
		r.PValues = PValuesAuto
	}
	return r
}

// defaultReport is what Report is without a word on it; empty without Out.
func (j Job) defaultReport() string {
	if j.Out == "" {
		return ""
	}
	return filepath.Join(j.Out, ReportFile)
}

// ReportPath is where the page is written; empty for none.
func (j Job) ReportPath() string {
	if j.Report == ReportNone {
		return ""
	}
	return j.Report
}

// SamplesGiven says whether the input holds samples, and not what was estimated
// from them.
func (j Job) SamplesGiven() bool { return j.InputKind == "" || j.InputKind == KindSamples }

// edgesPrefix begins the value of Penalty that asks for a number of edges.
const edgesPrefix = "edges:"

// EdgesWanted is the N of the value edges:N of Penalty, and whether it is one.
func (j Job) EdgesWanted() (int, bool) {
	number, wanted := strings.CutPrefix(string(j.Penalty), edgesPrefix)
	if !wanted {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 1
}

// EdgeFDR is the Q of the value fdr:Q of Edges, 0 for the other values, and whether that can
// be read: a number above 0 and not above 1.
func (j Job) EdgeFDR() (float64, bool) {
	text, tested := strings.CutPrefix(j.Edges, fdrPrefix)
	if !tested {
		return 0, true
	}
	q, ok := Value(text).Number()
	return q, ok && q > 0 && q <= 1
}

// TestsPairs says that the job asks for tests of all pairs.
func (j Job) TestsPairs() bool { return j.PValues != "" || strings.HasPrefix(j.Edges, fdrPrefix) }

// Top is the N of the value top:N of Edges, 0 for the other values, and whether
// Edges can be read.
func (j Job) Top() (int, bool) {
	number, bounded := strings.CutPrefix(j.Edges, topPrefix)
	if !bounded {
		return 0, j.Edges == "" || j.Edges == EdgesSupport || j.Edges == EdgesAll || strings.HasPrefix(j.Edges, fdrPrefix)
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n >= 1
}
