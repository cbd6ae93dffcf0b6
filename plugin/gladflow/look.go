package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

// lookFields are the fields of a job that say how its table is read.
func lookFields() []string {
	return []string{
		"input_format", "sheet", "orientation", "id_column", "no_header", "decimal", "thousands", "na", "columns", "exclude", "rows", "exclude_rows", "adjust", "weights", "transform",
		"correlation", "model", "engine", "threads", "json",
	}
}

func lookCommand() *cobra.Command {
	var j job.Job
	var limit *jobMemory
	c := &cobra.Command{
		Use:   "look INPUT",
		Short: "say what a table is, and how to recover a network from it",
		Long: `Reads a whole table of samples and says what it is: samples, variables and
types, what is missing or constant, which variables repeat each other, heavy
tails and outliers, units, and whether GLAD's model has learned on tables of
this size. Then it prints the command that recovers a network from it.`,
		Example: `  gladflow look expression.parquet
  gladflow look expression.tsv.gz --id-column condition --json
  gladflow look survey.csv --decimal , --na "keine Angabe"`,
		Args: arguments("INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			j.Input = args[0]
			budget, err := limit.budget(c)
			if err != nil {
				return err
			}
			bar := newProgressBar(c.ErrOrStderr())
			defer bar.close()
			look, err := recovery.Look(c.Context(), j, recovery.Host{
				Files: table.Files{Stdin: c.InOrStdin(), Stores: store.All()}, Progress: bar.show, Memory: budget,
			})
			bar.close()
			if err != nil {
				return asFlag(c, &j, err)
			}
			if j.JSON {
				printJSON(c.OutOrStdout(), look)
			} else {
				printLook(c.OutOrStdout(), look)
			}
			return nil
		},
	}
	var others []string
	for _, f := range job.Fields(&j, recovery.Facts()) {
		if !slices.Contains(lookFields(), f.Key) {
			others = append(others, f.Key)
		}
	}
	bind(c, &j, recovery.Facts(), others...)
	limit = bindJobMemory(c)
	return c
}

func printLook(w io.Writer, l *job.Look) {
	in := l.Input
	fmt.Fprintf(w, "%s: %s, %s\n", in.Path, progress.Count(in.Samples, "sample"), progress.Count(in.Variables, "variable"))
	var types []string
	for _, name := range slices.Sorted(maps.Keys(l.Types)) {
		word := name
		if name == "text" {
			word = "of numbers as text"
		}
		types = append(types, fmt.Sprintf("%d %s", l.Types[name], word))
	}
	t := textTable{columns: []column{{"", left}, {"", left}}}
	t.add("columns", job.AllOf(types))
	t.add("variables / samples", fmt.Sprintf("%.3g", l.Ratio))
	if m := in.Missing; m != nil {
		var most []string
		for _, v := range l.MostMissing {
			most = append(most, fmt.Sprintf("%s (%d)", v.Name, v.Count))
		}
		t.add("missing", fmt.Sprintf("%s in %s, %d are whole; most in %s", progress.Count(m.Values, "value"), progress.Count(m.Samples, "sample"), l.WholeSamples, strings.Join(most, ", ")))
	} else {
		t.add("missing", "nothing")
	}
	t.add("constant", orNone(firstOf(in.Constant)))
	var groups []string
	for _, g := range l.Repeats {
		groups = append(groups, strings.Join(g, " = "))
	}
	t.add("repeated", orNone(firstOf(groups)))
	if l.Dependent != nil {
		var sums []string
		for _, g := range l.Dependent {
			sums = append(sums, fmt.Sprintf("each of %s follows from the others", firstOf(g)))
		}
		t.add("dependent", strings.Join(sums, "; "))
	}
	if a := in.Adjusted; a != nil {
		t.add("adjusted", fmt.Sprintf("%s, which take %d degrees of freedom: M is %d", progress.Count(len(a.Covariates), "covariate"), a.Rank, l.Counted))
	}
	if v := in.Weighted; v != nil {
		left := ""
		if v.Zero > 0 {
			left = fmt.Sprintf("; %s of weight zero left out", progress.Count(v.Zero, "sample"))
		}
		t.add("weights", fmt.Sprintf("worth %.4g samples of equal weight%s", v.Samples, left))
	}
	t.add("tails", fmt.Sprintf("%d variables heavy (kurtosis above %d), median kurtosis %.3g; a Gaussian has 3", in.HeavyTails, table.Heavy, float64(l.MedianKurtosis)))
	t.add("standard deviations", fmt.Sprintf("%.3g (%s) to %.3g (%s)", l.LeastDeviation.Value, l.LeastDeviation.Name, l.LargestDeviation.Value, l.LargestDeviation.Name))
	t.print(w)
	fmt.Fprintln(w)
	for _, sentence := range l.Advice {
		fmt.Fprintf(w, "* %s\n", sentence)
	}
	fmt.Fprintf(w, "%s\n", l.Command)
}

// firstOf joins the first of some texts.
func firstOf(texts []string) string {
	const most = 5
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return strings.Join(texts[:most], ", ") + " and " + strconv.Itoa(len(texts)-most) + " more"
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
