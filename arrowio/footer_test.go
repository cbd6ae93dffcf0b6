package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// plainDoubles is a good file, and its footer.
func plainDoubles() (file, footer []byte) {
	body := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
	body = binary.LittleEndian.AppendUint64(body, math.Float64bits(2))
	file = crafted{kind: parquetDouble, values: 2, pages: dataPageOf(0, 2, 16, body)}.file()
	n := int(binary.LittleEndian.Uint32(file[len(file)-footerTail:]))
	return file, file[len(file)-footerTail-n : len(file)-footerTail]
}

// A file of a few hundred bytes whose footer states lists and children of millions
// is refused, and takes nothing. Arrow would make room for them: 800 MB for a list,
// 34 GB for children, which ends the process.
func TestLiesOfFooters(t *testing.T) {
	good, _ := plainDoubles()
	if _, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(good)}); err != nil {
		t.Fatal(err)
	}
	const many = 100 << 20
	c := crafted{kind: parquetDouble}
	leaf := c.schema()[1]
	group := func(children int64) []byte { return thriftElement(thriftText(4, "g"), thriftNumber(5, children)) }
	deep := make([][]byte, 0, 1<<20)
	for range cap(deep) - 1 {
		deep = append(deep, group(1))
	}
	deep = append(deep, leaf)
	schema := func(elements ...[]byte) []byte {
		return thriftElements(2, thriftStruct, uint64(len(elements)), elements...)
	}
	for name, fields := range map[string][][]byte{
		"schema":             {thriftElements(2, thriftStruct, many, c.schema()...)},
		"row groups":         {schema(c.schema()...), thriftElements(4, thriftStruct, many)},
		"keys":               {schema(c.schema()...), thriftElements(5, thriftStruct, many)},
		"columns":            {schema(c.schema()...), thriftElements(4, thriftStruct, 1, thriftElement(thriftElements(1, thriftStruct, many)))},
		"children":           {schema(group(1<<31-1), leaf)},
		"children, inside":   {schema(group(1), group(1<<31-1), leaf)},
		"children, negative": {schema(group(-1), leaf)},
		"children, as long":  {schema(thriftElement(thriftText(4, "g"), thriftNumber(5, 1<<31-1), thriftTyped(5, thriftI64, 1)), leaf)},
		"too few elements":   {schema(group(2), leaf)},
		"depth":              {schema(deep...)},
		"another type":       {thriftElements(2, thriftByte, 30, thriftElements(2, thriftStruct, many), make([]byte, 30))},
		"no schema":          {thriftNumber(1, 2)},
	} {
		footer := thriftElement(slices.Concat([][]byte{thriftNumber(1, 2), thriftElements(4, thriftStruct, 0)}, fields, [][]byte{thriftTyped(3, thriftI64, 2)})...)
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(parquetOf(nil, footer))})
		})
		var input *InputError
		if !errors.As(err, &input) || took > 256<<20 {
			t.Errorf("%s: %d bytes for a footer of %d, %v", name, took, len(footer), err)
		}
	}
}

// A footer counts as what Arrow makes of it.
func TestBombOfFooter(t *testing.T) {
	schema := crafted{kind: parquetDouble}.schema()
	keys := slices.Repeat(thriftElement(thriftText(1, "")), 1<<20)
	footer := thriftElement(thriftElements(2, thriftStruct, 2, schema...), thriftElements(5, thriftStruct, 1<<20, keys))
	_, err := readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(parquetOf(nil, footer)), Limits: batch.Limits{Batch: 32 << 20}})
	wantTooLarge(t, "keys", err)
}

// FuzzFooter walks through any footer: it ends, and what it says a footer takes is
// in proportion to its bytes.
func FuzzFooter(f *testing.F) {
	_, footer := plainDoubles()
	f.Add(footer)
	for _, b := range binarySeeds(f, Parquet) {
		n := int(binary.LittleEndian.Uint32(b[len(b)-footerTail:]))
		f.Add(b[len(b)-footerTail-n : len(b)-footerTail])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		takes, err := readFooter(b)
		if err != nil {
			return
		}
		if most := int64(len(b)) * (structBytes + 2*elementBytes) * 2; takes > most {
			t.Errorf("%d bytes take %d", len(b), takes)
		}
		// Arrow reads it, or has an error, without much memory.
		took := arrowtest.Allocated(func() {
			_, err = readAll(t.Context(), "-", SampleOptions{Format: Parquet, Stdin: bytes.NewReader(parquetOf(make([]byte, 100), b))})
		})
		mustBeInput(t, err)
		if took > 256<<20+1000*int64(len(b)) {
			t.Errorf("a footer of %d bytes has taken %d", len(b), took)
		}
	})
}
