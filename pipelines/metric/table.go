package metric

// A Metric is a figure of a network on a population, for those who compute,
// print, write or choose by several: adding one to Table is all it takes.
type Metric struct {
	// Key is its name in files, such as aupr.
	Key string
	// Title is its name for people, such as AUPR.
	Title string
	// Unit is that of the value; empty for a share or an area.
	Unit string
	// Format prints the value, as fmt does.
	Format string
	// OfRanking says that a ranking of the pairs is enough for it. The others
	// need a support.
	OfRanking bool
	// Headline says that it is one of the few that summaries show.
	Headline bool
	// Value computes it.
	Value func(Scored) float64
}

// Scored is a network that was compared with a population.
type Scored struct {
	// Ranking is that of the pairs by score.
	Ranking Ranking
	// Support compares the support with the truth; zero where there is only a ranking.
	Support Confusion
}

// Table lists the metrics in the order of files and tables.
func Table() []Metric {
	const area = "%.4f"
	return []Metric{
		{Key: "auroc", Title: "AUROC", Format: area, OfRanking: true, Headline: true,
			Value: func(s Scored) float64 { return s.Ranking.AUROC }},
		{Key: "aupr", Title: "AUPR", Format: area, OfRanking: true, Headline: true,
			Value: func(s Scored) float64 { return s.Ranking.AUPR }},
		{Key: "average_precision", Title: "average precision", Format: area, OfRanking: true,
			Value: func(s Scored) float64 { return s.Ranking.AveragePrecision }},
		{Key: "early_precision", Title: "early precision", Format: area, OfRanking: true,
			Value: func(s Scored) float64 { return s.Ranking.EarlyPrecision }},
		{Key: "early_precision_ratio", Title: "early precision ratio", Format: "%.2f", OfRanking: true,
			Value: func(s Scored) float64 { return s.Ranking.EarlyPrecisionRatio() }},
		{Key: "fdr", Title: "false discovery rate", Format: area,
			Value: func(s Scored) float64 { return s.Support.FDR() }},
		{Key: "tpr", Title: "true positive rate", Format: area,
			Value: func(s Scored) float64 { return s.Support.TPR() }},
		{Key: "fpr", Title: "false positive rate", Format: area,
			Value: func(s Scored) float64 { return s.Support.FPR() }},
	}
}

// TieRule says in a line what figures of rankings make of pairs that tie: see Ranking.
const TieRule = "pairs of equal score come in an order left to chance: figures are expectations; average precision is the mean precision at the rank of each edge"

// OfRankings lists the metrics for which a ranking is enough.
func OfRankings() []Metric { return chosen(func(m Metric) bool { return m.OfRanking }) }

// Headlines lists the metrics that summaries show.
func Headlines() []Metric { return chosen(func(m Metric) bool { return m.Headline }) }

func chosen(by func(Metric) bool) []Metric {
	var list []Metric
	for _, m := range Table() {
		if by(m) {
			list = append(list, m)
		}
	}
	return list
}
