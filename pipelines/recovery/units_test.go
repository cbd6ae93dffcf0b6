package recovery

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/solver/covariance"
)

// GLAD's precision matrix goes to original units by shrunk deviations, and that of the
// classical solvers, which is a minimum for the S of the table, by those of the table.
func TestDeviationsOfOriginalUnits(t *testing.T) {
	const d, m = 4, 20
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("a,b,c,d\n")
	for range m {
		for j := range d {
			if j > 0 {
				text.WriteString(",")
			}
			text.WriteString(strconv.FormatFloat((1+0.5*float64(j))*r.NormFloat64(), 'g', -1, 64))
		}
		text.WriteString("\n")
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, solver := range []string{"glad", "bcd"} {
		run := func(units string) (*job.Result, []float64, map[string]string) {
			j := job.Job{Input: path, Solvers: []string{solver}, Penalty: "0.1", Units: units, Precision: job.PrecisionDense, Out: t.TempDir()}
			result, err := Run(context.Background(), j, Host{})
			if err != nil {
				t.Fatal(err)
			}
			edges, err := arrowio.ReadEdges(context.Background(), filepath.Join(j.Out, solver+".edges.parquet"), arrowio.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return result, readBack(t, filepath.Join(j.Out, solver+".precision.parquet")).Raw(), edges.Metadata
		}
		result, standardised, _ := run(job.UnitsStandardised)
		_, got, metadata := run(job.UnitsOriginal)
		sd := result.StandardDeviations
		if solver == "glad" {
			sd = covariance.ShrunkDeviations(sd, m)
			var said []float64
			if err := json.Unmarshal([]byte(metadata[output.MetaUnitDeviations]), &said); err != nil || len(said) != d || said[0] != sd[0] {
				t.Errorf("the metadata has the deviations %v (%v), want %v", said, err, sd)
			}
		} else if text, there := metadata[output.MetaUnitDeviations]; there {
			t.Errorf("%s has the deviations %s besides", solver, text)
		}
		for i := range d {
			for j := range d {
				want := standardised[i*d+j] / (sd[i] * sd[j])
				if v := got[i*d+j]; math.Abs(v-want) > 1e-12*math.Abs(want) {
					t.Errorf("%s: entry %d, %d is %v, want %v", solver, i, j, v, want)
				}
			}
		}
	}
}
