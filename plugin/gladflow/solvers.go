package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/recovery"
)

func solversCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "solvers",
		Short: "list the solvers",
		Example: `  gladflow solvers
  gladflow solvers --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			if asJSON {
				printJSON(w, recovery.Solvers())
				return nil
			}
			for i, s := range recovery.Solvers() {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%-11s %s\n            %s\n", s.Name, s.Title, s.Description)
				if s.Minimises != "" {
					fmt.Fprintf(w, "            minimises %s\n", s.Minimises)
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}
