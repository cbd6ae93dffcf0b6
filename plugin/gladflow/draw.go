package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/arrowio/store"
	"github.com/gladflow/gladflow/pipelines/drawing"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/table"
)

func drawCommand() *cobra.Command {
	var d job.Drawing
	c := &cobra.Command{
		Use:   "draw EDGES --out FILE",
		Short: "draw a list of edges as SVG or PNG",
		Long: `Draws the strongest edges of a list, of gladflow or of any other program, as a
picture: points are larger the more edges they have, lines wider the higher the
score, blue where it is positive, dashed and orange where it is negative.`,
		Example: `  gladflow draw network/glad.edges.parquet --out network.svg
  gladflow draw network/glad.edges.parquet --out slide.png --top 100 --theme dark`,
		Args: arguments("EDGES"),
		RunE: func(c *cobra.Command, args []string) error {
			d.EdgeList = args[0]
			r, err := drawing.Run(c.Context(), d, table.Files{Stdin: c.InOrStdin(), Stores: store.All()})
			if err != nil {
				return asFlag(c, &d, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s of %d lines, %s\n", r.File.Name, progress.Count(r.Edges, "edge"), r.Lines, progress.Count(r.Variables, "variable"))
			return nil
		},
	}
	bindOutFirst(c, &d, job.Facts{}, "edge_list")
	return c
}
