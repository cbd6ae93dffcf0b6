package arrowiotest

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

func TestShapes(t *testing.T) {
	for name, test := range map[string]struct {
		table         arrow.Record
		rows, columns int64
		last          string
	}{
		"columns":    {Constant(3, 2), 3, 2, "v1"},
		"lists":      {ConstantLists(4, 5), 4, 1, "sample"},
		"dictionary": {ConstantDictionary(10), 3, 2, "a"},
	} {
		r := test.table
		if r.NumRows() != test.rows || r.NumCols() != test.columns || r.ColumnName(int(r.NumCols())-1) != test.last {
			t.Errorf("%s: %v", name, r)
		}
	}
	if word := ConstantDictionary(10).Column(0).(*array.Dictionary).Dictionary().ValueStr(0); word != "aaaaaaaaaa" {
		t.Errorf("the word is %q", word)
	}
}
