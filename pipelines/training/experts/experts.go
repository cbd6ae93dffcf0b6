// Package experts trains what solver/glad/adapt chooses among: models for one family of
// graphs each, from the general one, and the gate of each set. Everything is simulated, and
// everything is trained again by one command, make experts, when the general model is
// another one.
//
//	err := experts.Train(ctx, experts.Settings{Out: "solver/glad/adapt/experts"})
package experts

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/adaptation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/training"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// Settings say what is trained. The zero value of a field is its default.
type Settings struct {
	// Out is the folder with one folder for each set. It must hold
	// equal-scales/covariances.json, from which the experts of that set start.
	Out string
	// Sets are the sets to train. Default: all.
	Sets []string
	// GatesOnly leaves the experts that are there.
	GatesOnly bool
	// Steps is that of each expert. Default: 240.
	Steps int
	// Tables is the number of tables that a gate learns from. Default: 400.
	Tables int
	// Log is told what is done. Default: nothing is told.
	Log io.Writer
}

// Seeds of experts and gates, and the stream of the tables of gates: apart from those of
// package training.
const (
	seed       = 1
	gateStream = 32
)

// Train trains the experts and fits the gates, and writes the files of Out.
func Train(ctx context.Context, s Settings) error {
	if s.Log == nil {
		s.Log = io.Discard
	}
	if s.Sets == nil {
		s.Sets = []string{adapt.Standardised, adapt.EqualScales}
	}
	if s.Steps == 0 {
		s.Steps = 240
	}
	if s.Tables == 0 {
		s.Tables = 400
	}
	for _, set := range s.Sets {
		folder := filepath.Join(s.Out, set)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		if !s.GatesOnly {
			for _, name := range adapt.Families() {
				if err := s.expert(ctx, set, name); err != nil {
					return fmt.Errorf("expert %s of %s: %w", name, set, err)
				}
			}
		}
		if err := s.gate(ctx, set); err != nil {
			return fmt.Errorf("the gate of %s: %w", set, err)
		}
	}
	return nil
}

// Document is the training of an expert: what its card repeats.
func (s Settings) Document(set, name string) job.Training {
	t := job.Training{
		Family: name, From: glad.DefaultModelName, Correlation: "pearson", Name: name,
		Dimension: job.Counts{50, 100}, Samples: job.Counts{25, 60, 150, 400, 1000},
		Graphs: 40, Covariances: 2, ValidationGraphs: 20, Seed: seed, Steps: s.Steps, Select: "mean-nmse",
		Description: "An expert of the set " + set + " that --adapt chooses among.",
		Out:         filepath.Join(s.Out, set, name+".json"), Device: job.DeviceCPU,
	}
	if set == adapt.EqualScales {
		t.From, t.Correlation = filepath.Join(s.Out, set, adapt.Start+".json"), "none"
	}
	switch name {
	case "er":
		t.Density = "0.1"
	case "er-sparse":
		t.Family, t.Density = "er", "0.02"
	}
	return t
}

func (s Settings) expert(ctx context.Context, set, name string) error {
	r, err := training.Run(ctx, s.Document(set, name), training.Host{})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Log, "%s/%s: NMSE %.3f dB, of the start %.3f, step %d of %d, %.0f s\n", set, name,
		float64(r.Validation.Metrics.Get("nmse_db")), float64(r.Before.Metrics.Get("nmse_db")), r.Step, r.Steps, float64(r.Seconds))
	return nil
}

// open reads the models of a set from Out.
func (s Settings) open(set string) ([]*glad.Model, error) {
	general, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		return nil, err
	}
	models := []*glad.Model{general}
	names := adapt.Families()
	if set == adapt.EqualScales {
		names = append([]string{adapt.Start}, names...)
	}
	for _, name := range names {
		f, err := os.Open(filepath.Join(s.Out, set, name+".json"))
		if err != nil {
			return nil, err
		}
		m, err := glad.Read(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	for _, m := range models {
		m.Edge = glad.Network{}
	}
	return models, nil
}

func (s Settings) gate(ctx context.Context, set string) error {
	models, err := s.open(set)
	if err != nil {
		return err
	}
	teacher := adapt.Solver{Set: &adapt.Set{Name: set, Models: models}, Standardised: set == adapt.Standardised}
	lessons := make([]adapt.Lesson, s.Tables)
	err = dense.Each(ctx, s.Tables, dense.Cores(), func(_, k int) error {
		e, family, err := adaptation.Draw(ctx, rand.New(rand.NewPCG(seed, gateStream<<32|uint64(k))), set)
		if err != nil {
			return err
		}
		lessons[k], err = teacher.Teach(ctx, e)
		lessons[k].Family = family
		return err
	})
	if err != nil {
		return err
	}
	g, report, err := adapt.FitGate(ctx, models, lessons)
	if err != nil {
		return err
	}
	g.Card = glad.Card{
		Trained: true, Seed: seed, Graphs: s.Tables, Command: "make experts",
		Description: "Chooses among the experts of the set " + set + ".",
		Family:      "er, scale-free, hub, grid, block and empty graphs, d from 15 to 160, d/M from 0.25 to 10",
		Validation: map[string]any{
			"mean_nmse_db": report.Gate, "mean_nmse_db_unseen_family": report.Unseen, "mean_nmse_db_general": report.General, "mean_nmse_db_best_expert": report.Best,
		},
	}
	fmt.Fprintf(s.Log, "%s/gate: mean NMSE %.3f dB left out, %.3f with its family, of general %.3f, of the best model %.3f; length %v, noise %v, caution %v, temperature %v\n",
		set, report.Gate, report.Unseen, report.General, report.Best, g.Length, g.Noise, g.Caution, g.Temperature)
	return arrowio.ReplaceFile(filepath.Join(s.Out, set, "gate.json"), g.Write)
}
