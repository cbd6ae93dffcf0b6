package job

// RunFile is the name of the document that a run leaves in its folder, Job.Out.
const RunFile = "run.json"

// A Result is what a run did: the document run.json.
type Result struct {
	// Version is that of gladflow.
	Version string `json:"version"`
	// Job is what was asked for, with all defaults filled in: running it
	// again repeats the run. URLs are without their parameters, which may be
	// secrets.
	Job Job `json:"job"`
	// Partial says that results are missing: the run was interrupted, or a
	// solver or the writing of a file has failed.
	Partial bool `json:"partial"`
	// Error is the sentence that the run failed with; empty for one that did not.
	Error string `json:"error,omitempty"`
	// Input is the table.
	Input InputResult `json:"input"`
	// Warnings are sentences on what the user may not have intended.
	Warnings []string `json:"warnings,omitempty"`
	// Engine is the linear algebra of the CPU with its version, Threads the number
	// of threads that the run computed on.
	Engine  string `json:"engine"`
	Threads int    `json:"threads,omitempty"`
	// Device is where the solvers computed that have code for a GPU: cpu, or cuda:N.
	// DeviceName is that GPU with the versions of its libraries. DeviceNote says in a
	// sentence, of a build with GPU code, why auto was the CPU.
	Device     string `json:"device"`
	DeviceName string `json:"device_name,omitempty"`
	DeviceNote string `json:"device_note,omitempty"`
	// Penalty says where ρ comes from; nil where no solver takes one.
	Penalty *PenaltyResult `json:"penalty,omitempty"`
	// Tests says how pairs were tested; nil where they were not.
	Tests *TestsResult `json:"tests,omitempty"`
	// Reference is the network scored with; nil where none was given.
	Reference *ReferenceResult `json:"reference,omitempty"`
	// Regulators are the variables at which edges start; nil where edges are undirected.
	Regulators *RegulatorsResult `json:"regulators,omitempty"`
	// Solvers are in the order in which they ran.
	Solvers []SolverResult `json:"solvers"`
	// Files are those that are not a solver's own, run.json aside.
	Files []WrittenFile `json:"files,omitempty"`
	// Seconds is the wall-clock time of the whole run.
	Seconds Float `json:"seconds"`
	// Variables are the names of the variables in the order of the input, and
	// StandardDeviations theirs: of the samples with Job.Divisor, or the roots
	// of the covariance's diagonal.
	Variables          []string  `json:"variables"`
	StandardDeviations []float64 `json:"standard_deviations"`
}

// An InputResult describes the table that was read.
type InputResult struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// Streamed says that a host has given the samples, from no file.
	Streamed bool `json:"streamed,omitempty"`
	// SHA256 is the checksum of the file's bytes.
	SHA256 string `json:"sha256"`
	// Samples is M, Variables d.
	Samples   int `json:"samples"`
	Variables int `json:"variables"`
	// Shrinkage is the weight that was applied, given or found.
	Shrinkage float64 `json:"shrinkage"`
	// Correlation is what was estimated from samples: what auto stands for, or
	// Job.Correlation. HeavyTails counts the variables of a kurtosis above 6.
	Correlation string `json:"correlation,omitempty"`
	HeavyTails  int    `json:"heavy_tails,omitempty"`
	// VariablesRead and SamplesRead are those of the file, where some were left out; 0
	// where none were.
	VariablesRead int `json:"variables_read,omitempty"`
	SamplesRead   int `json:"samples_read,omitempty"`
	// Constant are the variables that were left out because they do not vary.
	Constant []string `json:"constant,omitempty"`
	// LeastVariance is the smallest variance that Job.TopVariance has left.
	LeastVariance float64 `json:"least_variance,omitempty"`
	// Missing says what was done about missing values; nil where there were none.
	Missing *MissingResult `json:"missing,omitempty"`
	// Excluded counts the samples that Job.Rows and ExcludeRows have left out.
	Excluded int `json:"excluded,omitempty"`
	// Adjusted says what was regressed out of the variables, Weighted how samples were
	// weighted; nil without. Samples, M, is then the number that they count as.
	Adjusted *AdjustedResult `json:"adjusted,omitempty"`
	Weighted *WeightedResult `json:"weighted,omitempty"`
}

// An AdjustedResult says what was regressed out of the variables.
type AdjustedResult struct {
	Covariates []CovariateResult `json:"covariates"`
	// Rank is the number of degrees of freedom that they take: M is less by it.
	Rank int `json:"rank"`
	// Redundant are the covariates that say nothing besides the others, PartlyRedundant
	// those of which some words do not.
	Redundant       []string `json:"redundant,omitempty"`
	PartlyRedundant []string `json:"partly_redundant,omitempty"`
	// Explained are the variables that the covariates explain wholly.
	Explained []string `json:"explained,omitempty"`
}

