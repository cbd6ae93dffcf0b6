package covariance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// expression is a table of the size of DREAM5's E. coli compendium, 301
// conditions of 1081 genes: logarithms of intensities between 4 and 15, in groups
// of eleven genes that go up and down together.
func expression() (rows []float64, genes []string) {
	const conditions, variables = 301, 1081
	r := rand.New(rand.NewPCG(1, 301))
	for j := range variables {
		genes = append(genes, fmt.Sprintf("G%d", j+1))
	}
	group := make([]float64, 1+variables/11)
	for range conditions {
		for g := range group {
			group[g] = r.NormFloat64()
		}
		for j := range variables {
			v := 9 + 1.5*math.Tanh(group[j/11]) + 0.7*r.NormFloat64()
			rows = append(rows, min(max(v, 4), 15))
		}
	}
	return rows, genes
}

// The whole correlation of the table against the two-pass formula.
func TestExpressionTable(t *testing.T) {
	rows, genes := expression()
	d := len(genes)
	r := estimate(t, rows, d, covariance.Settings{Names: genes})
	if r.Samples != 301 {
		t.Fatalf("%d conditions", r.Samples)
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
	rows, genes := expression()
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
