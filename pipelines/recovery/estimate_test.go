package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// Row numbers that were meant as labels pass for a variable; the run says so.
func TestRowNumbersAreNoticed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	write := func(label func(i int) float64) string {
		var b strings.Builder
		b.WriteString("condition,a,b,c\n")
		for i := range 30 {
			fmt.Fprintf(&b, "%v,%v,%v,%v\n", label(i), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
		}
		return testtable.File(t, "samples.csv", b.String())
	}
	for _, c := range []struct {
		name     string
		job      job.Job
		warnings int
	}{
		{"from 1", job.Job{Input: write(func(i int) float64 { return float64(i + 1) })}, 1},
		{"from 0", job.Job{Input: write(func(i int) float64 { return float64(i) })}, 1},
		{"unbiased", job.Job{Input: write(func(i int) float64 { return float64(i + 1) }), Divisor: "m-1"}, 1},
		{"named", job.Job{Input: write(func(i int) float64 { return float64(i + 1) }), IDColumn: "condition"}, 0},
		{"measured", job.Job{Input: write(func(i int) float64 { return float64(i) + 0.01*rng.NormFloat64() })}, 0},
	} {
		c.job.Solvers, c.job.Penalty = []string{"bcd"}, "0.2"
		r, err := Run(t.Context(), c.job, Host{})
		if err != nil {
			t.Fatal(err)
		}
		r.Warnings = slices.DeleteFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "of 3 pairs") })
		if len(r.Warnings) != c.warnings {
			t.Errorf("%s: warnings %q, want %d", c.name, r.Warnings, c.warnings)
		}
	}
}

// A least EBIC at the end of the path is a bound, not a choice; the run says so. The path ends
// where the criterion rises, if it does.
func TestPenaltyAtTheEndIsNoticed(t *testing.T) {
	for _, c := range []struct {
		variables, samples int
		last               bool
	}{{6, 5000, false}, {6, 15, false}, {2, 5000, true}} {
		j := job.Job{Input: testtable.CSV(t, c.variables, c.samples), IDColumn: "id", Solvers: []string{"bcd"}, Penalty: ebic}
		r, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		path := r.Penalty.Path
		said := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "is the smallest that was tried") })
		if last := path[len(path)-1].Chosen; last != c.last || said != c.last {
			t.Errorf("%d variables, %d samples: the smallest penalty chosen: %t, warnings %q", c.variables, c.samples, last, r.Warnings)
		}
	}
}
