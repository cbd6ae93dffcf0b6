package covariance_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// ecoli reads the expression table of DREAM5's E. coli network.
func ecoli(tb testing.TB) (rows []float64, genes []string) {
	tb.Helper()
	// Tests run in the folder of their package.
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "dream5", "net3_expression_1081genes_301conditions.tsv.gz"))
	if err != nil {
		tb.Skip("the E. coli table is not here: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")[1:]
		if genes == nil {
			genes = fields
			continue
		}
		for _, field := range fields {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				tb.Fatal(err)
			}
			rows = append(rows, v)
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows, genes
}

// The whole correlation of the table against the two-pass formula.
func TestExpressionTable(t *testing.T) {
	rows, genes := ecoli(t)
	d := len(genes)
	r := estimate(t, rows, d, covariance.Settings{Names: genes})
	if d != 1081 || r.Samples != 301 {
		t.Fatalf("%d genes, %d conditions", d, r.Samples)
	}
	unitDiagonal(t, r.S)
	columns := make([][]float64, d)
	for j := range columns {
		var mean, norm float64
		for k := range r.Samples {
			mean += rows[k*d+j] / float64(r.Samples)
		}
		for k := range r.Samples {
			v := rows[k*d+j] - mean
			columns[j] = append(columns[j], v)
			norm += v * v
		}
		for k := range columns[j] {
			columns[j][k] /= math.Sqrt(norm)
		}
	}
	for i := 0; i < d; i += 7 {
		for j := range d {
			var want float64
			for k, v := range columns[i] {
				want += v * columns[j][k]
			}
			// 301 products, summed in two orders.
			if math.Abs(r.S.At(i, j)-want) > 1e-13 {
				t.Fatalf("correlation of %s and %s: %v, want %v", genes[i], genes[j], r.S.At(i, j), want)
			}
		}
	}
}

func BenchmarkExpressionTable(b *testing.B) {
	rows, genes := ecoli(b)
	d := len(genes)
	for _, name := range []string{"openblas", "gonum"} {
		engine, err := dense.Open(name)
		if err != nil {
			b.Log(err)
			continue
		}
		for _, s := range []covariance.Settings{
			{Engine: engine},
			{Engine: engine, LedoitWolf: true},
			{Engine: engine, Method: covariance.Spearman},
			{Engine: engine, Method: covariance.Nonparanormal},
			{Engine: engine, Method: covariance.Covariance},
		} {
			b.Run(fmt.Sprintf("%s/%v,LedoitWolf=%t", name, s.Method, s.LedoitWolf), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := covariance.Estimate(b.Context(), covariance.NewTable(rows, d), d, s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
