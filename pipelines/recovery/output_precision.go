package recovery

import (
	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// precisionOutput is the matrix that Job.Precision asks for:
// arrowio.PrecisionColumns or arrowio.DensePrecisionColumns.
func precisionOutput() solverOutput {
	return solverOutput{
		name: TablePrecision,
		table: func(r *run, s *solution) output.Table {
			t := output.Table{Metadata: r.solverMetadata(s.result)}
			if r.job.Precision == job.PrecisionDense {
				t.Metadata["gladflow.matrix"] = "dense (Theta)"
				t.Columns = arrowio.DensePrecisionColumns(r.table.Names, s.theta)
			} else {
				t.Metadata["gladflow.matrix"] = "sparse (Z)"
				t.Columns = arrowio.PrecisionColumns(r.table.Names, s.z)
			}
			return t
		},
		write: func(r *run, path string, s *solution, t output.Table) error {
			if r.job.Precision == job.PrecisionDense && r.job.Format == arrowio.CSV { // which has no bytes
				return arrowio.WriteDensePrecision(path, r.job.Format, r.table.Names, s.theta, t.Metadata)
			}
			return arrowio.WriteTable(path, r.job.Format, t.Columns, t.Metadata)
		},
	}
}
