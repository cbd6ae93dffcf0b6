package processor

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Covariance is the d×d covariance, row-major, that pipelines/peers/iterations.py wrote into the folder
// GLADFLOW_BENCH_DATA for programs to be timed on beside ours, or nil where there is no such variable.
func Covariance(b *testing.B, d int) []float64 {
	b.Helper()
	folder := os.Getenv("GLADFLOW_BENCH_DATA")
	if folder == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("covariance-%d.f64", d)))
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float64, d*d)
	if _, err := binary.Decode(data, binary.LittleEndian, values); err != nil {
		b.Fatal(err)
	}
	return values
}
