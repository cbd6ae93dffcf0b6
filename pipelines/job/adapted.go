package job

import (
	"fmt"
	"slices"
	"strings"
)

// An AdaptedResult says how GLAD was fitted to a table: see Job.Adapt.
type AdaptedResult struct {
	// By is likelihood, where samples that were held out have decided, gate, where a model
	// that has learned on simulated tables has, or training.
	By string `json:"by"`
	// Experts are the models that were averaged, in the order of their set; nil with By
	// training.
	Experts []ExpertResult `json:"experts,omitempty"`
	// Gap, with By likelihood, bounds what other weights could gain: nats of the likelihood
	// of all samples.
	Gap Float `json:"gap,omitzero"`
	// Networks, with By training, counts the simulated networks that were trained on, by
	// kind of graph, the most frequent first.
	Networks []NetworksResult `json:"networks,omitempty"`
}

// An ExpertResult is a model that was averaged.
type ExpertResult struct {
	Model  string `json:"model"`
	Weight Float  `json:"weight"`
	// Expected, with By gate, is the error that was expected beyond that of the general
	// model, in decibels.
	Expected Float `json:"expected_db,omitzero"`
}

// A NetworksResult counts networks of a kind.
type NetworksResult struct {
	Family string `json:"family"`
	Graphs int    `json:"graphs"`
}

// String is one line for people: "hub .71, scale-free .29 (by the likelihood of held-out
// samples)".
func (a *AdaptedResult) String() string {
	var words []string
	if a.By == AdaptedByTraining {
		for _, n := range a.Networks {
			words = append(words, fmt.Sprintf("%d %s", n.Graphs, n.Family))
		}
		return "trained on the simulated networks most like the table: " + strings.Join(words, ", ")
	}
	experts := slices.Clone(a.Experts)
	slices.SortStableFunc(experts, func(x, y ExpertResult) int {
		switch {
		case x.Weight > y.Weight:
			return -1
		case x.Weight < y.Weight:
			return 1
		}
		return 0
	})
	for _, e := range experts {
		if e.Weight >= 0.005 {
			words = append(words, fmt.Sprintf("%.2f %s", float64(e.Weight), e.Model))
		}
	}
	by := "by the gate"
	if a.By == AdaptedByLikelihood {
		by = "by the likelihood of held-out samples"
	}
	return "mean of " + strings.Join(words, ", ") + ", weighted " + by
}

// Values of AdaptedResult.By.
const (
	AdaptedByLikelihood = "likelihood"
	AdaptedByGate       = "gate"
	AdaptedByTraining   = "training"
)
