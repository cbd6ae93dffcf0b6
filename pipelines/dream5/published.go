package dream5

import "github.com/gladflow/gladflow/pipelines/job"

// Published is figures of others on the challenge's own data, on its labelled pairs.
type Published struct {
	Method string `json:"method"`
	// AUROC and AUPR are as published; NaN where there is no such figure.
	AUROC job.Float `json:"auroc"`
	AUPR  job.Float `json:"aupr"`
	// Source is where they stand, Note what should be known of them.
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
}

type publishedOn struct {
	network string
	Published
}

const (
	marbach = "Marbach et al., Nature Methods 9:796, 2012, supplementary table"
	moerman = "Moerman et al., Bioinformatics 35:2159, 2019"
	glad    = "Shrivastava et al., ICLR 2020"
)

// published are the figures that users ask for beside theirs.
func published() []publishedOn {
	unstated := "trained on Gaussian samples; the population of pairs is not stated"
	return []publishedOn{
		{"1", Published{"community (rank sum)", 0.809, 0.327, marbach, ""}},
		{"1", Published{"GENIE3 (Other 1)", 0.815, 0.291, marbach, ""}},
		{"1", Published{"Regression 1", 0.782, 0.301, marbach, ""}},
		{"1", Published{"Mutual information 1", 0.773, 0.255, marbach, ""}},
		{"1", Published{"Correlation 1", 0.757, 0.189, marbach, ""}},
		{"3", Published{"community (rank sum)", 0.650, 0.090, marbach, ""}},
		{"3", Published{"GENIE3 (Other 1)", 0.617, 0.093, marbach, ""}},
		{"3", Published{"Other 2", 0.671, 0.119, marbach, ""}},
		{"3", Published{"GRNBoost2", 0.634, 0.122, moerman, "scored from its published list"}},
		{"3", Published{"Mutual information 1", 0.590, 0.075, marbach, ""}},
		{"3", Published{"Correlation 2", 0.580, 0.065, marbach, ""}},
		{"3", Published{"GLAD", 0.572, job.NaN(), glad, unstated}},
		{"3", Published{"BCD", 0.548, job.NaN(), glad, unstated}},
		{"3", Published{"G-ISTA", 0.541, job.NaN(), glad, unstated}},
		{"4", Published{"community (rank sum)", 0.528, 0.022, marbach, ""}},
		{"4", Published{"GENIE3 (Other 1)", 0.518, 0.021, marbach, ""}},
		{"4", Published{"Meta 5", 0.514, 0.032, marbach, ""}},
		{"4", Published{"Correlation 2", 0.517, 0.020, marbach, ""}},
	}
}
