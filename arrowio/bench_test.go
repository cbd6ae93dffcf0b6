package arrowio

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
)

// wide is a table of m samples of d variables.
func wide(m, d int) []Column {
	r := rand.New(rand.NewPCG(1, 2))
	columns := make([]Column, d)
	for j := range columns {
		v := make([]float64, m)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		columns[j] = Column{"v" + strconv.Itoa(j), v}
	}
	return columns
}

// The formats beside each other on 1000 samples of 1000 variables, 8 MB.
func BenchmarkReadSamples(b *testing.B) {
	columns := wide(1000, 1000)
	for _, format := range []string{Parquet, Arrow, CSV} {
		b.Run(format, func(b *testing.B) {
			data := encoded(b, format, columns)
			b.SetBytes(8 * 1000 * 1000)
			for b.Loop() {
				if _, err := readAll(context.Background(), "-", SampleOptions{Format: format, Stdin: bytes.NewReader(data)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The formats beside each other on all 124,750 pairs of 500 variables.
func BenchmarkWriteEdges(b *testing.B) {
	var edges []Edge
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		for j := range i {
			v := r.Float64()
			edges = append(edges, Edge{"G" + strconv.Itoa(j), "G" + strconv.Itoa(i), v, -v, v})
		}
	}
	for _, format := range []string{Parquet, Arrow, CSV} {
		b.Run(format, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "e."+format)
			for b.Loop() {
				if err := WriteEdges(path, format, edges, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
