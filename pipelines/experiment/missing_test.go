package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
)

// Both mechanisms remove the share that is asked for; the second leaves every fourth
// variable whole and prefers samples in which it is large.
func TestMechanisms(t *testing.T) {
	const m, d, share = 4000, 12, 0.3
	for i, by := range mechanisms() {
		rng := rand.New(rand.NewPCG(1, 2))
		rows := make([]float64, m*d)
		for k := range rows {
			rows[k] = rng.NormFloat64()
		}
		by.remove(rng, rows, d, share)
		missing, whole, large := 0, 0, 0
		for k, v := range rows {
			if v != v {
				missing++
				if k%d%4 == 0 {
					whole++
				}
				if k%d == 1 && rows[k-1] > 0 {
					large++
				}
			}
		}
		of := float64(missing) / (m * d)
		if math.Abs(of-share) > 0.01 {
			t.Errorf("%s: %v are missing, want %v", by.name, of, share)
		}
		part := float64(large) / (float64(missing) / d)
		if i == 1 && (whole > 0 || part < 0.9) {
			t.Errorf("%s: %d of whole variables, %v where the first variable is large", by.name, whole, part)
		}
	}
}

// Missing values cost accuracy, and every way that can be taken has figures; a table of
// the user's is compared with itself.
func TestMissing(t *testing.T) {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	b.WriteString("name,a,b,c,d,e\n")
	for i := range 60 {
		v := rng.NormFloat64()
		fmt.Fprintf(&b, "s%d,%g,%g,%g,%g,%g\n", i, v, v+rng.NormFloat64(), rng.NormFloat64(), v+rng.NormFloat64(), rng.NormFloat64())
	}
	r := &Run{Quick: true, Seed: 2020, Table: testtable.File(t, "own.csv", b.String())}
	rep, err := missingValues().Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	way, nmse := column[string](t, rep, "way"), column[float64](t, rep, "nmse")
	for i := range way {
		switch full := nmse[i/10*10+i%2]; {
		case way[i] == wayRows:
			if !math.IsNaN(nmse[i]) {
				t.Errorf("20 variables, 20 %% missing, and rows have an NMSE of %v", nmse[i])
			}
		case way[i] != wayFull && !(nmse[i] > full):
			t.Errorf("%s: NMSE %v, and %v with nothing missing", way[i], nmse[i], full)
		}
	}
	last := rep.Sections[len(rep.Sections)-1]
	if !strings.Contains(last.Title, filepath.Base(r.Table)) || len(last.Rows) != 1+2*4 {
		t.Errorf("%s with %d rows", last.Title, len(last.Rows))
	}
	for _, row := range last.Rows[1:] {
		if row[2] == wayEM && row[3] == "–" {
			t.Errorf("%q has no figures", row)
		}
	}
}