// A CovariateResult is a column that was regressed out: Words is how many different ones
// it has, 0 for numbers.
type CovariateResult struct {
	Name  string `json:"name"`
	Words int    `json:"words,omitempty"`
}

// A WeightedResult says how samples were weighted.
type WeightedResult struct {
	Column string `json:"column"`
	// Samples is (Σw)²/Σw², the number of equal samples that they count as.
	Samples float64 `json:"samples"`
	// Zero counts the samples of weight 0, which are left out.
	Zero int `json:"zero,omitempty"`
}

// A MissingResult says what was done about missing values.
type MissingResult struct {
	// Values is their number, Samples that of the samples with one.
	Values  int `json:"values"`
	Samples int `json:"samples"`
	// LeastPair and MedianPair are the smallest and the median number of samples that
	// two variables have in common, for pairwise and em: InputResult.Samples is then
	// the harmonic mean of these numbers, by which the variances of correlations
	// average.
	LeastPair  int `json:"least_pair,omitempty"`
	MedianPair int `json:"median_pair,omitempty"`
	// Distance is how far the pairwise correlations were from a correlation matrix,
	// relative to their norm.
	Distance float64 `json:"distance,omitempty"`
	// Iterations and Change are those of EM: see covariance.Completion.
	Iterations int     `json:"iterations,omitempty"`
	Change     float64 `json:"change,omitempty"`
}

// A RegulatorsResult describes the list of regulators.
type RegulatorsResult struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Listed counts the names of the list, Found those that are variables of the table.
	Listed int `json:"listed"`
	Found  int `json:"found"`
}

// A PenaltyResult says where the penalty comes from.
type PenaltyResult struct {
	// From is "job", "matrix", "edges" for a number of edges, or the rule that has
	// chosen it, such as "ebic": see recovery.Penalties.
	From string `json:"from"`
	// Rho is ρ; NaN for a matrix.
	Rho Float `json:"rho"`
	// How says in words how a rule came to it, or which number of edges was reached; empty
	// for a number and a matrix.
	How string `json:"how,omitempty"`
	// Criterion is what PathPoint.Criterion holds: "ebic" or "bic", which are least at the
	// best penalty, "held_out", the mean log-likelihood of a held-out sample in nats without
	// its constant, which is largest there, or "instability" of stars, from 0 to 0.5. It is
	// empty without a path.
	Criterion string `json:"criterion,omitempty"`
	// Gamma is γ of ebic, Threshold the largest instability that stars allows.
	Gamma     *Float `json:"gamma,omitempty"`
	Threshold *Float `json:"threshold,omitempty"`
	// Resamples is the number of subsamples of stars, of folds of cv, of permutations of
	// ric; ResampleSize the number of samples in a subsample, or left after a fold was held
	// out (the smallest).
	Resamples    int `json:"resamples,omitempty"`
	ResampleSize int `json:"resample_size,omitempty"`
	// Best is the penalty of the best criterion, where cv has taken a larger one by the
	// one-standard-error rule.
	Best *Float `json:"best,omitempty"`
	// Permuted are the smallest penalties that leave no edge of the permuted samples, of
	// which ric takes the least.
	Permuted []Float `json:"permuted,omitempty"`
	// MatrixSHA256 is the checksum of the penalty matrix, if there was one.
	MatrixSHA256 string `json:"matrix_sha256,omitempty"`
	// Path lists the penalties that were tried, the largest first.
	Path []PathPoint `json:"path,omitempty"`
	// TimeLimitReached says that smaller penalties were not tried.
	TimeLimitReached bool `json:"time_limit_reached,omitempty"`
}

// A PathPoint is one penalty that was tried.
type PathPoint struct {
	Penalty Float `json:"penalty"`
	// Edges is the number of unordered pairs in the support; of stars and cv the mean over
	// subsamples or folds.
	Edges Float `json:"edges"`
	// Criterion is PenaltyResult.Criterion here, CriterionError its standard error over
	// folds; NaN for other rules than cv.
	Criterion      Float `json:"criterion"`
	CriterionError Float `json:"criterion_error"`
	// LogLikelihood is that of the samples, in nats without its constant, EBIC the extended
	// BIC; NaN for stars and cv. Of refit both are those of the graph fitted again, by
	// pseudo-likelihood: see selection.Refit.
	LogLikelihood Float `json:"log_likelihood"`
	EBIC          Float `json:"ebic"`
	// Resamples is the number of subsamples that stars has solved here; of two of them the
	// criterion is an estimate of that of all.
	Resamples int `json:"resamples,omitempty"`
	// Status is the worst, Iterations the largest number, Gap the largest relative duality
	// gap, over subsamples or folds.
	Status     string `json:"status"`
	Iterations int    `json:"iterations"`
	Gap        Float  `json:"relative_gap"`
	Seconds    Float  `json:"seconds"`
	Chosen     bool   `json:"chosen,omitempty"`
}

