package plugintest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/arrow/util"
)

// A table is samples of a chain: variable j is ±0.7 times variable j-1 and
// noise of its own, the sign alternating, and its network therefore joins
// neighbours and no others.
type table struct {
	names []string
	rows  []float64 // samples×variables, row-major
}

// chain draws samples; the same seed gives the same.
func chain(seed uint64, variables, samples int) table {
	rng := rand.New(rand.NewPCG(seed, 0))
	t := table{rows: make([]float64, 0, variables*samples)}
	for j := range variables {
		t.names = append(t.names, fmt.Sprintf("gène %d", j))
	}
	for range samples {
		x := 0.0
		for j := range variables {
			x = link(j)*x + rng.NormFloat64()
			t.rows = append(t.rows, x)
		}
	}
	return t
}

// link is how variable j follows the one before.
func link(j int) float64 { return 0.7 * float64(1-2*(j%2)) }

func (t table) samples() int { return len(t.rows) / len(t.names) }

// neighbours are the edges of a chain, with the sign of the partial
// correlation.
func (t table) neighbours() map[[2]string]int8 {
	edges := make(map[[2]string]int8)
	for j := 1; j < len(t.names); j++ {
		edges[pair(t.names[j-1], t.names[j])] = int8(1 - 2*(j%2))
	}
	return edges
}

// pair is an unordered pair of names.
func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// plain is the table with a column for every variable.
func (t table) plain() arrow.Record {
	d, n := len(t.names), t.samples()
	var fields []arrow.Field
	var columns []arrow.Array
	for j, name := range t.names {
		values := make([]float64, n)
		for i := range values {
			values[i] = t.rows[i*d+j]
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
		columns = append(columns, numbers(values))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(n))
}

// lists is the table with a whole sample in every row of one column.
func (t table) lists() arrow.Record {
	names, err := json.Marshal(t.names)
	if err != nil {
		panic(err) // strings have JSON
	}
	typ := arrow.FixedSizeListOf(int32(len(t.names)), arrow.PrimitiveTypes.Float64)
	schema := arrow.NewSchema([]arrow.Field{{
		Name: "sample", Type: typ, Nullable: true,
		Metadata: arrow.NewMetadata([]string{"gladflow.names"}, []string{string(names)}),
	}}, nil)
	values := numbers(t.rows)
	data := array.NewData(typ, t.samples(), []*memory.Buffer{nil}, []arrow.ArrayData{values.Data()}, 0, 0)
	return array.NewRecord(schema, []arrow.Array{array.NewFixedSizeListData(data)}, int64(t.samples()))
}

// numbers are a column over values, on Go's heap: nobody needs to release it.
func numbers(values []float64) arrow.Array {
	b := memory.NewBufferBytes(arrow.Float64Traits.CastToBytes(values))
	return array.NewFloat64Data(array.NewData(arrow.PrimitiveTypes.Float64, len(values), []*memory.Buffer{nil, b}, nil, 0, 0))
}

// batches cuts a table into batches of so many rows.
func batches(r arrow.Record, rows int64) []arrow.Record {
	var list []arrow.Record
	for at := int64(0); at < r.NumRows(); at += rows {
		list = append(list, r.NewSlice(at, min(at+rows, r.NumRows())))
	}
	return list
}

// reader reads batches, with package array's reader.
func reader(batches ...arrow.Record) array.RecordReader {
	r, err := array.NewRecordReader(batches[0].Schema(), batches)
	if err != nil {
		panic(err) // a case's mistake: other schemas
	}
	return r
}

// csv is the table as text.
func (t table) csv() []byte {
	var b bytes.Buffer
	for j, name := range t.names {
		b.WriteString(strings.Repeat(",", min(j, 1)) + name)
	}
	for i, v := range t.rows {
		sep := ","
		if i%len(t.names) == 0 {
			sep = "\n"
		}
		fmt.Fprintf(&b, "%s%g", sep, v)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// strewn is samples of independent variables, but for five that are each nearly
// the same as one far away.
func strewn(variables, samples int) table {
	t := chain(8, variables, 0)
	rng := rand.New(rand.NewPCG(8, 1))
	for range samples {
		row := make([]float64, variables)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for i := range 5 {
			row[variables-1-i*100] = row[i*100] + 0.02*rng.NormFloat64()
		}
		t.rows = append(t.rows, row...)
	}
	return t
}

// twin is the other of two variables that are nearly the same, for the first.
func (t table) twin(name string) string {
	if j := slices.Index(t.names, name); j >= 0 && j <= 400 && j%100 == 0 {
		return t.names[len(t.names)-1-j]
	}
	return ""
}

// bytesOf is about the memory of a batch.
func bytesOf(r arrow.Record) int64 { return util.TotalRecordSize(r) }
