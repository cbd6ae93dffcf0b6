package table

import (
	"context"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// ReadSquare reads a symmetric table with a value for every pair of variables,
// such as penalties or a precision matrix, and puts it into their order: d×d for d
// variables. It returns the SHA-256 of the file's bytes as well.
//
// Errors are *job.Errors of field. Where the table has other variables, they end
// in advice, which says what to give instead.
func ReadSquare(ctx context.Context, field, path string, variables []string, f Files, advice string) (*dense.Sym, string, error) {
	names, values, sha, err := arrowio.ReadSquare(ctx, path, arrowio.SampleOptions{Stdin: f.Stdin, Root: f.Root, Stores: f.Stores, Limits: f.Limits, Fixed: append(arrowio.TextKeys(), "id_column", "input_format")})
	if err != nil {
		return nil, "", FieldError(field, err)
	}
	at := Positions(names)
	order := make([]int, len(variables))
	for i, name := range variables {
		k, ok := at[name]
		if !ok {
			return nil, "", job.Errorf(field, "%s: there is no row for the variable %q; %s", path, name, advice)
		}
		order[i] = k
	}
	if len(names) != len(variables) {
		known := Positions(variables)
		other := slices.IndexFunc(names, func(n string) bool { _, ok := known[n]; return !ok })
		return nil, "", job.Errorf(field, "%s: the variable %q is not one of the table's; %s", path, names[other], advice)
	}
	return dense.NewSym(len(names), values).Submatrix(order), sha, nil
}

// Positions are the indices of names, which differ.
func Positions(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[n] = i
	}
	return at
}
