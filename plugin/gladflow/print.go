package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines"
)

// printJSON prints one indented document. Errors of w are kept by run's
// checkedWriter, and everything printed has a JSON form.
func printJSON(w io.Writer, v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "%s\n", data)
}

// printResult prints a run, of one solver at least, as a table with what its
// figures mean.
func printResult(w io.Writer, r *pipelines.Result) {
	in := r.Input
	fmt.Fprintf(w, "%s: %s, %s\n\n", in.Path, count(in.Samples, "sample"), count(in.Variables, "variable"))
	printSolvers(w, r)
	fmt.Fprintln(w)
	if p := r.Penalty; p != nil {
		switch p.From {
		case pipelines.PenaltyEBIC:
			fmt.Fprintf(w, "penalty: %s, chosen by the extended BIC out of %d\n", short(p.Rho), len(p.Path))
			if p.TimeLimitReached {
				fmt.Fprintln(w, "penalty: smaller ones were not tried, for the time limit was reached")
			}
		case "matrix":
			fmt.Fprintf(w, "penalty: the matrix %s\n", r.Job.PenaltyMatrix)
		}
	}
	if ref := r.Reference; ref != nil {
		fmt.Fprintf(w, "AUROC and AUPR: population %s\n", ref.Text)
	}
	certified, am := false, false
	for _, s := range r.Solvers {
		certified = certified || !math.IsNaN(float64(s.DualityGap))
		am = am || s.Name == "am"
	}
	if certified {
		fmt.Fprintf(w, "duality gap: the optimum is at most this far below the objective; solvers stop at %s × max(|objective|, %d)\n", short(pipelines.Figure(r.Job.Gap)), in.Variables)
	}
	if am {
		fmt.Fprintln(w, "am: its objective has a quadratic penalty besides and is not the others'; a larger --am-lambda brings it nearer")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	for _, s := range r.Solvers {
		if s.Note != "" || s.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Note+s.Error)
		}
	}
	fmt.Fprintf(w, "engine: %s; device: %s; %s s in all\n", r.Engine, r.Device, seconds(r.Seconds))
	if r.Job.Out == "" {
		fmt.Fprintln(w, "no files were written; name a folder with --out")
		return
	}
	var files []string
	for _, s := range r.Solvers {
		files = append(files, s.Files...)
	}
	files = append(append(files, r.Files...), "run.json")
	fmt.Fprintf(w, "files in %s: %s\n", r.Job.Out, strings.Join(files, ", "))
}

func printSolvers(w io.Writer, r *pipelines.Result) {
	t := table{columns: []column{
		{"solver", left}, {"status", left}, {"penalty", right}, {"edges", right},
		{"objective", right}, {"duality gap", right}, {"seconds", right},
	}}
	if r.Reference != nil {
		t.columns = append(t.columns, column{"AUROC", right}, column{"AUPR", right})
	}
	for _, s := range r.Solvers {
		cells := []string{
			s.Name, s.StatusText(), short(s.Penalty), strconv.Itoa(s.Edges),
			objective(s.Objective), exponent(s.DualityGap), seconds(s.Seconds),
		}
		if r.Reference != nil {
			auroc, aupr := none, none
			if s.Metrics != nil {
				auroc, aupr = area(s.Metrics.AUROC), area(s.Metrics.AUPR)
			}
			cells = append(cells, auroc, aupr)
		}
		t.add(cells...)
	}
	t.print(w)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// none stands where there is no figure.
const none = "-"

// figure formats what is finite.
func figure(f pipelines.Figure, format string) string {
	if v := float64(f); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return fmt.Sprintf(format, v)
	}
	return none
}

// short is a penalty or a tolerance, as people would write it.
func short(f pipelines.Figure) string { return figure(f, "%.4g") }

// objective has decimals enough to compare solvers by.
func objective(f pipelines.Figure) string {
	if v := math.Abs(float64(f)); v != 0 && v < 1e-3 || v >= 1e9 {
		return figure(f, "%.6e")
	}
	return figure(f, "%.5f")
}

func exponent(f pipelines.Figure) string { return figure(f, "%.1e") }

// area is an AUROC or AUPR.
func area(f pipelines.Figure) string { return figure(f, "%.4f") }

func seconds(f pipelines.Figure) string { return figure(f, "%.2f") }
