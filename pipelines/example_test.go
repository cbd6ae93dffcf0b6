package pipelines_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/pipelines"
)

// A job from a document, with the samples on standard input.
func Example() {
	job, err := pipelines.ReadJob(strings.NewReader(`
input: "-"
input_format: csv
solvers: [bcd]
penalty: 0.3
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	// b follows a; c goes its own way.
	samples := "a,b,c\n1,2,1\n2,4,-1\n3,6,1\n4,8,-1\n5,10,1\n6,12,-1\n7,14,1\n8,16,-1\n"
	result, err := pipelines.Run(context.Background(), job, pipelines.Host{Stdin: strings.NewReader(samples)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Input.Samples, "samples of", result.Variables)
	for _, s := range result.Solvers {
		fmt.Printf("%s: %s, edges: %d\n", s.Name, s.Status, s.Edges)
	}
	// Output:
	// 8 samples of [a b c]
	// bcd: converged, edges: 1
}

// What the user can put right is a JobError that names the field.
func ExampleRun_errors() {
	_, err := pipelines.Run(context.Background(), pipelines.Job{Input: "samples.csv", Penalty: "-1"}, pipelines.Host{})
	var wrong *pipelines.JobError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Field)
		fmt.Println(wrong.Reason)
	}
	// Output:
	// penalty
	// -1 is negative; give a number that is zero or more, or ebic
}

func ExampleEvaluate() {
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
	r, err := pipelines.Evaluate(context.Background(),
		pipelines.Evaluation{EdgeList: "-", Reference: reference}, pipelines.Host{Stdin: list})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("AUROC %.2f, AUPR %.2f\n%s\n", r.AUROC, r.AUPR, r.Reference.Text)
	// Output:
	// AUROC 0.75, AUPR 0.79
	// labelled, directed: 4 pairs, 2 positive
}
