package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
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
// figures mean. documented says that run.json could be written.
func printResult(w io.Writer, r *job.Result, documented bool) {
	in := r.Input
	fmt.Fprintf(w, "%s: %s, %s\n", in.Path, progress.Count(in.Samples, "sample"), progress.Count(in.Variables, "variable"))
	for _, sentence := range recovery.Preparation(r) {
		fmt.Fprintf(w, "%s\n", sentence)
	}
	fmt.Fprintln(w)
	printSolvers(w, r)
	fmt.Fprintln(w)
	if p := r.Penalty; p != nil {
		if p.MatrixSHA256 != "" {
			fmt.Fprintf(w, "penalty: the matrix %s\n", r.Job.PenaltyMatrix)
		}
		if rule, ok := recovery.PenaltyNamed(p.From); ok {
			fmt.Fprintf(w, "penalty: %s, chosen by %s out of %d\n", short(p.Rho), rule.Title, len(p.Path))
			if p.TimeLimitReached {
				fmt.Fprintln(w, "penalty: smaller ones were not tried, for the time limit was reached")
			}
		}
	}
	if r.Tests != nil {
		fmt.Fprintf(w, "tests: %s\n", r.Tests)
	}
	if ref := r.Reference; ref != nil {
		fmt.Fprintf(w, "%s: population %s\n", shownTitles(), ref.Text)
	}
	certified := slices.ContainsFunc(r.Solvers, func(s job.SolverResult) bool { return !math.IsNaN(float64(s.DualityGap)) })
	if certified {
		fmt.Fprintf(w, "duality gap: the optimum is at most this far below the objective; solvers stop at %s × max(|objective|, %d)\n", short(job.Float(r.Job.Gap)), in.Variables)
	}
	for _, s := range r.Solvers {
		if key := recovery.ObjectiveOption(s.Name); key != "" {
			fmt.Fprintf(w, "%s: its objective has a quadratic penalty besides and is not the others'; a larger --%s brings it nearer\n", s.Name, job.FlagName(key))
		}
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	for _, s := range r.Solvers {
		if s.Adapted != nil {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Adapted)
		}
		for _, sentence := range []string{s.Note, s.Error} {
			if sentence != "" {
				fmt.Fprintf(w, "%s: %s\n", s.Name, sentence)
			}
		}
	}
	device := r.Device
	if r.DeviceName != "" {
		device += " (" + r.DeviceName + ")"
	}
	fmt.Fprintf(w, "engine: %s; device: %s; %s s in all\n", r.Engine, device, seconds(r.Seconds))
	if r.DeviceNote != "" {
		fmt.Fprintf(w, "device: %s\n", r.DeviceNote)
	}
	if r.Job.Out == "" {
		if slices.ContainsFunc(r.Files, func(f job.WrittenFile) bool { return f.Name == r.Job.Report }) {
			fmt.Fprintf(w, "report: %s\n", r.Job.Report)
			return
		}
		fmt.Fprintln(w, "no files were written; name a folder with --out")
		return
	}
	fmt.Fprintf(w, "files in %s: %s\n", r.Job.Out, strings.Join(filesOf(r, documented), ", "))
}

// filesOf are the names of the files that a run has written; documented says that
// run.json is one of them.
func filesOf(r *job.Result, documented bool) []string {
	var names []string
	add := func(files []job.WrittenFile) {
		for _, f := range files {
			names = append(names, f.Name)
		}
	}
	for _, s := range r.Solvers {
		add(s.Files)
	}
	add(r.Files)
	if documented {
		names = append(names, job.RunFile)
	}
	if names == nil {
		return []string{"none were written"}
	}
	return names
}

func printSolvers(w io.Writer, r *job.Result) {
	t := textTable{columns: []column{
		{"solver", left}, {"status", left}, {"penalty", right}, {"edges", right},
		{"objective", right}, {"duality gap", right}, {"seconds", right},
	}}
	lists := slices.ContainsFunc(r.Solvers, func(s job.SolverResult) bool { return s.ListMetrics != nil })
	if r.Reference != nil {
		for _, m := range shownMetrics() {
			t.columns = append(t.columns, column{m.Title, right})
		}
		if lists {
			for _, m := range metric.Headlines() {
				t.columns = append(t.columns, column{"list " + m.Title, right})
			}
		}
	}
	for _, s := range r.Solvers {
		cells := []string{
			s.Name, s.StatusText(), short(s.Penalty), strconv.Itoa(s.Edges),
			objective(s.Objective), exponent(s.DualityGap), seconds(s.Seconds),
		}
		if r.Reference != nil {
			for _, m := range shownMetrics() {
				cells = append(cells, figure(s.Metrics.Get(m.Key), m.Format))
			}
			for _, m := range metric.Headlines() {
				of := s.Metrics
				if s.ListMetrics != nil {
					of = s.ListMetrics
				}
				if lists {
					cells = append(cells, figure(of.Get(m.Key), m.Format))
				}
			}
		}
		t.add(cells...)
	}
	t.print(w)
}

// shownMetrics are those of every pair in the table.
func shownMetrics() []metric.Metric {
	return slices.DeleteFunc(metric.OfRankings(), func(m metric.Metric) bool { return !m.Headline && m.Key != "early_precision" })
}

// shownTitles are their titles, as in "AUROC and AUPR".
func shownTitles() string {
	var titles []string
	for _, m := range shownMetrics() {
		titles = append(titles, m.Title)
	}
	return job.AllOf(titles)
}

// none stands where there is no figure.
const none = "-"

// figure formats what is finite.
func figure(f job.Float, format string) string {
	if v := float64(f); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return fmt.Sprintf(format, v)
	}
	return none
}

// short is a penalty or a tolerance, as people would write it.
func short(f job.Float) string { return figure(f, "%.4g") }

// objective has decimals enough to compare solvers by.
func objective(f job.Float) string {
	if v := math.Abs(float64(f)); v != 0 && v < 1e-3 || v >= 1e9 {
		return figure(f, "%.6e")
	}
	return figure(f, "%.5f")
}

func exponent(f job.Float) string { return figure(f, "%.1e") }

func seconds(f job.Float) string { return figure(f, "%.2f") }
