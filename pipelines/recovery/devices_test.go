package recovery

import (
	"math"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// GLAD runs on every device that the build has code for, with the edges that it
// finds on the CPU, and the result says where it ran.
func TestDevices(t *testing.T) {
	edges := func(device string) []arrowio.Column {
		t.Helper()
		j := job.Job{Input: testtable.CSV(t, 6, 50), IDColumn: "id", Solvers: []string{"glad"}, Edges: "all", Device: device}
		var found []arrowio.Column
		r, err := Run(t.Context(), j, Host{Solved: func(n Network) error {
			found = n.Tables[TableEdges].Columns
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if device != job.DeviceAuto && r.Device != device {
			t.Errorf("GLAD ran on %s instead of %s", r.Device, device)
		}
		return found
	}
	scores := func(columns []arrowio.Column) []float64 { return columns[2].Values.([]float64) }
	want := scores(edges(job.DeviceAuto))
	for _, device := range usableDevices() {
		got := scores(edges(device))
		for i, v := range got {
			if len(got) != len(want) || math.Abs(v-want[i]) > 1e-9 {
				t.Fatalf("%s: scores %v, want %v", device, got, want)
			}
		}
	}
}
