package training

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/association"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/train"
)

func TestScratch(t *testing.T) {
	if os.Getenv("SCRATCH") == "" {
		t.Skip()
	}
	ctx := t.Context()
	engine := dense.Default()
	dir := "/work/shared/data/dream5/"
	data, err := table.Read(ctx, table.SourceOf(job.Job{Input: dir + "net3_expression_1081genes_301conditions.tsv.gz", IDColumn: "condition"}.Resolved()), table.Files{}, engine)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := evaluation.ReadReference(ctx, dir+"net3_gold_standard.tsv.gz", table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	pop, err := ref.Population(data.Names, "labelled", false)
	if err != nil {
		t.Fatal(err)
	}
	list, err := arrowio.ReadNames(ctx, dir+"net3_transcription_factors.tsv.gz", arrowio.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := table.Positions(list.Names)
	d := len(data.Names)
	ecoli := train.Regulated{R: data.Problem.S, Samples: 301}
	num := make([]int, d)
	for i, n := range data.Names {
		if _, ok := in[n]; ok {
			ecoli.Regulators = append(ecoli.Regulators, i)
			num[i] = len(ecoli.Regulators)
		}
	}
	score := func(s []float64) (float64, float64) {
		r, err := pop.Score(func(i, j int) float64 {
			if num[i] == 0 {
				return -1e9
			}
			return s[(num[i]-1)*d+j]
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.AUROC, r.AveragePrecision
	}
	_ = metric.All
	fresh, err := regulated(ctx, 999, 9, 20, engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []float64{.02, .05, .1, .2, .3, .5} {
		var tables []association.Labelled
		var ap float64
		for _, e := range fresh {
			b, _, _ := association.Scorer{}.Ridge(ctx, e.R, e.Regulators, a)
			_, p, _ := averagePrecision(e, b)
			ap += p / 20
			tables = append(tables, association.Labelled{B: b, R: e.R, Regulators: e.Regulators, Edge: e.Edge})
		}
		w, err := association.FitWeights(ctx, tables)
		b, _, _ := association.Scorer{}.Ridge(ctx, ecoli.R, ecoli.Regulators, a)
		abs := append([]float64(nil), b...)
		for i, v := range abs { abs[i] = max(v, -v) }
		x, y := score(abs)
		u, v := score(w.Blend(b, ecoli.R, ecoli.Regulators))
		fmt.Printf("ridge %v sim AP %.4f weights %+v %v ecoli %.4f %.4f blended %.4f %.4f\n", a, ap, w, err, x, y, u, v)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		start := time.Now()
		tr, _ := regulated(ctx, seed, 1, 40, engine)
		va, _ := regulated(ctx, seed, 2, 12, engine)
		s := train.RegulatedSettings(seed)
		fig := train.RegulatedFigure{Name: "average_precision", Compute: func(e train.Regulated, b []float64) (float64, error) {
			_, p, err := averagePrecision(e, b)
			return p, err
		}}
		s.Progress = func(p train.Progress) {
			if p.Step%50 == 0 {
				fmt.Printf("%d loss %.4f val %.4f best %.4f\n", p.Step, p.Loss, p.Validation, p.Best)
			}
		}
		r, err := train.RunRegulated(ctx, train.RegulatedStart(seed), tr, va, fig, s)
		if err != nil {
			t.Fatal(err)
		}
		wt, _ := regulated(ctx, seed, 3, 20, engine)
		w, err := fitW(ctx, r.Model, wt, engine)
		if err != nil {
			t.Fatal(err)
		}
		var sim, simA, simW float64
		for _, e := range fresh {
			b, _ := coefficients(ctx, r.Model, e, engine)
			_, p, _ := averagePrecision(e, b)
			sim += p / 20
			sc := w.Blend(b, e.R, e.Regulators)
			for i := range sc { sc[i] += 100 }
			a, p, _ := averagePrecision(e, sc)
			simW += p / 20
			simA += a / 20
		}
		b, err := coefficients(ctx, r.Model, ecoli, engine)
		if err != nil {
			t.Fatal(err)
		}
		abs := append([]float64(nil), b...)
		for i, v := range abs { abs[i] = max(v, -v) }
		x, y := score(abs)
		u, v := score(w.Blend(b, ecoli.R, ecoli.Regulators))
		fmt.Printf("seed %d step %d fresh |B| AP %.4f blended %.4f/%.4f weights %+v ecoli |B| %.4f %.4f blended %.4f %.4f %v\n", seed, r.Step, sim, simA, simW, w, x, y, u, v, time.Since(start))
	}
}

func fitW(ctx context.Context, m *glad.Model, wt []train.Regulated, engine dense.Engine) (association.Weights, error) {
	var tables []association.Labelled
	for _, e := range wt {
		b, err := coefficients(ctx, m, e, engine)
		if err != nil {
			return association.Weights{}, err
		}
		tables = append(tables, association.Labelled{B: b, R: e.R, Regulators: e.Regulators, Edge: e.Edge})
	}
	return association.FitWeights(ctx, tables)
}
