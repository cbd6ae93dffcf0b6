package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/dream5"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/solver/dense"
)

func dream5Command() *cobra.Command {
	var d job.Dream5
	c := &cobra.Command{
		Use:   "dream5 DIR",
		Short: "score solvers on a network of the DREAM5 or DREAM4 challenge",
		Long: `Runs solvers on a network of the DREAM5 challenge, or of DREAM4, and scores them as
the challenge did, and on two other populations of pairs, with standard errors by
bootstrap over the regulators and paired differences; published figures stand
beside, with a word on whether they are on the same data.

DIR has the challenge's files as they are downloaded, in sub-folders too,
compressed by gzip or not: net3_expression_data.tsv, net3_transcription_factors.tsv
and DREAM5_NetworkInference_GoldStandard_Network3 - E. coli.tsv; of DREAM4
insilico_size100_1_multifactorial.tsv and its gold standard. It may have other data
under such names, such as merged conditions; what was found is said.

With --out it writes the metrics and, for every solver, a ranked list in the format
of the challenge's submissions, of at most 100,000 edges. --report leaves a page to
look at.`,
		Example: `  gladflow dream5 challenge --out ecoli
  gladflow dream5 challenge --network 1 --solvers glad,correlation,clr
  gladflow dream5 challenge --genes all --time-limit 10m --out all-genes
  gladflow dream5 dream4 --network size100_1`,
		Args: arguments("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			d.Folder = args[0]
			if d.Threads > 0 {
				dense.LimitCores(d.Threads)
			}
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			r, err := dream5.Run(c.Context(), d, dream5.Host{Progress: bar.show})
			bar.close()
			switch {
			case r == nil:
			case d.JSON:
				printJSON(c.OutOrStdout(), r)
			default:
				printDream5(c.OutOrStdout(), r)
			}
			return asFlag(c, &d, err)
		},
	}
	bind(c, &d, dream5.Facts(), "folder")
	return c
}

// printDream5 prints the data, a table for each population, and what was published.
func printDream5(w io.Writer, r *dream5.Result) {
	fmt.Fprintf(w, "network %s, %s\n", r.Network, r.Title)
	fmt.Fprintln(w, r.Data.Text)
	if r.Data.Listed > 0 {
		fmt.Fprintf(w, "regulators: %d listed, %d of them among the genes used\n", r.Data.Listed, r.Data.Found)
	}
	if r.Others != nil {
		fmt.Fprintf(w, "the folder has these networks too: %s\n", job.AllOf(r.Others))
	}
	for k, p := range r.Populations {
		fmt.Fprintf(w, "\n%s: %s pairs, %s positive\n", p.Name, strconv.Itoa(p.Pairs), strconv.Itoa(p.Positives))
		if b := before(r, k); b.Name != "" {
			fmt.Fprintf(w, "as %s: every pair has a label\n", b.Name)
			continue
		}
		printDream5Figures(w, r, p.Name)
		if p.Population == metric.All.String() && r.Data.Listed > 0 {
			fmt.Fprintln(w, "with the list, pairs without a listed regulator come last: compare solvers that were given the same")
		}
	}
	if len(r.Published) > 0 {
		data := "other data than these"
		if r.Data.Whole {
			data = "data of the same size"
		}
		fmt.Fprintf(w, "\npublished, on %s; %s\n", data, r.Populations[0].Name)
		t := textTable{columns: []column{{"method", left}, {"AUROC", right}, {"AUPR", right}, {"source", left}}}
		for _, p := range r.Published {
			source := p.Source
			if p.Note != "" {
				source += "; " + p.Note
			}
			t.add(p.Method, figure(p.AUROC, "%.3f"), figure(p.AUPR, "%.3f"), source)
		}
		t.print(w)
	}
	fmt.Fprintln(w)
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, "warning:", warning)
	}
	for _, s := range r.Solvers {
		if s.Error != "" {
			fmt.Fprintf(w, "%s: %s\n", s.Name(), s.Error)
		}
	}
	fmt.Fprintf(w, "%s; %s s in all\n", progress.Count(len(r.Solvers), "ranking"), seconds(r.Seconds))
	if r.Dream5.Out == "" {
		for _, f := range r.Files {
			fmt.Fprintf(w, "report: %s\n", f.Name)
		}
		if r.Files == nil {
			fmt.Fprintln(w, "no files were written; name a folder with --out")
		}
		return
	}
	fmt.Fprintf(w, "files in %s: %s and %s\n", r.Dream5.Out, progress.Count(len(r.Files), "file"), dream5.DocumentFile)
}

// before is the population before number k that has the same unordered pairs, if there is
// one.
func before(r *dream5.Result, k int) dream5.PopulationResult {
	p := r.Populations[k]
	for _, b := range r.Populations[:k] {
		if b.Directed == p.Directed && b.Pairs == p.Pairs && b.Positives == p.Positives && p.Pairs == r.Data.Used*(r.Data.Used-1)/2 {
			return b
		}
	}
	return dream5.PopulationResult{}
}

// printDream5Figures prints the figures on a population ± their standard errors, and the
// differences from the baselines.
func printDream5Figures(w io.Writer, r *dream5.Result, population string) {
	headline := []string{"auroc", "aupr"}
	var baselines []string
	for _, b := range r.Dream5.Baselines {
		if slices.ContainsFunc(r.Solvers, func(s dream5.SolverResult) bool { return s.Solver == b && s.Figures != nil }) {
			baselines = append(baselines, b)
		}
	}
	var shown []metric.Metric
	for _, m := range metric.OfRankings() {
		if slices.Contains(headline, m.Key) || m.Key == "early_precision" {
			shown = append(shown, m)
		}
	}
	t := textTable{columns: []column{{"solver", left}, {"status", left}, {"seconds", right}}}
	for _, m := range shown {
		t.columns = append(t.columns, column{m.Title, right})
	}
	minus := textTable{columns: []column{{"", left}}}
	for _, b := range baselines {
		for _, m := range shown {
			if slices.Contains(headline, m.Key) {
				minus.columns = append(minus.columns, column{m.Title + " minus " + b, right})
			}
		}
	}
	for _, s := range r.Solvers {
		if s.Figures == nil {
			continue
		}
		row, differences := []string{s.Name(), s.Status, seconds(s.Seconds)}, []string{s.Name()}
		for _, m := range shown {
			f, _ := s.Figure(population, m.Key)
			row = append(row, withError(f.Value, f.StandardError, m.Format, m.Format))
		}
		t.add(row...)
		for _, b := range baselines {
			for _, m := range shown {
				if !slices.Contains(headline, m.Key) {
					continue
				}
				f, _ := s.Figure(population, m.Key)
				d := f.Difference(b)
				text := none
				if d.Value.IsFinite() {
					text = plusMinus(d.Value, d.StandardError, m.Format)
				}
				differences = append(differences, text)
			}
		}
		minus.add(differences...)
	}
	t.print(w)
	if len(baselines) > 0 {
		fmt.Fprintln(w)
		minus.print(w)
	}
}
