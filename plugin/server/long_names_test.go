package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A name of a column that is as long as a message is refused, and neither kept with
// the run nor logged.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	numbers, text := arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String
	for name, test := range map[string]struct {
		job, column string
		kind        arrow.DataType
	}{
		"of numbers": {`{}`, long, numbers},
		"of text":    {`{}`, long, text},
		"a label":    {`{"id_column":"` + long[:50_000] + `"}`, "a", numbers},
	} {
		t.Run(name, func(t *testing.T) {
			var log logtest.Log
			s, c := served(t, Config{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})})
			schema := arrow.NewSchema([]arrow.Field{{Name: test.column, Type: test.kind}, {Name: "b", Type: numbers}}, nil)
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			if test.kind == text {
				b.Field(0).(*array.StringBuilder).AppendValues([]string{"1", "2"}, nil)
			} else {
				b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
			}
			b.Field(1).(*array.Float64Builder).AppendValues([]float64{1, 3}, nil)
			ctx := bg(t)
			_, err := put(ctx, t, c, test.job, b.NewRecord())
			if f := protocol.FaultOf(err); f == nil || f.StatusCode() != codes.InvalidArgument || f.Message == "" {
				t.Fatalf("%+v", f)
			}
			if err := s.Drain(ctx); err != nil {
				t.Fatal(err)
			}
			for _, r := range s.runs.List("") {
				events, err := act(ctx, c, protocol.ActionWatch, `{"run":"`+r.ID()+`"}`)
				if err != nil {
					t.Fatal(err)
				}
				var last protocol.Event
				if err := json.Unmarshal(events[len(events)-1], &last); err != nil {
					t.Fatal(err)
				}
				if last.Error == nil || len(last.Error.Message) > 1100 || len(last.Error.Column) > 1100 {
					t.Error("the fault of the run that is kept is as long as the name")
				}
			}
			if log.Len() > 10_000 {
				t.Errorf("the log has %d bytes", log.Len())
			}
		})
	}
}
