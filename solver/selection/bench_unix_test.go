//go:build unix

package selection_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
	"github.com/gladflow/gladflow/solver/internal/published"
	"github.com/gladflow/gladflow/solver/selection"
)

// BenchmarkHeldOutOnEcoli is cross-validation of 301 × 1081 expressions beside the one path of
// its penalties for all samples, solved to the same gap: five paths of four fifths of the samples
// are the least there is to do. Times are those of the processors, which what else runs lengthens
// least; "times" is the first over the second.
func BenchmarkHeldOutOnEcoli(b *testing.B) {
	rows, d := published.Read(b, "dream5/net3_expression_1081genes_301conditions.tsv.gz", 1)
	whole, from := resampled(b, rows, d)
	engine := best(b)
	var folds, path time.Duration
	for b.Loop() {
		started := processors(b)
		c, err := selection.HeldOut(b.Context(), from, nil, selection.Settings{Engine: engine})
		if err != nil {
			b.Fatal(err)
		}
		between := processors(b)
		set := glasso.Settings{Gap: selection.LooseGap, Engine: engine}
		for _, point := range c.Path {
			set.Penalty.Rho = point.Penalty
			if set.Initial, err = (glasso.BCD{Settings: set}).Solve(b.Context(), solver.Problem{S: whole.S}); err != nil {
				b.Fatal(err)
			}
		}
		folds, path = folds+between-started, path+processors(b)-between
		b.ReportMetric(float64(len(c.Path)), "penalties")
	}
	b.ReportMetric(folds.Seconds()/float64(b.N), "cv-cpu-s/op")
	b.ReportMetric(path.Seconds()/float64(b.N), "path-cpu-s/op")
	b.ReportMetric(folds.Seconds()/path.Seconds(), "times")
}

// processors is the time that this process has had of them.
func processors(tb testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
