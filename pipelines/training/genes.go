package training

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// FamilyGeneRegulators is the family of job.Training that trains a model for tables of
// gene expression whose regulators are known: see regulated.
const FamilyGeneRegulators = "gene-regulators"

// What a training on genes has where the document does not say it, and the tables that
// the weights of the score are fitted to.
const (
	geneGraphs, geneValidationGraphs = 40, 12
	weightStream, weightGraphs       = 16, 20
)

// ofGenes says that the family is one of gene expression.
func (t document) ofGenes() bool { return t.Family == FamilyGeneRegulators }

// resolveGenes leaves out of t, which is resolved, what has no meaning with genes.
func (t *document) resolveGenes(asked document) {
	t.Dimension, t.Samples, t.Covariances = nil, nil, 0
	t.Weights, t.Symmetrisation, t.SmallestEigenvalue = "", "", 0
	t.Architecture, t.Loss, t.Select, t.SupportCost, t.Checkpoint, t.Device = "", "", "", "", "", job.DeviceCPU
	if asked.Graphs == 0 {
		t.Graphs = geneGraphs
	}
	if asked.ValidationGraphs == 0 {
		t.ValidationGraphs = geneValidationGraphs
	}
}

// checkGenes refuses what a training on genes draws or chooses itself.
func (t document) checkGenes() error {
	if !t.ofGenes() {
		return nil
	}
	taken := []string{"family", "graphs", "validation_graphs", "seed", "steps", "batch", "learning_rate", "validate_every",
		"name", "description", "out", "workers", "engine", "json"}
	for _, key := range job.Given(&t.Training) {
		if key == "device" && (t.Device == job.DeviceAuto || t.Device == job.DeviceCPU) {
			continue
		}
		if !slices.Contains(taken, key) {
			return job.Errorf(key, "the family %s says this itself; leave it out", t.Family)
		}
	}
	return nil
}

// genes trains a model on tables of gene expression, and writes it.
func (f *fitting) genes(ctx context.Context) error {
	if f.Name == "" {
		f.Name = f.Family
	}
	f.result.Training.Name, f.result.Model, f.result.Device = f.Name, f.Name, job.DeviceCPU
	if err := f.openOut(); err != nil {
		return err
	}
	began := time.Now()
	report := progress.Begin(f.tell(), progress.Simulating, "")
	var sets [3][]train.Regulated
	for i, of := range []struct {
		purpose uint64
		n       int
	}{{trainingStream, f.Graphs}, {validationStream, f.ValidationGraphs}, {weightStream, weightGraphs}} {
		var err error
		if sets[i], err = regulated(ctx, f.Seed, of.purpose, of.n, f.engine); err != nil {
			return err
		}
	}
	report.Done(fmt.Sprintf("%s, %d for validation and %d for the weights", progress.Count(f.Graphs, "network"), f.ValidationGraphs, weightGraphs))
	found, err := f.fitGenes(ctx, sets[0], sets[1])
	if err != nil {
		return err
	}
	m := found.Model
	if m.Regulators, err = f.fitWeights(ctx, m, sets[2]); err != nil {
		return err
	}
	figures, err := f.geneFigures(ctx, m, sets[1])
	if err != nil {
		return err
	}
	f.finishGenes(found, figures, sets[0])
	f.result.Seconds = job.Float(time.Since(began).Seconds())
	return arrowio.ReplaceFile(f.Out, m.Write)
}

// geneSettings are the architecture's with what the document says.
func (f *fitting) geneSettings() train.Settings {
	s := train.RegulatedSettings(uint64(f.Seed))
	for _, n := range []struct{ to, given *int }{{&s.Steps, &f.Steps}, {&s.Batch, &f.Batch}, {&s.ValidateEvery, &f.ValidateEvery}} {
		if *n.given != 0 {
			*n.to = *n.given
		}
	}
	if f.LearningRate != 0 {
		s.LearningRate = f.LearningRate
	}
	s.Backend = glad.CPU{Engine: f.engine, Workers: f.Workers}
	return s
}

// averagePrecisionKey is the figure by which the best weights are chosen.
const averagePrecisionKey = "average_precision"

