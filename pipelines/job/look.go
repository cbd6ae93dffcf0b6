package job

// A Look says what a table is, and how it would be recovered from: see recovery.Look.
type Look struct {
	// Input is the table; its Samples and Variables are those of the file, Constant the
	// variables that do not vary and Missing the missing values, if there are any.
	Input InputResult `json:"input"`
	// Types are those of the columns, with how many have each.
	Types map[string]int `json:"types"`
	// MostMissing are the variables that miss most values, five at most.
	MostMissing []NamedCount `json:"most_missing,omitempty"`
	// WholeSamples counts the samples without a missing value.
	WholeSamples int `json:"whole_samples"`
	// Repeats are groups of variables that repeat each other, with either sign.
	Repeats [][]string `json:"repeats,omitempty"`
	// Dependent are groups of three variables and more of which each is a linear combination
	// of the others, five at most; they are looked for where there are more samples than variables.
	Dependent [][]string `json:"dependent,omitempty"`
	// TwoValued are the variables that have two different values.
	TwoValued []string `json:"two_valued,omitempty"`
	// MedianKurtosis is that of the variables; a Gaussian has 3. CarriedByFew says that
	// the same few samples have most of the variance.
	MedianKurtosis Float `json:"median_kurtosis"`
	CarriedByFew   bool  `json:"carried_by_few,omitempty"`
	// LeastDeviation and LargestDeviation are the ends of the standard deviations.
	LeastDeviation   NamedValue `json:"least_deviation"`
	LargestDeviation NamedValue `json:"largest_deviation"`
	// Ratio is d/M of the variables that vary.
	Ratio float64 `json:"ratio"`
	// Counted is M, the number of samples as which those that are left count, where
	// covariates are regressed out of them or they have weights; 0 otherwise.
	Counted int `json:"counted,omitempty"`
	// Advice are sentences on what to do. Job is the recovery with it, without defaults, and
	// Command that on the command line.
	Advice  []string `json:"advice,omitempty"`
	Job     Job      `json:"job"`
	Command string   `json:"command"`
}

// A NamedCount is a number of a variable.
type NamedCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// A NamedValue is a value of a variable.
type NamedValue struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}
