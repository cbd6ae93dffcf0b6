package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	tables "github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glasso"
)

// readTable reads the samples of Run.Table, whose first column may label them.
func (r *Run) readTable(ctx context.Context) (rows []float64, names []string, err error) {
	read := func(source tables.Source) (*tables.Data, error) {
		t, err := tables.Open(ctx, source, tables.Files{})
		if err != nil {
			return nil, err
		}
		defer t.Close()
		t.KeepSamples = true
		return t.Estimate(ctx, r.Engine, progress.Begin(nil, progress.Reading, ""))
	}
	data, err := read(tables.Source{Path: r.Table})
	if label := arrowio.LabelColumn(err); label != "" {
		data, err = read(tables.Source{Path: r.Table, IDColumn: label})
	}
	if err == nil {
		return data.Samples, data.Names, nil
	}
	var wrong *job.Error
	if errors.As(err, &wrong) {
		err = &job.Error{Field: "table", Err: wrong.Err}
	}
	return nil, nil, err
}

// missingOfTable removes values of a real table and compares with what the whole table
// says.
func (r *Run) missingOfTable(ctx context.Context, model *glad.Model) (*Section, string, error) {
	rows, names, err := r.readTable(ctx)
	if err != nil {
		return nil, "", err
	}
	d := len(names)
	m := len(rows) / d
	whole, err := r.treat(ctx, wayFull, rows, d)
	if err != nil {
		return nil, "", err
	}
	rho := covariance.PenaltyOfEM(d, m)
	lasso := func(s *covariance.Result) (*solver.Estimate, error) {
		return glasso.BCD{Settings: glasso.Settings{Penalty: glasso.Penalty{Rho: rho}, Engine: r.Engine}}.Solve(ctx, solver.Problem{S: s.S, Samples: s.Samples})
	}
	learned := func(s *covariance.Result) (*solver.Estimate, error) {
		est, err := r.solveOne(ctx, model, solver.Example{S: s.S, Samples: s.Samples})
		if err == nil {
			keepLikely(est)
		}
		return est, err
	}
	solve := []func(*covariance.Result) (*solver.Estimate, error){lasso, learned}
	truths := make([]*dense.Sym, len(solve))
	for k, f := range solve {
		est, err := f(whole)
		if err != nil {
			return nil, "", err
		}
		truths[k] = kept(est)
	}
	n := choose(r, 20, 3)
	section := &Section{Title: fmt.Sprintf("Values removed from %s, %d × %d: agreement with the whole table", filepath.Base(r.Table), m, d), Rows: [][]string{
		{"missing", "share", "way", "bcd: NMSE (dB)", "AUPR", "F1", "glad: NMSE (dB)", "AUPR", "F1"},
	}}
	for _, by := range mechanisms() {
		for _, share := range choose(r, []float64{0.05, 0.2, 0.4}, []float64{0.2}) {
			r.at(1, "%s, %v of a table", by.name, share)
			for _, way := range missingWays()[1:] {
				found := make([][]*solver.Estimate, n)
				err := dense.Each(ctx, n, r.Workers, func(_, i int) error {
					some := slices.Clone(rows)
					by.remove(r.random("missing of a table", fmt.Sprintf("%s, %v, %d", by.name, share, i)), some, d, share)
					s, err := r.treat(ctx, way, some, d)
					if err != nil || s == nil {
						return err
					}
					for _, f := range solve {
						est, err := f(s)
						if err != nil {
							return err
						}
						found[i] = append(found[i], est)
					}
					return nil
				})
				if err != nil {
					return nil, "", err
				}
				row := []string{by.name, fmt.Sprintf("%.0f %%", 100*share), way}
				for k := range solve {
					var f *fit
					if !slices.ContainsFunc(found, func(e []*solver.Estimate) bool { return e == nil }) {
						f = new(fit)
						for _, e := range found {
							z := e[k]
							if err := f.add(kept(z), normalised(z.Precision), truths[k], z.IsEdge); err != nil {
								return nil, "", err
							}
						}
					}
					row = append(row, f.cells()...)
				}
				section.Rows = append(section.Rows, row)
			}
		}
	}
	text := fmt.Sprintf("Of the real table nobody knows the network: there NMSE, AUPR and F1 are against what the same solver finds in the whole table, bcd with the penalty √(log d/M) = %.3f for all; %d removals of each kind.", rho, n)
	return section, text, nil
}

// kept is Z of an estimate with zeros where there is no edge.
func kept(est *solver.Estimate) *dense.Sym {
	z := est.Support.Clone()
	for i := range z.Len() {
		for j := i + 1; j < z.Len(); j++ {
			if !est.IsEdge(i, j) {
				z.Set(i, j, 0)
			}
		}
	}
	return z
}