func (f *fitting) fitGenes(ctx context.Context, training, validation []train.Regulated) (*train.RegulatedResult, error) {
	s := f.geneSettings()
	if err := s.Validate(); err != nil {
		return nil, &job.Error{Reason: err.Error(), Err: err}
	}
	var step train.Progress
	var tell func(progress.Update)
	if f.host.Progress != nil {
		tell = func(u progress.Update) { f.host.Progress(Update{u, step, averagePrecisionKey}) }
	}
	report := progress.Begin(tell, progress.Training, "")
	if tell != nil {
		s.Progress = func(p train.Progress) {
			step = p
			report.Report(float64(p.Step)/float64(p.Steps), stepText(p, averagePrecisionKey))
		}
	}
	figure := train.RegulatedFigure{Name: averagePrecisionKey, Compute: func(e train.Regulated, scores []float64) (float64, error) {
		r, err := rankingOf(e, magnitude(scores))
		return r.AveragePrecision, err
	}}
	found, err := train.RunRegulated(ctx, train.RegulatedStart(uint64(f.Seed)), training, validation, figure, s)
	if err != nil {
		return nil, err
	}
	report.Done(fmt.Sprintf("%s, %s on the validation data", progress.Count(s.Steps, "step"), figureText(averagePrecisionKey, found.Validation)))
	f.result.Start, f.result.Starts, f.result.Step, f.result.Steps = 1, 1, found.Step, s.Steps
	return found, nil
}

// fitWeights fits those of |R| and |B| in the score.
func (f *fitting) fitWeights(ctx context.Context, m *glad.Model, tables []train.Regulated) (*association.Weights, error) {
	labelled := make([]association.Labelled, len(tables))
	for i, e := range tables {
		b, err := f.scores(ctx, m, e)
		if err != nil {
			return nil, err
		}
		labelled[i] = association.Labelled{B: b, R: e.R, Regulators: e.Regulators, Edge: e.Edge}
	}
	w, err := association.FitWeights(ctx, labelled)
	return &w, err
}

// scores are what the last Θ of a model says of the pairs of a table.
func (f *fitting) scores(ctx context.Context, m *glad.Model, e train.Regulated) ([]float64, error) {
	est, err := glad.Solver{Model: m, Backend: glad.CPU{Engine: f.engine}}.Solve(ctx, e.Problem())
	if err != nil {
		return nil, err
	}
	return e.Scores(ctx, est.Precision)
}

// geneFigures are the means over the validation tables of how the score of recover ranks.
func (f *fitting) geneFigures(ctx context.Context, m *glad.Model, validation []train.Regulated) (Figures, error) {
	figures := Figures{Examples: len(validation), Graphs: len(validation)}
	var auroc, precision float64
	for _, e := range validation {
		b, err := f.scores(ctx, m, e)
		if err != nil {
			return figures, err
		}
		r, err := rankingOf(e, m.Regulators.Blend(b, e.R, e.Regulators))
		if err != nil {
			return figures, err
		}
		auroc += r.AUROC / float64(len(validation))
		precision += r.AveragePrecision / float64(len(validation))
	}
	figures.Metrics = job.Metrics{{Key: "auroc", Value: job.Float(auroc)}, {Key: averagePrecisionKey, Value: job.Float(precision)}}
	return figures, nil
}

// finishGenes fills in the card and the result.
func (f *fitting) finishGenes(found *train.RegulatedResult, figures Figures, training []train.Regulated) {
	m, r := found.Model, f.result
	m.Name = f.Name
	c := &m.Card
	r.Family = regulatedFamily
	for _, e := range training { // the model sees the block of the regulators
		c.Range.Add(len(e.Regulators), e.Samples)
	}
	c.Input = []string{covariance.Pearson.String()}
	c.Family, c.Graphs, c.Seed = r.Family, f.Graphs, uint64(f.Seed)
	c.Command, c.Description = f.asked.Command(), f.Description
	for _, v := range figures.Metrics {
		c.Validation[v.Key] = float64(v.Value)
	}
	c.Validation["selected_by"] = averagePrecisionKey + " of |B|"
	r.Parameters, r.Validation, r.Examples, r.Graphs = m.Parameters(), figures, f.Graphs, f.Graphs
}
