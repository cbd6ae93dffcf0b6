// Package testtable writes small tables for tests of package pipelines.
package testtable

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// CSV writes m samples of a random network of d variables called v0, v1, …
// as CSV with an id column, and returns the path.
func CSV(t testing.TB, d, m int) string {
	t.Helper()
	rows := Samples(t, d, m)
	var b bytes.Buffer
	b.WriteString("id")
	for j := range d {
		fmt.Fprintf(&b, ",v%d", j)
	}
	for i := range m {
		fmt.Fprintf(&b, "\ns%d", i)
		for j := range d {
			// Variables of different scale, so that units show.
			fmt.Fprintf(&b, ",%g", float64(1+j)*rows[i*d+j])
		}
	}
	return File(t, "samples.csv", b.String()+"\n")
}

// Samples are m samples, row by row, of a random network of d variables.
func Samples(t testing.TB, d, m int) []float64 {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(d)))
	theta, err := simulate.Precision(simulate.ScaleFree(rng, d, 1).Weights(rng, simulate.SignedUniform(0.5, 0.9)), 0.3)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := simulate.Samples(context.Background(), rng, theta, m)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// File writes a file into a folder of its own.
func File(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Star is a reference in which v0 regulates v1 and v2, and v3 does not.
const Star = "v0\tv1\t1\nv0\tv2\t1\nv3\tv4\t0\nv3\tv1\t0\n"

// Covariance computes that of what CSV holds by the textbook formula.
func Covariance(t testing.TB, path string) *dense.Sym {
	t.Helper()
	s, err := arrowio.OpenSamples(context.Background(), path, arrowio.SampleOptions{IDColumn: "id"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := covariance.Estimate(context.Background(), s, len(s.Names()), covariance.Settings{Method: covariance.Covariance})
	if err != nil {
		t.Fatal(err)
	}
	return r.S
}

// List lists a folder.
func List(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.Contains(e.Name(), ".tmp") {
			t.Errorf("a temporary file is left: %s", e.Name())
		}
	}
	return names
}
