package training

import (
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// supportCostNone is the word of Training.SupportCost that leaves Z dense.
const supportCostNone = "none"

// defaultArchitecture is that of a training from random weights.
const defaultArchitecture = train.UntiedPosteriorMean

// families are the words of Training.Family.
func families() []string {
	return slices.Concat(simulate.Graphs(), mixtures(), []string{FamilyGeneRegulators})
}

// mixtures are those families that draw graphs of several kinds, and all else about them.
func mixtures() []string { return []string{simulate.GraphMixed, simulate.GraphStandardised} }

// ofMixture says whether the examples are of one of them.
func (t document) ofMixture() bool { return slices.Contains(mixtures(), t.Family) }

// Facts are the names that a job.Training may hold: families, architectures,
// figures to select by, built-in models.
func Facts() job.Facts {
	var selectable []string
	for _, m := range Metrics() {
		if m.Select != "" {
			selectable = append(selectable, m.Select)
		}
	}
	return job.Facts{Words: map[string][]string{
		"family":       families(),
		"architecture": train.Architectures(),
		"select":       selectable,
		"from":         glad.BuiltinNames(),
	}}
}

// resolved returns t with every default filled in that is a value and that has a
// meaning beside the other fields.
func (t document) resolved() document {
	r := t
	job.Resolve(&r.Training, Facts())
	if t.Data != "" {
		r.Dimension, r.Samples, r.Graphs, r.Covariances, r.ValidationGraphs = nil, nil, 0, 0, 0
		r.Weights, r.Symmetrisation, r.SmallestEigenvalue = "", "", 0
		if r.Correlation == "" {
			r.Correlation = covariance.Pearson.String() // or that of From: openTuning
		}
	} else {
		if r.Select == "" {
			r.Select = selectNMSE // of data: openData
		}
		r.Orientation, r.ValidationPart = "", 0
		if r.Correlation == covariance.Covariance.String() {
			r.Correlation = "" // or that of From: openInput
		}
	}
	if t.ofMixture() {
		r.Samples, r.Covariances, r.Weights, r.Symmetrisation, r.SmallestEigenvalue = nil, 0, "", "", 0
	}
	if t.ofGenes() {
		r.resolveGenes(t)
	} else if t.From == "" && r.Architecture == "" {
		r.Architecture = defaultArchitecture
	}
	if t.Select == selectPS {
		r.SupportCost = ""
	}
	if r.Checkpoint == "" && r.Out != "" {
		r.Checkpoint = strings.TrimSuffix(r.Out, ".json") + ".checkpoint"
	}
	return r
}

// identity is what a checkpoint must agree in besides what train.State checks.
func (t document) identity() string {
	r := t.resolved().Essential()
	r.Out, r.Checkpoint, r.Name, r.Description = "", "", "", ""
	r.Engine, r.Device = "", ""                 // checkBackend
	r.Stop = 0                                  // train.Resume
	r.From, r.Data, r.Architecture = "", "", "" // data and first weights are compared themselves
	return output.JSON(r)
}
