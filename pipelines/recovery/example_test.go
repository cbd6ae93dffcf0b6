package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
)

// A job from a document, with the samples on standard input.
func Example() {
	j, err := job.Read(strings.NewReader(`
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
	result, err := recovery.Run(context.Background(), j, recovery.Host{Files: table.Files{Stdin: strings.NewReader(samples)}})
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

// What the user can put right is a job.Error that names the field.
func ExampleRun_errors() {
	_, err := recovery.Run(context.Background(), job.Job{Input: "samples.csv", Gap: -1}, recovery.Host{})
	var wrong *job.Error
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Field)
		fmt.Println(wrong.Reason)
	}
	// Output:
	// gap
	// the value is negative; give a positive one, or leave it out for the default
}
