package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/card"
)

func modelsCommand() *cobra.Command {
	var card string
	var asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "list the built-in models of GLAD and of expression, or print the card of one",
		Long: `Lists the models that come with gladflow. With --card it prints what is known of
one of them, or of a model file: what it was trained on, how well it did on the
validation data, and the command that repeats the training. The same of its edge
head, if it has one: how well its probabilities of edges hold, by kind of network.`,
		Example: `  gladflow models
  gladflow models --card ` + glad.DefaultModelName + `
  gladflow models --card my-model.json --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if card != "" {
				info, err := recovery.DescribeModel(card)
				if err != nil {
					return err
				}
				if asJSON {
					printJSON(w, info)
				} else {
					printCard(w, info)
				}
				return nil
			}
			models, err := recovery.Models()
			if err != nil {
				return err
			}
			if asJSON {
				printJSON(w, models)
				return nil
			}
			t := textTable{columns: []column{{"model", left}, {"kind", left}, {"steps", right}, {"parameters", right}, {"trained", left}, {"probability", left}, {"about", left}}}
			for _, m := range models {
				steps := none
				if m.Iterations > 0 {
					steps = fmt.Sprint(m.Iterations)
				}
				trained := "no"
				if m.Card.Trained {
					trained = "yes"
				}
				probability := none
				if m.EdgeParameters > 0 || m.Kind == recovery.RankingKind {
					probability = "yes"
				}
				t.add(m.Name, m.Kind, steps, fmt.Sprint(m.Parameters), trained, probability, firstSentence(m.Card.Description))
			}
			t.print(w)
			return nil
		},
	}
	c.Flags().StringVar(&card, "card", "", "print what is known of a model, by its `NAME` or file")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	_ = c.RegisterFlagCompletionFunc("card", cobra.FixedCompletions(recovery.ModelNames(), cobra.ShellCompDirectiveDefault))
	return c
}

// firstSentence keeps a list readable; --card prints the rest.
func firstSentence(text string) string {
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first
	}
	return text
}

// printCard prints what is known of a model, a line for each fact that there
// is.
func printCard(w io.Writer, m job.ModelInfo) {
	c := m.Card
	fmt.Fprintf(w, "%s\n", m.Name)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-12s %s\n", name, value)
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			line(name, strconv.Itoa(n))
		}
	}
	line("about", c.Description)
	kind := m.Kind
	if m.Iterations > 0 {
		kind += ", " + progress.Count(m.Iterations, "cell")
	}
	line("kind", kind+", "+progress.Count(m.Parameters, "parameter"))
	if !c.Trained {
		line("trained", "no, its weights were set by hand")
	}
	line("family", c.Family)
	line("variables", job.Counts(c.Dimension).String())
	line("samples", job.Counts(c.Samples).String())
	line("input", job.AllOf(c.Input))
	for _, s := range []struct {
		of   string
		span card.Span
	}{{"d", c.Range.Dimension}, {"M", c.Range.Samples}, {"d/M", c.Range.Ratio}} {
		if s.span.Known() {
			line("range of "+s.of, s.span.String())
		}
	}
	number("graphs", c.Graphs)
	line("loss", c.Loss)
	number("steps", c.Steps)
	if c.Trained {
		line("seed", strconv.FormatUint(c.Seed, 10))
	}
	for i, key := range slices.Sorted(maps.Keys(c.Validation)) {
		name := ""
		if i == 0 {
			name = "validation"
		}
		line(name, fmt.Sprintf("%s %s", key, cardValue(c.Validation[key])))
	}
	line("computed on", c.Backend)
	line("command", c.Command)
	e := c.Edges
	if e == nil {
		return
	}
	line("edges", fmt.Sprintf("an edge head of %s gives the probability of an edge", progress.Count(m.EdgeParameters, "parameter")))
	line("", "trained on "+e.Family)
	line("", fmt.Sprintf("%s, %s, seed %d, %s loss %.5f", progress.Count(e.Tables, "table"), progress.Count(e.Pairs, "pair"), e.Seed, e.Loss, e.Validation))
	line("", e.Command)
	fmt.Fprintln(w)
	printReliability(w, e)
}

// cardValue is a figure with the digits that matter.
func cardValue(v any) string {
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'g', 5, 64)
	}
	return fmt.Sprint(v)
}
