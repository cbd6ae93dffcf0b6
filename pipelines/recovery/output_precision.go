package recovery

import (
	"os"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// precisionOutput is the matrix that Job.Precision asks for: arrowio.Precision's
// Columns. It has the job's format, or its own default where it lacks that.
func precisionOutput() solverOutput {
	return solverOutput{name: TablePrecision, of: func(_ *run, s solverEntry) bool { return !s.Ranking }, prepare: func(r *run, s *solution) (preparedOutput, error) {
		matrix, metadata := arrowio.Precision{Names: r.blockNames(), Values: s.z}, r.solverMetadata(s.result)
		if s.sparse != nil {
			matrix.Values, matrix.Sparse = nil, s.sparse
		}
		if r.regulators != nil {
			metadata[output.MetaVariables] = output.JSON(r.blockNames())
			metadata[output.MetaDeviations] = output.JSON(r.blockDeviations())
		}
		metadata[output.MetaMatrix] = "sparse (Z)"
		if r.job.Precision == job.PrecisionDense {
			matrix.Values, matrix.Dense = s.theta, true
			metadata[output.MetaMatrix] = "dense (Theta)"
		}
		format := arrowio.PrecisionFormats().For(r.job.Format)
		return preparedOutput{
			table:  func() output.Table { return output.Table{Columns: matrix.Columns(), Metadata: metadata} },
			format: format.Name,
			write: func(folder *os.Root, name string) ([]arrowio.Written, error) {
				return format.Write(folder, name, matrix, metadata)
			},
		}, nil
	}}
}
