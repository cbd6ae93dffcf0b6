package covariance

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/dense"
)

// A worker that panics must not end the process, nor leave transform waiting for
// somebody to take its next tile.
func TestPanicInRanks(t *testing.T) {
	const d, samples = 40 * tile, 5
	for name, data := range map[string][]float64{
		"last tile":  make([]float64, d*samples-1),
		"every tile": nil, // all workers end
	} {
		p := dense.Catch(func() {
			_, err := transform(context.Background(), []block{{rows: samples, data: data}}, d, samples, Spearman, 2)
			t.Errorf("%s: returned, %v", name, err)
		})
		if p == nil {
			t.Fatalf("%s: the panic is lost", name)
		}
		var index runtime.Error
		if !errors.As(p, &index) || !strings.Contains(index.Error(), "out of range") {
			t.Errorf("%s: value %v", name, p.Value)
		}
		if !strings.Contains(string(p.Stack), "(*ranker).tile") {
			t.Errorf("%s: the stack does not name the culprit:\n%s", name, p.Stack)
		}
	}
}
