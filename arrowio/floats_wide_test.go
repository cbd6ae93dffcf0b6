package arrowio

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
)

// Very many columns of few rows are read by pages, whose memory columns share.
func TestParquetOfManyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, m := range []int{3, 600} { // 600 are read in two blocks
		const d = 4100
		columns := make([]Column, d)
		want := make([][]float64, d)
		for j := range columns {
			v := make([]float64, m)
			for k := range v {
				v[k] = rng.NormFloat64()
				if j%3 == 0 {
					v[k] = math.Round(v[k])
				}
			}
			want[j], columns[j] = v, Column{"v" + strconv.Itoa(j), v}
		}
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := WriteTable(path, Parquet, columns, nil); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSamples(context.Background(), path, SampleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		row := 0
		for {
			rows, n, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range d {
					if rows[i*d+j] != want[j][row+i] {
						t.Fatalf("%d rows: row %d of column %d is %v, want %v", m, row+i, j, rows[i*d+j], want[j][row+i])
					}
				}
			}
			row += n
		}
		if row != m {
			t.Errorf("%d rows of %d", row, m)
		}
		s.Close()
	}
}
