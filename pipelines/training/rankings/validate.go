package rankings

import (
	"math"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
)

// Validate reports the first field of t that is wrong, as a *job.Error. It reads no
// file.
func Validate(t job.RankingTraining) error {
	if err := job.CheckFields(&t, job.Facts{}); err != nil {
		return err
	}
	r := resolved(t)
	const most = 1 << 20 // far beyond what a training is for
	for _, n := range []struct {
		key          string
		value, least int
	}{
		{"networks", r.Networks, 1}, {"validation_networks", r.ValidationNetworks, 2}, {"seed", r.Seed, 0}, {"edges", r.Edges, 1},
		{"others", r.Others, 1}, {"members", r.Members, 1}, {"units", r.Units, 1}, {"epochs", r.Epochs, 1}, {"batch", r.Batch, 1},
		{"workers", r.Workers, 0},
	} {
		if n.value < n.least {
			return job.Errorf(n.key, "%d is too few; give at least %d", n.value, n.least)
		}
		if n.value > most && n.key != "seed" {
			return job.Errorf(n.key, "%d is too many; give at most %d", n.value, most)
		}
	}
	const mostUnits = 10_000 // ranking's
	if r.Units > mostUnits {
		return job.Errorf("units", "%d is too many; give at most %d", r.Units, mostUnits)
	}
	switch {
	case math.IsNaN(r.LearningRate) || math.IsInf(r.LearningRate, 0) || r.LearningRate <= 0:
		return job.Errorf("learning_rate", "%v is no learning rate; give a positive number, such as 0.003", r.LearningRate)
	case math.IsNaN(r.Decay) || math.IsInf(r.Decay, 0) || r.Decay < 0:
		return job.Errorf("decay", "%v is no weight; give zero or more", r.Decay)
	case t.Out == "":
		return job.Errorf("out", "no model file is named; give one to write to, such as gene.json")
	case strings.HasSuffix(t.Out, "/") || t.Out == job.Stdin:
		return job.Errorf("out", "%q is not a file; name one to write to, such as gene.json", t.Out)
	case strings.TrimSpace(r.Name) == "":
		return job.Errorf("name", "%q makes no name of a model; give one", t.Out)
	}
	return nil
}

// resolved is t with its defaults.
func resolved(t job.RankingTraining) job.RankingTraining {
	r := t
	job.Resolve(&r, job.Facts{})
	if r.Name == "" {
		base := filepath.Base(r.Out)
		r.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return r
}
