package arrowio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/arrowio"
)

func ExampleOpenSamples() {
	table := "condition\tlacI\tlacZ\nwild type\t7.1\t9.3\nknock-out\t2.0\t11.8\n"
	samples, err := arrowio.OpenSamples(context.Background(), "-", arrowio.SampleOptions{
		IDColumn: "condition",
		Stdin:    strings.NewReader(table),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer samples.Close()
	for {
		rows, n, err := samples.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(samples.Names(), n, rows)
	}
	fmt.Println(samples.Rows(), samples.IDs(), samples.SHA256()[:8])
	// Output:
	// [lacI lacZ] 2 [7.1 9.3 2 11.8]
	// 2 [wild type knock-out] 0887ce17
}

func ExampleInputError() {
	_, err := arrowio.OpenSamples(context.Background(), "no-such-file.csv", arrowio.SampleOptions{})
	var input *arrowio.InputError
	if errors.As(err, &input) {
		fmt.Println(err) // exit code 2: the user can put it right
	}
	// Output:
	// no-such-file.csv: there is no such file; check the path
}

func ExampleReadReference() {
	reference, err := arrowio.ReadReference(context.Background(), "-", arrowio.ListOptions{
		Stdin: strings.NewReader("lacI\tlacZ\t1\nlacI\tlacY\t1\ncrp\tlacI\t0\n"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reference.Len(), reference.Positives(), reference.Labelled)
	// Output:
	// 3 2 true
}

func ExampleWriteEdges() {
	folder, err := os.MkdirTemp("", "gladflow")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "bcd.edges.csv")
	err = arrowio.WriteEdges(path, arrowio.CSV, []arrowio.Edge{
		{Source: "crp", Target: "lacZ", Score: 0.31, Precision: -0.4, PartialCorrelation: 0.31},
		{Source: "lacI", Target: "lacZ", Score: 0.62, Precision: 0.8, PartialCorrelation: -0.62},
	}, map[string]string{"gladflow.solver": "bcd"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	edges, err := arrowio.ReadEdges(context.Background(), path, arrowio.ListOptions{})
	fmt.Println(edges.Len(), edges.Metadata, err)
	// Output:
	// source,target,score,precision,partial_correlation,sign
	// lacI,lacZ,0.62,0.8,-0.62,-1
	// crp,lacZ,0.31,-0.4,0.31,1
	// 2 map[gladflow.solver:bcd] <nil>
}
