package training

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// folderName is the last element of a path, if it is a name.
func folderName(path string) string {
	name := filepath.Base(path)
	if strings.Trim(name, "./\\") == "" {
		return "tables"
	}
	return name
}

// learningRatePart is what fine-tuning takes of an architecture's learning rate:
// large first steps would lose weights that are good already.
const learningRatePart = 3

// openStarts opens the preset: the models to start from, and the settings.
func (f *fitting) openStarts() (err error) {
	if f.From == "" {
		f.preset, err = train.NewPreset(f.Architecture, uint64(f.Seed))
		switch {
		case f.Name != "":
		case f.Data != "":
			f.Name = folderName(f.Data)
		default:
			f.Name = f.Family + "-d" + spanOf(f.Dimension)
			if len(f.Samples) > 0 {
				f.Name += "-m" + spanOf(f.Samples)
			}
		}
	} else if f.from, err = recovery.OpenModel("from", f.From, nil); err != nil {
		return err
	} else {
		err = f.openTuning()
	}
	f.result.Training.Name = f.Name
	f.result.Model, f.result.Architecture = f.Name, f.Architecture
	if err != nil {
		return err
	}
	if f.asked.SupportCost != "" && f.preset.Starts[0].Kind != glad.GLADPM {
		return job.Errorf("support_cost", "a model of kind %s has zeros without a threshold; leave this out", f.preset.Starts[0].Kind)
	}
	return nil
}

// openTuning opens the preset of fine-tuning.
func (f *fitting) openTuning() error {
	architecture, like := architectureOf(f.from)
	if f.Architecture != "" && f.Architecture != architecture {
		if architecture == "" {
			architecture = "another one"
		}
		return job.Errorf("architecture", "the model %s has %s and keeps it; leave this out", f.from.Name, architecture)
	}
	f.Architecture = architecture
	f.result.Training.Architecture = architecture
	if f.Name == "" {
		f.Name = f.from.Name + "-tuned"
	}
	f.openInput()
	var err error
	if f.preset, err = train.NewPreset(like, uint64(f.Seed)); err != nil {
		return err
	}
	f.preset.Settings.LearningRate /= learningRatePart
	// Other cells make other features of an edge: the head goes with its cells.
	f.head, f.headCard = f.from.Edge, f.from.Card.Edges
	f.headRange = f.from.EdgeRange
	f.from.Edge, f.from.EdgeRange, f.from.Card.Edges = glad.Network{}, nil, nil
	start := f.from.Clone()
	start.Card = glad.Card{}
	f.preset.Starts = []*glad.Model{start}
	return nil
}

// openInput makes the examples what the model to start from was trained on, or warns where
// the user has chosen otherwise.
func (f *fitting) openInput() {
	if f.Data == "" && !f.drawsFamily() {
		return
	}
	if f.asked.Correlation == "" {
		switch f.Correlation = recovery.ModelCorrelation(f.from); {
		case f.Data != "":
		case f.from.Card.OnCovariances() || !f.from.Card.OnCorrelations():
			f.Correlation = "" // covariances, as without a model to start from
		default:
			f.Correlation = covariance.Pearson.String()
		}
		f.result.Training.Correlation = f.Correlation
	}
	standardised := f.standardises() || f.Data != "" && f.Correlation != covariance.Covariance.String()
	if !f.from.Suits(standardised) {
		f.warn("%s; leave out the correlation %s, for the model says itself what it needs", recovery.OtherInput(f.from, standardised), f.Correlation)
	}
}

// architectureOf is the architecture that m has, empty if none, and one whose
// settings suit it.
func architectureOf(m *glad.Model) (architecture, like string) {
	shape := func(m *glad.Model) string {
		text := fmt.Sprintln(m.Kind, m.Iterations, len(m.Cells), m.Scaling.Mode, m.Lambda.Inputs, m.Rho.Inputs, m.Parameters())
		for _, c := range m.Cells {
			text += fmt.Sprintln(c.Network.Inputs)
		}
		for _, l := range m.Rho.Layers {
			text += fmt.Sprintln(l.Activation, l.Scale)
		}
		return text
	}
	for _, name := range train.Architectures() {
		preset, err := train.NewPreset(name, 0)
		if err != nil {
			continue
		}
		if start := preset.Starts[0]; shape(start) == shape(m) {
			return name, name
		} else if like == "" && start.Kind == m.Kind {
			like = name
		}
	}
	return "", like
}

// spanOf is "100", or "20to500" for several.
func spanOf(c job.Counts) string {
	low, high := c[0], c[0]
	for _, n := range c {
		low, high = min(low, n), max(high, n)
	}
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%dto%d", low, high)
}
