package training

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

// finish chooses the threshold, fills in the card and writes the model.
func (f *fitting) finish(ctx context.Context, found *train.Result, s train.Settings) error {
	m := found.Model
	m.Name = f.Name
	f.result.StartKept = f.from != nil && found.BestStep == 0
	if f.result.StartKept {
		m.Threshold = f.from.Threshold
	}
	estimates, figures, err := evaluate(ctx, m, f.data.validation, s.Backend)
	if err != nil {
		return err
	}
	if f.Select == selectPS && m.Kind == glad.GLADPM {
		best, err := successThreshold(estimates, f.data.validation)
		if err != nil {
			return err
		}
		m.Threshold = best.Threshold
		if _, figures, err = evaluate(ctx, m, f.data.validation, s.Backend); err != nil {
			return err
		}
	}
	f.fillCard(m, figures, found)
	f.keepHead(m)
	r := f.result
	r.Parameters, r.Threshold, r.Validation = m.Parameters(), m.Threshold, figures
	r.Family, r.Examples, r.Graphs = f.data.family, len(f.data.training), f.data.graphs
	r.Start, r.Starts, r.Step, r.Steps, r.RolledBack = found.Start+1, len(f.preset.Starts), found.BestStep, s.Steps, found.RolledBack
	r.Seconds = job.Float(found.Elapsed.Seconds())
	if err := arrowio.ReplaceFile(f.Out, m.Write); err != nil {
		return err
	}
	if err := os.Remove(f.Checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.warn("the checkpoint cannot be removed (%v); remove it", err)
	}
	return nil
}

// keepHead gives m the edge head of the model that training started from, if it has its
// cells still, and else says that it is gone.
func (f *fitting) keepHead(m *glad.Model) {
	switch {
	case f.headCard == nil && len(f.head.Layers) == 0:
	case slices.Equal(m.Values(), f.from.Values()):
		m.Edge, m.EdgeRange, m.Card.Edges = f.head, f.headRange, f.headCard
	default:
		f.warn("the probability of an edge that %s gives was fitted to its cells, which have changed, and is left out; gladflow train edges --from %s --out %[2]s fits another", f.from.Name, f.Out)
	}
}

// fillCard says where the weights come from. It holds no times: the same
// training gives the same bytes.
func (f *fitting) fillCard(m *glad.Model, figures Figures, found *train.Result) {
	c := &m.Card
	c.Family, c.Dimension, c.Samples, c.Graphs = f.data.family, glad.Counts(f.data.dimensions), glad.Counts(f.data.samples), f.data.graphs
	estimated := ""
	if f.Data != "" {
		estimated = f.Correlation
	}
	describeExamples(c, f.data.training, estimated)
	c.Seed, c.Command, c.Description = uint64(f.Seed), f.asked.Command(), f.Description
	if c.Validation == nil {
		c.Validation = make(map[string]any)
	}
	c.Validation["start"] = float64(found.Start + 1) // from 1, as people count
	c.Validation["graphs"] = float64(figures.Graphs)
	c.Validation["selected_by"] = f.Select
	for _, m := range figures.Metrics {
		delete(c.Validation, m.Key)
		if m.Value.IsFinite() {
			c.Validation[m.Key] = float64(m.Value)
		}
	}
	if f.from == nil {
		return
	}
	for _, m := range f.result.Before.Metrics {
		if m.Value.IsFinite() {
			c.Validation[m.Key+"_before"] = float64(m.Value)
		}
	}
	name, before := f.from.Name, f.from.Card
	c.Family = "fine-tuned from " + name + " on " + c.Family
	history := fmt.Sprintf("Fine-tuned from %s", name)
	if f.result.StartKept {
		c.Validation["start_kept"] = true
		history = fmt.Sprintf("Equal to %s, for no step of fine-tuning was better on the validation data; that is", name)
	}
	if before.Family != "" {
		history += " (" + before.Family + ")"
	}
	if before.Command != "" {
		history += ", which was made by: " + before.Command
	}
	if c.Description != "" {
		history = c.Description + " " + history
	}
	c.Description = history
}

// stepText is what a step says for people.
func stepText(p train.Progress, figure string) string {
	text := ""
	if p.Starts > 1 {
		text = fmt.Sprintf("start %d of %d, ", p.Start, p.Starts)
	}
	text += fmt.Sprintf("step %d of %d", p.Step, p.Steps)
	if p.RolledBack {
		text += ", rolled back, for its loss was not finite"
	} else if !math.IsNaN(p.Loss) {
		text += fmt.Sprintf(", loss %.4g", p.Loss)
	}
	if !math.IsNaN(p.Validation) {
		text += ", validation " + figureText(figure, p.Validation)
	}
	if !math.IsNaN(p.Best) {
		text += ", best " + figureText(figure, p.Best)
	}
	if p.Left > 0 {
		left := p.Left.Round(time.Second)
		text += ", " + left.String() + " left"
	}
	return text
}

// figureText is a figure with its name and unit.
func figureText(key string, v float64) string {
	m, _ := MetricOf(key)
	return strings.TrimSpace(fmt.Sprintf("%s "+m.Format+" %s", m.Name, v, m.Unit))
}
