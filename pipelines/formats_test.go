package pipelines

import (
	"slices"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
)

// The formats that a job may name are those of edge lists.
func TestFormatsOfJob(t *testing.T) {
	for _, f := range Fields(&Job{}) {
		if f.Key == "format" && !slices.Equal(f.Choices, arrowio.EdgeFormats().Names()) {
			t.Errorf("a job may name %v, and edge lists have %v", f.Choices, arrowio.EdgeFormats().Names())
		}
	}
}
