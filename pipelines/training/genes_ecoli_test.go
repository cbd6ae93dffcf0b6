package training

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// What gladflow train gene-regulators leaves with the first three seeds, of which the
// first is built in, on the 301 conditions of E. coli: see docs/command-line.md. The
// bounds are what such a model was asked for, .655 and .108 in the mean, and that none
// is below ridge regression in either figure.
func TestGeneRegulatorsOnEcoli(t *testing.T) {
	folder := os.Getenv("GLADFLOW_DATA")
	if folder == "" {
		t.Skip("GLADFLOW_DATA does not name a folder with the files of DREAM5")
	}
	folder = filepath.Join(folder, "dream5")
	const seeds = 3
	var auroc, precision float64
	for seed := 1; seed <= seeds; seed++ {
		model := filepath.Join(t.TempDir(), "model.json")
		if _, err := Run(t.Context(), job.Training{Family: FamilyGeneRegulators, Seed: seed, Engine: "gonum", Out: model}, Host{}); err != nil {
			t.Fatal(err)
		}
		result, err := recovery.Run(t.Context(), job.Job{
			Input: filepath.Join(folder, "net3_expression_1081genes_301conditions.tsv.gz"), IDColumn: "condition",
			Regulators: filepath.Join(folder, "net3_transcription_factors.tsv.gz"),
			Reference:  filepath.Join(folder, "net3_gold_standard.tsv.gz"),
			Solvers:    []string{"glad", "ridge"}, Model: model,
		}, recovery.Host{})
		if err != nil {
			t.Fatal(err)
		}
		glad, ridge := result.Solvers[0].Metrics, result.Solvers[1].Metrics
		t.Logf("seed %d: AUROC %.4f, average precision %.4f; of ridge %.4f and %.4f", seed,
			glad.Get("auroc"), glad.Get(averagePrecisionKey), ridge.Get("auroc"), ridge.Get(averagePrecisionKey))
		for _, key := range []string{"auroc", averagePrecisionKey} {
			if !(glad.Get(key) >= ridge.Get(key)) {
				t.Errorf("seed %d: %s is %.4f, of ridge %.4f", seed, key, glad.Get(key), ridge.Get(key))
			}
		}
		auroc += float64(glad.Get("auroc")) / seeds
		precision += float64(glad.Get(averagePrecisionKey)) / seeds
	}
	t.Logf("mean: AUROC %.4f, average precision %.4f", auroc, precision)
	if !(auroc >= 0.655) || !(precision >= 0.108) {
		t.Errorf("the mean AUROC is %.4f and the average precision %.4f", auroc, precision)
	}
}
