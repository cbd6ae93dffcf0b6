package rankings

import (
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/association/ranking/train"
)

func scores(sets []scored) []train.Scored {
	all := make([]train.Scored, len(sets))
	for k, s := range sets {
		all[k] = s.Scored
	}
	return all
}

// calibration is how probabilities do on sets.
func calibration(p ranking.Probability, sets []scored) Calibration {
	bins, expected := train.Calibration(p, scores(sets))
	c := Calibration{Error: job.Float(expected)}
	for k, b := range bins {
		if b.Pairs > 0 {
			n := float64(len(bins))
			c.Bins = append(c.Bins, Bin{job.Float(float64(k) / n), job.Float(float64(k+1) / n), b.Pairs, job.Float(b.Said), job.Float(b.Held)})
		}
	}
	return c
}

// allFamilies is what the mean over all sets is called.
const allFamilies = "all"

// figures are those of sets, over all and family by family.
func figures(sets []scored) ([]FamilyFigures, error) {
	families := []FamilyFigures{{Family: allFamilies}}
	for _, name := range genes.Families() {
		families = append(families, FamilyFigures{Family: name})
	}
	for _, s := range sets {
		learned, err := metric.Rank(s.Scores, s.Edge)
		if err != nil {
			return nil, err
		}
		plain, err := metric.Rank(s.spectral, s.Edge)
		if err != nil {
			return nil, err
		}
		var blend float64
		if s.blend != nil {
			r, err := metric.Rank(s.blend, s.Edge)
			if err != nil {
				return nil, err
			}
			blend = r.AveragePrecision
		}
		for k := range families {
			if f := &families[k]; f.Family == s.family || f.Family == allFamilies {
				f.Networks++
				f.AUROC += job.Float(learned.AUROC)
				f.AveragePrecision += job.Float(learned.AveragePrecision)
				f.Spectral += job.Float(plain.AveragePrecision)
				f.Blend += job.Float(blend)
			}
		}
	}
	var found []FamilyFigures
	for _, f := range families {
		if n := job.Float(f.Networks); n > 0 {
			f.AUROC, f.AveragePrecision, f.Spectral, f.Blend = f.AUROC/n, f.AveragePrecision/n, f.Spectral/n, f.Blend/n
			found = append(found, f)
		}
	}
	return found, nil
}

// fillCard says where the weights come from. It holds no times: the same training
// gives the same bytes.
func (r *run) fillCard(m *ranking.Model, result *Result, loss float64, command string) {
	c := &m.Card
	c.Trained, c.Description = true, r.Description
	c.Family = "gene expression as simulate genes draws mixtures"
	if r.Regulators {
		c.Family = "gene expression with lists of regulators, as simulate genes draws mixtures"
	}
	c.Dimension, c.Samples = []int{18, 300}, []int{20, 1000}
	c.Graphs, c.Loss, c.Seed = result.Networks, "balanced logistic", uint64(r.Seed)
	c.Backend, c.Command = "gonum", command
	c.Validation = map[string]any{
		"training_loss":     loss,
		"calibration_error": float64(result.Calibration.Error),
		"networks":          float64(result.Families[0].Networks),
	}
	for _, f := range result.Families {
		suffix := ""
		if f.Family != allFamilies {
			suffix = "_" + f.Family
		} else {
			c.Validation["auroc"] = float64(f.AUROC)
			c.Validation["spectral_average_precision"] = float64(f.Spectral)
			if r.Regulators {
				c.Validation["blend_average_precision"] = float64(f.Blend)
			}
		}
		c.Validation[fmt.Sprintf("average_precision%s", suffix)] = float64(f.AveragePrecision)
	}
}
