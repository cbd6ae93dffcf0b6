package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// besideOthers is 60 samples of six variables with their labels, batches and weights, and a
// variable that does not vary.
func besideOthers(t testing.TB) arrow.Record {
	t.Helper()
	const n = 60
	rng := rand.New(rand.NewPCG(6, 6))
	ids, groups, weights, still := make([]string, n), make([]string, n), make([]float64, n), make([]float64, n)
	columns := []arrowio.Column{{Name: "id", Values: ids}, {Name: "batch", Values: groups}, {Name: "weight", Values: weights}, {Name: "still", Values: still}}
	for i := range n {
		ids[i], groups[i], weights[i] = fmt.Sprint("s", i+1), "ab"[i%2:i%2+1], 0.5+rng.Float64()
	}
	before := make([]float64, n)
	for j := range 6 {
		values := make([]float64, n)
		for i := range values {
			values[i] = 0.7*before[i] + rng.NormFloat64()
		}
		columns, before = append(columns, arrowio.Column{Name: fmt.Sprint("gene", j), Values: values}), values
	}
	r, err := arrowio.NewRecord(columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The fields of a job that say which samples are taken, what is done with them and how sure
// edges are hold for samples that are streamed.
func TestFieldsOfStreamedSamples(t *testing.T) {
	_, c := served(t, Config{})
	ctx, table := bg(t), besideOthers(t)
	var sum, squares float64 // samples of other weights count as so many equal ones: (Σw)²/Σw²
	for _, w := range table.Column(2).(*array.Float64).Float64Values() {
		sum, squares = sum+w, squares+w*w
	}
	const genes = `"columns":["gene*"],`
	for fields, want := range map[string]string{ // samples, variables, further columns of edges
		genes + `"id_column":"id","adjust":["batch"]`:                           "59 6 ",
		genes + `"id_column":"id","weights":"weight"`:                           fmt.Sprintf("%d 6 ", int(sum*sum/squares)),
		genes + `"id_column":"id","rows":["s1*"]`:                               "11 6 ",
		genes + `"id_column":"id","rows":["#1-20"]`:                             "20 6 ",
		genes + `"id_column":"id","exclude_rows":["#1-2","s30","#31-33","s60"]`: "53 6 ",
		`"id_column":"id","exclude":["batch","weight"],"constant":"drop"`:       "60 6 ",
		genes + `"id_column":"id","top_variance":3`:                             "60 3 ",
		genes + `"id_column":"id","select":"stars","select_resamples":4`:        "60 6 ",
		genes + `"id_column":"id","penalty":"edges:3"`:                          "60 6 ",
		genes + `"id_column":"id","stability":4,"false_edges":9`:                "60 6 selection_probability,sign_consistency",
		genes + `"id_column":"id","edges":"fdr:0.5","confidence":0.9`:           "60 6 p_value,q_value,lower,upper",
		genes + `"id_column":"id","edges":"top:2","p_values":"desparsified"`:    "60 6 p_value,q_value,lower,upper",
	} {
		id, err := put(ctx, t, c, `{"solvers":["bcd"],`+fields+`}`, table)
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		documents, err := act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		var result job.Result
		if err := json.Unmarshal(documents[0], &result); err != nil {
			t.Fatal(err)
		}
		described, err := c.GetSchema(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{id}})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := flight.DeserializeSchema(described.Schema, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		var more []string
		for _, f := range schema.Fields()[6:] {
			more = append(more, f.Name)
		}
		if got := fmt.Sprintf("%d %d %s", result.Input.Samples, result.Input.Variables, strings.Join(more, ",")); got != want {
			t.Errorf("%s: %q instead of %q", fields, got, want)
		}
	}
}

// Fields that say how a file is written are refused where there is none, and errors call a
// stream a stream.
func TestFieldsOfFiles(t *testing.T) {
	_, c := served(t, Config{})
	ctx, table := bg(t), besideOthers(t)
	for field, value := range map[string]string{"input_format": `"csv"`, "sheet": `"x"`, "no_header": "true", "decimal": `","`, "thousands": `","`, "na": `["x"]`} {
		_, err := put(ctx, t, c, `{"`+field+`":`+value+`}`, table)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, field)
		_, err = putTo(ctx, t, c, table, protocol.PathLook, `{"`+field+`":`+value+`}`)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, field)
	}
	_, err := put(ctx, t, c, `{"solvers":["bcd"],"id_column":"id","exclude":["batch","weight"]}`, table)
	f := wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidTable, "input")
	if f.Column != "still" || !strings.HasPrefix(f.Message, "the stream: ") {
		t.Errorf("%+v", f)
	}
}
