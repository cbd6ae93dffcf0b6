package evaluation_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

func TestResultRoundTrip(t *testing.T) {
	r, err := evaluation.Run(t.Context(), job.Evaluation{
		EdgeList:  testtable.File(t, "edges.tsv", "v0\tv1\nv3\tv1\n"),
		Reference: testtable.File(t, "known.tsv", testtable.Star),
	}, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil || members["auroc"] != float64(r.Metrics.Get("auroc")) || members["ranked_by"] != "order" {
		t.Errorf("%s, %v", data, err)
	}
	if !strings.HasSuffix(string(data), `}`) || strings.Index(string(data), `"aupr"`) < strings.Index(string(data), `"repeated"`) {
		t.Errorf("the metrics are not last: %s", data)
	}
	var back evaluation.Result
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("%+v, %v; want %+v", back, err, r)
	}
}
