package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/table"
)

func evaluateCommand() *cobra.Command {
	var e job.Evaluation
	c := &cobra.Command{
		Use:   "evaluate EDGES REFERENCE",
		Short: "score a list of edges against a known network",
		Long: `Scores a ranked list of edges, of gladflow or of any other program, against a
known network: the area under the ROC curve and under the precision-recall
curve, on the pairs that the population says.

By default that is the protocol of the DREAM5 challenge: the pairs that the
reference labels, directed, the order of the list as the rank, pairs that are
not in the list tied last.`,
		Example: `  gladflow evaluate network/bcd.edges.parquet known.tsv
  gladflow evaluate published.tsv.gz known.tsv.gz
  gladflow evaluate published.tsv.gz known.tsv.gz --population all --undirected --json
  gladflow evaluate published.tsv.gz known.tsv.gz --report published.html`,
		Args: arguments("EDGES", "REFERENCE"),
		RunE: func(c *cobra.Command, args []string) error {
			e.EdgeList, e.Reference = args[0], args[1]
			r, err := evaluation.Run(c.Context(), e, table.Files{Stdin: c.InOrStdin(), Stores: store.All()})
			if err != nil {
				return asFlag(c, &e, err)
			}
			if e.JSON {
				printJSON(c.OutOrStdout(), r)
			} else {
				printEvaluation(c.OutOrStdout(), r)
			}
			return nil
		},
	}
	bind(c, &e, job.Facts{}, "edge_list", "reference")
	return c
}

func printEvaluation(w io.Writer, r *evaluation.Result) {
	var t textTable
	var cells []string
	for _, m := range metric.OfRankings() {
		t.columns = append(t.columns, column{m.Title, right})
		cells = append(cells, figure(r.Metrics.Get(m.Key), m.Format))
	}
	t.add(cells...)
	t.print(w)
	fmt.Fprintf(w, "\npopulation %s\n", r.Reference.Text)
	by := "the order of its lines"
	if r.RankedBy == job.RankScore {
		by = "its scores"
	}
	both := ""
	if r.Symmetric {
		both = ", each for both directions"
	}
	fmt.Fprintf(w, "list of %d edges%s, ranked by %s: %d pairs of the population are in it, the others tie last\n", r.Lines, both, by, r.Listed)
	if s := r.Support; s != nil && s.Pairs > 0 {
		fmt.Fprintf(w, "known edges among them: %d (precision %s, recall %s, F1 %s)\n", s.Positives, figure(s.Precision, "%.4f"), figure(s.Recall, "%.4f"), figure(s.F1, "%.4f"))
	}
	fmt.Fprintln(w, metric.TieRule)
	if all := r.AllMetrics; all != nil && slices.ContainsFunc(all, func(m job.Metric) bool { return m.Value != r.Metrics.Get(m.Key) }) {
		var words []string
		for _, m := range metric.OfRankings() {
			words = append(words, m.Title+" "+figure(all.Get(m.Key), m.Format))
		}
		fmt.Fprintf(w, "its recovery scored every pair, also those that the list lacks: %s; recover --edges all lists them\n", strings.Join(words, ", "))
	}
	for _, f := range r.Files {
		fmt.Fprintf(w, "report: %s\n", f.Name)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}
