package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/benchmark"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
)

func benchmarkCommand() *cobra.Command {
	var b job.Benchmark
	c := &cobra.Command{
		Use:   "benchmark DIR|LIST",
		Short: "compare solvers on many tables with known networks",
		Long: `Runs solvers on many tables with known networks and sets them against one of
them, the baseline: metrics for every set, means for every group of sets and over
the groups, paired differences with standard errors, and in how many a solver wins.

DIR is a folder: NAME.csv with NAME.reference.csv beside it and, if the sources are
known, NAME.regulators.csv; or sub-folders with expression.csv, reference.csv and
regulators.csv each. Any format that recover reads will do. The sets of a
sub-folder are a group. LIST is CSV, TSV or YAML with the keys name, group, table,
orientation, id_column, reference, population, undirected, regulators and
background.

--report leaves a page to look at. With --out what is done is kept, and not
repeated by the next run unless the files, the options or the program have
changed.`,
		Example: `  gladflow benchmark sets --undirected --out results
  gladflow benchmark sets.yaml --solvers glad,bcd --baseline bcd --out results
  gladflow benchmark examples/benchmark/gene-networks.yaml --root data --out results`,
		Args: arguments("DIR|LIST"),
		RunE: func(c *cobra.Command, args []string) error {
			b.Sets = args[0]
			if b.Threads > 0 {
				dense.LimitCores(b.Threads)
			}
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := benchmark.Run(c.Context(), b, benchmark.Host{Progress: bar.show})
			bar.close()
			switch {
			case r == nil:
			case b.JSON:
				printJSON(c.OutOrStdout(), r)
			default:
				printBenchmark(c.OutOrStdout(), r)
			}
			return asFlag(c, &b, err)
		},
	}
	bind(c, &b, benchmark.Facts(), "sets")
	return c
}

// printBenchmark prints a table of every metric, a row for each set and group, and one
// of the differences from the baseline.
func printBenchmark(w io.Writer, r *benchmark.Result) {
	solvers := r.Overall.Solvers
	for _, m := range metric.OfRankings() {
		if len(solvers) == 0 || !slices.Contains(r.Benchmark.Metrics, m.Key) {
			continue
		}
		t := textTable{columns: []column{{m.Title, left}, {"samples", right}, {"variables", right}, {"edges", right}}}
		for _, s := range solvers {
			t.columns = append(t.columns, column{s.Solver, right})
		}
		addBenchmarkRows(&t, r, m)
		t.print(w)
		fmt.Fprintln(w)
	}
	if len(r.Groups) > 0 && len(solvers) > 0 {
		printDifferences(w, r)
		fmt.Fprintln(w)
	}
	for _, s := range r.Sets {
		if s.Reference.Text != "" {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Reference.Text)
		}
	}
	for _, s := range r.Sets {
		for _, warning := range s.Warnings {
			fmt.Fprintf(w, "warning: %s: %s\n", s.Name, warning)
		}
		if s.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Error)
		}
		for _, f := range s.Solvers {
			switch {
			case f.Error != "":
				fmt.Fprintf(w, "%s: %s\n", s.Name, f.Error)
			case strings.HasPrefix(f.Status, solver.Interrupted.String()):
				fmt.Fprintf(w, "%s: %s was %s\n", s.Name, f.Solver, f.Status)
			}
		}
	}
	reused, all := 0, 0
	for _, s := range r.Sets {
		for _, f := range s.Solvers {
			all++
			if f.Reused {
				reused++
			}
		}
	}
	fmt.Fprintf(w, "%s, %d of them of an earlier run; %s s in all\n", progress.Count(all, "ranking"), reused, seconds(r.Seconds))
	if r.Benchmark.Out == "" {
		for _, f := range r.Files {
			fmt.Fprintf(w, "report: %s\n", f.Name)
		}
		fmt.Fprintln(w, "nothing is kept; name a folder with --out")
		return
	}
	fmt.Fprintf(w, "files in %s:", r.Benchmark.Out)
	for _, f := range r.Files {
		fmt.Fprintf(w, " %s,", f.Name)
	}
	fmt.Fprintf(w, " %s\n", benchmark.DocumentFile)
}

// addBenchmarkRows adds the sets of every group, the mean of groups of several, and the
// mean over the groups.
func addBenchmarkRows(t *textTable, r *benchmark.Result, m metric.Metric) {
	cell := func(figures []benchmark.Figure) string {
		for _, f := range figures {
			if f.Metric == m.Key {
				return figure(f.Value, m.Format)
			}
		}
		return none
	}
	for _, g := range r.Groups {
		for _, s := range r.Sets {
			if s.Group != g.Group {
				continue
			}
			row := []string{s.Name, strconv.Itoa(s.Samples), strconv.Itoa(s.Variables), strconv.Itoa(s.Reference.Positives)}
			for _, solver := range r.Overall.Solvers {
				value := none
				for _, f := range s.Solvers {
					if f.Solver == solver.Solver {
						value = cell(f.Figures)
					}
				}
				row = append(row, value)
			}
			t.add(row...)
		}
		if g.Of > 1 {
			t.add(summaryRow(fmt.Sprintf("  mean of %s (%d sets)", g.Group, g.Of), g, cell)...)
		}
	}
	if len(r.Groups) > 1 {
		t.add(summaryRow(fmt.Sprintf("mean of %d groups", len(r.Groups)), r.Overall, cell)...)
	}
}

func summaryRow(title string, s benchmark.Summary, cell func([]benchmark.Figure) string) []string {
	row := []string{title, "", "", ""}
	for _, solver := range s.Solvers {
		row = append(row, cell(solver.Figures))
	}
	return row
}

// printDifferences prints the means over the groups and the differences from the
// baseline: on one group over its sets, on one set by bootstrap.
func printDifferences(w io.Writer, r *benchmark.Result) {
	baseline := r.Benchmark.Baseline
	over, of, what := r.Overview()
	t := textTable{columns: []column{{"minus " + baseline, left}}}
	var shown []metric.Metric
	for _, m := range metric.OfRankings() {
		if slices.Contains(r.Benchmark.Metrics, m.Key) {
			shown = append(shown, m)
			t.columns = append(t.columns, column{m.Title, right}, column{what + " won", right})
		}
	}
	for _, s := range over {
		if s.Solver == baseline {
			continue
		}
		row := []string{s.Solver}
		for _, m := range shown {
			difference, wins := none, none
			for _, f := range s.Figures {
				if f.Metric == m.Key && f.Difference.IsFinite() {
					difference, wins = plusMinus(f.Difference, f.DifferenceError, m.Format), fmt.Sprintf("%d of %d", f.Wins, f.Of)
				}
			}
			row = append(row, difference, wins)
		}
		t.add(row...)
	}
	t.print(w)
	switch {
	case of > 1:
		fmt.Fprintf(w, "mean over %d %s of the difference ± its standard error over them\n", of, what)
	default:
		fmt.Fprintf(w, "difference on the set ± its standard error by bootstrap over the sources of the network\n")
	}
}

// plusMinus is "+0.0123 ± 0.0045", without the error where there is none.
func plusMinus(v, e job.Float, format string) string {
	return withError(v, e, "%+"+format[1:], format)
}

// withError is a figure and its standard error, if there is one.
func withError(v, e job.Float, format, ofError string) string {
	text := figure(v, format)
	if e.IsFinite() {
		text += " ± " + figure(e, ofError)
	}
	return text
}