// A ReferenceResult describes the network that was scored with.
type ReferenceResult struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	PopulationResult
}

// A PopulationResult is the pairs that were scored; no figure means anything
// without it.
type PopulationResult struct {
	// Population is "labelled" or "all"; Directed says whether the pairs are
	// ordered.
	Population string `json:"population"`
	Directed   bool   `json:"directed"`
	Pairs      int    `json:"pairs"`
	Positives  int    `json:"positives"`
	// Skipped counts lines of the reference that name an unknown variable,
	// SkippedPositives those of them that are edges, SelfLoops lines that pair
	// a variable with itself.
	Skipped          int `json:"skipped"`
	SkippedPositives int `json:"skipped_positives"`
	SelfLoops        int `json:"self_loops"`
	// Text says all that in a line.
	Text string `json:"text"`
}

// A SolverResult is what one solver did.
type SolverResult struct {
	Name string `json:"name"`
	// Ranking says that the solver has ranked pairs and has no precision matrix: then
	// nothing of the certificate is there.
	Ranking bool `json:"ranking,omitempty"`
	// Model is the model that GLAD ran.
	Model string `json:"model,omitempty"`
	// Adapted says how GLAD was fitted to the table; nil where it was not.
	Adapted *AdaptedResult `json:"adapted,omitempty"`
	// Score is what GLAD's edges are ranked by, as Job.Score, and ExpectedFalse the share of
	// false edges that is expected in its support; empty and nil for a model without an edge head.
	Score         string `json:"score,omitempty"`
	ExpectedFalse *Float `json:"expected_false,omitempty"`
	// Stability says how the solver did on halves of the samples; nil where it was not run on
	// any.
	Stability *StabilityResult `json:"stability,omitempty"`
	// Status is that of the estimate, see solver.Status, or "failed".
	Status string `json:"status"`
	// TimeLimitReached says that the time limit is why it was interrupted.
	TimeLimitReached bool `json:"time_limit_reached,omitempty"`
	// Note says in a sentence what a status other than converged or completed
	// means, or that the solver computed elsewhere than Result.Device says.
	Note string `json:"note,omitempty"`
	// Error is the sentence that the solver failed with, or the writing of its
	// files: then Status is that of the estimate, which the service still has.
	Error string `json:"error,omitempty"`
	// The certificate, see solver.Estimate. NaN for a solver without one.
	Iterations  int   `json:"iterations"`
	Objective   Float `json:"objective"`
	DualityGap  Float `json:"duality_gap"`
	RelativeGap Float `json:"relative_gap"`
	KKTResidual Float `json:"kkt_residual"`
	// Penalty is ρ; NaN where there is none or a matrix.
	Penalty Float `json:"penalty"`
	// Edges is the number of unordered pairs in the support; of a ranking, and where
	// regulators are known, the number of pairs that are listed.
	Edges   int   `json:"edges"`
	Seconds Float `json:"seconds"`
	// Network is what was found in short; nil of a solver that has failed.
	Network *NetworkResult `json:"network,omitempty"`
	// Metrics are of every pair of the population, by the solver's score; nil without a
	// reference. ListMetrics are of the list of edges alone, whose other pairs tie last,
	// as an evaluation of its file has them; nil where no list is made, and where they are
	// the same figures.
	Metrics     Metrics `json:"metrics,omitempty"`
	ListMetrics Metrics `json:"list_metrics,omitempty"`
	// ListSupport compares the pairs that the list has with the reference; nil without either.
	ListSupport *ListSupport `json:"list_support,omitempty"`
	// Course is how the solver came to its estimate; nil without iterations. Curves are those
	// of every pair; nil without a reference.
	Course *CourseResult `json:"course,omitempty"`
	Curves *CurvesResult `json:"curves,omitempty"`
	// Files are those that were written, each of them whole. A file that bears the
	// solver's name and is not among them is of another run.
	Files []WrittenFile `json:"files,omitempty"`
}

// A ListSupport compares the pairs of a population that a list of edges has with the
// population's edges, whatever their scores.
type ListSupport struct {
	// Pairs are those in the list, Positives those of them that are edges.
	Pairs     int `json:"pairs"`
	Positives int `json:"positives"`
	// Precision is Positives/Pairs, null for no pair, Recall the share of the population's
	// edges that the list has, F1 their harmonic mean.
	Precision Float `json:"precision"`
	Recall    Float `json:"recall"`
	F1        Float `json:"f1"`
}

// StatusText is the status for people.
func (s SolverResult) StatusText() string {
	if s.TimeLimitReached {
		return s.Status + " (time limit)"
	}
	return s.Status
}
