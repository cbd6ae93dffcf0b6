package recovery

import (
	"fmt"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/card"
)

// defaultCorrelation is the correlation of a job that names none and is resolved
// otherwise: that of its model. It is empty where only a file says that.
func defaultCorrelation(j job.Job) string {
	if j.Adapt == job.AdaptEqualScales && j.InputKind != job.KindCorrelation {
		return covariance.Covariance.String()
	}
	if !anySolver(j.Solvers, func(s solverEntry) bool { return s.takesModel }) {
		return covariance.Pearson.String()
	}
	m, err := glad.Builtin(j.Model)
	if err != nil {
		return ""
	}
	return correlationOf(m, j)
}

// correlationOf is what S holds where a job leaves that to the model.
func correlationOf(m *glad.Model, j job.Job) string {
	of := ModelCorrelation(m)
	if j.InputKind == job.KindCorrelation || !j.SamplesGiven() && of != covariance.Covariance.String() {
		return covariance.Pearson.String() // no other can be made of a matrix
	}
	return of
}

// ModelCorrelation is what a model was trained on by its card, as Job.Correlation has it:
// pearson where that is among several or is not said.
func ModelCorrelation(m *glad.Model) string {
	pearson := covariance.Pearson.String()
	switch {
	case len(m.Card.Input) == 0 || slices.Contains(m.Card.Input, pearson):
		return pearson
	case !m.Card.OnCorrelations():
		return covariance.Covariance.String()
	}
	return m.Card.Input[slices.IndexFunc(m.Card.Input, func(word string) bool { return word != card.InputCovariance })]
}

// warnOfModel warns where the table is not what the model of GLAD was trained on.
func (r *run) warnOfModel() {
	if r.model == nil {
		return
	}
	for _, warning := range []string{r.otherInput(), r.otherSize()} {
		if warning != "" {
			r.result.Warnings = append(r.result.Warnings, warning)
		}
	}
}

// warnOfFilledIn warns where GLAD works on what EM has filled in. EM's expected covariance is
// shrunk by the graphical lasso inside of it, and GLAD takes that for weak edges: on simulated
// tables its support then has a fraction of the edges that it has from pairwise correlations
// (gladflow experiment missing).
func (r *run) warnOfFilledIn(data *table.Data) {
	if r.job.Missing == job.MissingEM && data.Completion != nil && anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesModel }) {
		r.warn("glad lists few edges after em, whose own penalty has shrunk what it filled in; for glad compare with missing pairwise, or leave the edges to bcd")
	}
}

// otherInput is the warning where S is a covariance and the training data were
// correlations, or the other way round; empty if not.
func (r *run) otherInput() string {
	standardised := r.table.Standardised()
	if r.model.Suits(standardised) {
		return ""
	}
	advice := "leave out the correlation " + r.job.Correlation + ", for the model says itself what it needs"
	if r.job.InputKind == job.KindCorrelation {
		advice = "give the samples or their covariance, or take another model, such as " + glad.DefaultModelName
	}
	return OtherInput(r.model, standardised) + "; " + advice
}

// OtherInput says that a model does not suit S: see glad.Model.Suits.
func OtherInput(m *glad.Model, standardised bool) string {
	trained, given := "covariances", "correlations"
	if !standardised {
		trained, given = given, trained
	}
	return fmt.Sprintf("the model %s was trained on %s and is given %s, on which its estimates can be far off", m.Name, trained, given)
}

// Beyond the training data by these factors a model is warned of: d/M is what its cells
// learned most of, and d and M one at a time matter less.
const (
	farRatio = 2
	farSize  = 8
)

// otherSize is the warning where the table is far larger or smaller than the training
// data; empty if not.
func (r *run) otherSize() string {
	d, m := r.blockLen(), r.result.Input.Samples
	ratio := float64(d) / float64(m)
	trained := r.model.Card.TrainedOn()
	far := func(s card.Span, v, factor float64) (int, bool) {
		b := s.Beyond(v)
		switch {
		case b > factor:
			return 1, true
		case b < 1/factor:
			return -1, true
		}
		return 0, false
	}
	const what = "the model %s was trained on %s, and here it is %s; "
	advice := fmt.Sprintf("train one on networks of this size (gladflow train FAMILY --from %s --dimension %d --samples %d)", r.job.Model, d, m)
	if r.model.Name != glad.DefaultModelName && r.regulators == nil {
		if g, err := glad.Builtin(glad.DefaultModelName); err == nil && g.Card.TrainedOn().Ratio.Beyond(ratio) == 1 {
			advice = "take the model " + g.Name + ", or " + advice
		}
	}
	if sign, is := far(trained.Ratio, ratio, farRatio); is {
		if sign < 0 {
			advice = "with so many samples bcd needs no model, or " + advice
		}
		return fmt.Sprintf(what, r.model.Name, "d/M of "+trained.Ratio.String(), card.Span{ratio, ratio}.String()) + advice
	}
	if _, is := far(trained.Dimension, float64(d), farSize); is {
		return fmt.Sprintf(what, r.model.Name, trained.Dimension.String()+" variables", progress.Count(d, "variable")) + advice
	}
	if _, is := far(trained.Samples, float64(m), farSize); is {
		return fmt.Sprintf(what, r.model.Name, trained.Samples.String()+" samples", progress.Count(m, "sample")) + advice
	}
	return ""
}
