package table

import (
	"errors"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/solver/covariance"
)

// FieldError makes err a *job.Error of the field whose file or value it is
// about, if it is the user who can put it right. Failures of the machine and the
// end of a context stay what they are, and so does a *job.Error.
func FieldError(field string, err error) error {
	var known *job.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var input *arrowio.InputError
	var column *covariance.ColumnError
	if errors.As(err, &input) || errors.As(err, &column) {
		return &job.Error{Field: field, Err: err}
	}
	for _, known := range []error{
		covariance.ErrTooFewSamples,
		metric.ErrNoKnownPair, metric.ErrNoPositive, metric.ErrNoNegative, metric.ErrNoneListed,
	} {
		if errors.Is(err, known) {
			return &job.Error{Field: field, Err: err}
		}
	}
	return err
}
