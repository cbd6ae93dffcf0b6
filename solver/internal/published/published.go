// Package published reads the published tables that benchmarks and checks of solvers are run
// on: tab-separated numbers below a header, gzip-compressed, in the folder that GLADFLOW_DATA
// names.
package published

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Read returns the numbers of a table, row by row, without the first skip columns, and the
// number of columns that are left. It skips the test where the table is not there.
func Read(tb testing.TB, name string, skip int) (rows []float64, d int) {
	tb.Helper()
	folder := os.Getenv("GLADFLOW_DATA")
	if folder == "" {
		tb.Skip("needs the published tables: GLADFLOW_DATA")
	}
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		tb.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	lines.Scan()
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")[skip:]
		d = len(words)
		for _, w := range words {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				tb.Fatal(err)
			}
			rows = append(rows, v)
		}
	}
	if err := lines.Err(); err != nil || d == 0 {
		tb.Fatal(err, d)
	}
	return rows, d
}
