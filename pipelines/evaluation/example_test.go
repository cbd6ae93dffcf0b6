package evaluation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

func ExampleRun() {
	folder, err := os.MkdirTemp("", "gladflow-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	reference := filepath.Join(folder, "reference.tsv")
	if err := os.WriteFile(reference, []byte("tf1\tx\t1\ntf1\ty\t0\ntf2\tx\t0\ntf2\ty\t1\n"), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	list := strings.NewReader("tf1\tx\t0.9\ntf2\tx\t0.4\ntf2\ty\t0.3\n")
	r, err := evaluation.Run(context.Background(),
		job.Evaluation{EdgeList: "-", Reference: reference}, table.Files{Stdin: list})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AUROC %.2f, AUPR %.2f\n%s\n", r.Metrics.Get("auroc"), r.Metrics.Get("aupr"), r.Reference.Text)
	// Output:
	// AUROC 0.75, AUPR 0.79
	// labelled, directed: 4 pairs, 2 positive
}
