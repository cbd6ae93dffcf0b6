package main

import (
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

// mostLines is the number of lines that a run is printed in, with the table of up to eight
// solvers: the report has the rest.
const mostLines = 25

// printResult prints a run, of one solver at least, as a table with what its
// figures mean, and the strongest edges. documented says that run.json could be written.
func printResult(w io.Writer, r *job.Result, documented bool) {
	in := r.Input
	lines := []string{fmt.Sprintf("%s: %s, %s", in.Path, progress.Count(in.Samples, "sample"), progress.Count(in.Variables, "variable"))}
	lines = append(lines, recovery.Preparation(r)...)
	lines = append(lines, "")
	lines = append(lines, solversTable(r).lines()...)
	lines = append(lines, "")
	end := slices.Concat(penaltyLines(r), figureLines(r), solverLines(r))
	places := placeLines(r, documented)
	// Of warnings the first few, and all where no file has the others.
	warnings := r.Warnings
	room := max(1, mostLines-len(lines)-len(end)-len(places)-fewestNetworkLines)
	if kept := r.Job.Out != "" && documented; kept && len(warnings) > room {
		warnings = slices.Concat(warnings[:room-1:room-1], []string{fmt.Sprintf("%d more in %s", len(warnings)-room+1, job.RunFile)})
	}
	for _, sentence := range warnings {
		end = append(end, "warning: "+sentence)
	}
	end = append(end, places...)
	lines = append(lines, networkLines(r, mostLines-len(lines)-len(end))...)
	fmt.Fprintln(w, strings.Join(append(lines, end...), "\n"))
}

// penaltyLines say how the penalty was chosen.
func penaltyLines(r *job.Result) []string {
	var lines []string
	if p := r.Penalty; p != nil {
		if p.MatrixSHA256 != "" {
			lines = append(lines, "penalty: the matrix "+r.Job.PenaltyMatrix)
		}
		if p.How != "" {
			lines = append(lines, fmt.Sprintf("penalty: %s by %s: %s", short(p.Rho), p.From, p.How))
		}
	}
	return lines
}

// figureLines say what the figures of the table are.
func figureLines(r *job.Result) []string {
	var lines []string
	if r.Tests != nil {
		lines = append(lines, "tests: "+r.Tests.String())
	}
	if ref := r.Reference; ref != nil {
		lines = append(lines, fmt.Sprintf("%s: population %s", shownTitles(), ref.Text))
	}
	if slices.ContainsFunc(r.Solvers, func(s job.SolverResult) bool { return !math.IsNaN(float64(s.DualityGap)) }) {
		lines = append(lines, fmt.Sprintf("duality gap: the optimum is at most this far below the objective; solvers stop at %s × max(|objective|, %d)", short(job.Float(r.Job.Gap)), r.Input.Variables))
	}
	return lines
}

// solverLines are what is to be said of single solvers.
func solverLines(r *job.Result) []string {
	var lines []string
	for _, s := range r.Solvers {
		if key := recovery.ObjectiveOption(s.Name); key != "" {
			lines = append(lines, fmt.Sprintf("%s: its objective has a quadratic penalty besides and is not the others'; a larger --%s brings it nearer", s.Name, job.FlagName(key)))
		}
	}
	for _, s := range r.Solvers {
		if s.Adapted != nil {
			lines = append(lines, s.Name+": "+s.Adapted.String())
		}
		if s.Stability != nil {
			lines = append(lines, s.Name+": "+s.Stability.String())
		}
		for _, sentence := range []string{s.Note, s.Error} {
			if sentence != "" {
				lines = append(lines, s.Name+": "+sentence)
			}
		}
	}
	return lines
}

// placeLines say where was computed, and where the files are.
func placeLines(r *job.Result, documented bool) []string {
	device := r.Device
	if r.DeviceName != "" {
		device += " (" + r.DeviceName + ")"
	}
	lines := []string{fmt.Sprintf("engine: %s; device: %s; %s s in all", r.Engine, device, seconds(r.Seconds))}
	if r.DeviceNote != "" {
		lines = append(lines, "device: "+r.DeviceNote)
	}
	switch {
	case r.Job.Out != "":
		return append(lines, fmt.Sprintf("files in %s: %s", r.Job.Out, strings.Join(filesOf(r, documented), ", ")))
	case slices.ContainsFunc(r.Files, func(f job.WrittenFile) bool { return f.Name == r.Job.Report }):
		return append(lines, "report: "+r.Job.Report)
	}
	return append(lines, "no files were written; name a folder with --out")
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

// solversTable is the table of the solvers.
func solversTable(r *job.Result) *textTable {
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
	return &t
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
