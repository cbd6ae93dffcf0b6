package arrowio

import (
	"encoding/json"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// SampleSchema is that of samples as one column of fixed-size lists, a whole
// sample in every row: the form that is fastest to stream. OpenSamples reads
// it with the names.
func SampleSchema(names []string) *arrow.Schema {
	text, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings have JSON
	}
	m := arrow.NewMetadata([]string{namesKey}, []string{string(text)})
	return arrow.NewSchema([]arrow.Field{{
		Name: "sample",
		Type: arrow.FixedSizeListOf(int32(len(names)), arrow.PrimitiveTypes.Float64),
		// Arrow 15 writes lists to Parquet as nulls unless they are nullable.
		Nullable: true,
		Metadata: m,
	}}, nil)
}

// SampleRecord is a batch of n samples, row-major, with a schema that
// SampleSchema has made. It uses rows and does not copy them.
func SampleRecord(schema *arrow.Schema, rows []float64, n int) arrow.Record {
	t := schema.Field(0).Type.(*arrow.FixedSizeListType)
	values := array.NewData(t.Elem(), len(rows), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(rows))}, nil, 0, 0)
	defer values.Release()
	lists := array.NewData(t, n, []*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0)
	defer lists.Release()
	column := array.MakeFromData(lists)
	defer column.Release()
	return array.NewRecord(schema, []arrow.Array{column}, int64(n))
}
