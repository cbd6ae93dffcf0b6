package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines"
	"github.com/gladflow/gladflow/solver/glad"
)

func modelsCommand() *cobra.Command {
	var card string
	var asJSON bool
	c := &cobra.Command{
		Use:   "models",
		Short: "list GLAD's built-in models, or print the card of one",
		Example: `  gladflow models
  gladflow models --card ` + glad.DefaultModelName + `
  gladflow models --card my-model.json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if card != "" {
				info, err := pipelines.DescribeModel(card)
				if err != nil {
					return err
				}
				printJSON(w, info)
				return nil
			}
			models, err := pipelines.Models()
			if err != nil {
				return err
			}
			if asJSON {
				printJSON(w, models)
				return nil
			}
			t := table{columns: []column{{"model", left}, {"kind", left}, {"steps", right}, {"parameters", right}, {"trained", left}, {"about", left}}}
			for _, m := range models {
				trained := "no"
				if m.Card.Trained {
					trained = "yes"
				}
				t.add(m.Name, string(m.Kind), fmt.Sprint(m.Iterations), fmt.Sprint(m.Parameters), trained, firstSentence(m.Card.Description))
			}
			t.print(w)
			return nil
		},
	}
	c.Flags().StringVar(&card, "card", "", "print what is known of a model, by its `NAME` or file")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	_ = c.RegisterFlagCompletionFunc("card", cobra.FixedCompletions(glad.BuiltinNames(), cobra.ShellCompDirectiveDefault))
	return c
}

// firstSentence keeps a list readable; --card prints the rest.
func firstSentence(text string) string {
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first
	}
	return text
}
