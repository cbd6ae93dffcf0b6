// Package arrowiotest makes tables for tests of what reads them: large ones that are
// quickly made, and that compress to next to nothing.
//
//	table := arrowiotest.Constant(1<<20, 40) // 320 MiB, in 8
package arrowiotest

import (
	"bytes"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Constant is a record of float64 columns of zeros, v0, v1, …, that share their memory. Like
// those of this package it need not be released.
func Constant(rows, columns int) arrow.Record {
	zeros := memory.NewBufferBytes(make([]byte, 8*rows))
	fields, arrays := make([]arrow.Field, columns), make([]arrow.Array, columns)
	for j := range columns {
		fields[j] = arrow.Field{Name: "v" + strconv.Itoa(j), Type: arrow.PrimitiveTypes.Float64}
		arrays[j] = array.NewFloat64Data(array.NewData(fields[j].Type, rows, []*memory.Buffer{nil, zeros}, nil, 0, 0))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, int64(rows))
}

// ConstantLists is a record of one column of whole samples that are zeros.
func ConstantLists(rows, size int) arrow.Record {
	zeros := memory.NewBufferBytes(make([]byte, 8*rows*size))
	item := array.NewData(arrow.PrimitiveTypes.Float64, rows*size, []*memory.Buffer{nil, zeros}, nil, 0, 0)
	t := arrow.FixedSizeListOf(int32(size), arrow.PrimitiveTypes.Float64)
	list := array.NewFixedSizeListData(array.NewData(t, rows, []*memory.Buffer{nil}, []arrow.ArrayData{item}, 0, 0))
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "sample", Type: t, Nullable: true}}, nil), []arrow.Array{list}, int64(rows))
}

// ConstantDictionary is a record of three rows with a label from a dictionary of
// one long text, and a number.
func ConstantDictionary(text int) arrow.Record {
	t := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	words := array.NewStringBuilder(memory.DefaultAllocator)
	words.Append(string(bytes.Repeat([]byte{'a'}, text)))
	index := array.NewInt8Builder(memory.DefaultAllocator)
	index.AppendValues(make([]int8, 3), nil)
	number := array.NewFloat64Builder(memory.DefaultAllocator)
	number.AppendValues([]float64{1, 2, 3}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: t}, {Name: "a", Type: arrow.PrimitiveTypes.Float64}}, nil)
	return array.NewRecord(schema, []arrow.Array{array.NewDictionaryArray(t, index.NewArray(), words.NewArray()), number.NewArray()}, 3)
}
