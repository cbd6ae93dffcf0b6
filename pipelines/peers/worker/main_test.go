package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/solver/dense"
)

// Every kind of request is answered with a time, and solvers leave the matrix that the
// table of two variables has in closed form: W12 = S12 − ρ.
func TestRequests(t *testing.T) {
	folder := t.TempDir()
	s := filepath.Join(folder, "s.bin")
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, []float64{1, 0.5, 0.5, 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(folder, "t.csv")
	columns := []arrowio.Column{{Name: "a", Values: []float64{1, 2, 4}}, {Name: "b", Values: []float64{1, 3, 2}}}
	if err := arrowio.WriteTable(table, arrowio.CSV, columns, nil); err != nil {
		t.Fatal(err)
	}
	for _, r := range []request{
		{Do: "bcd", Rho: 0.1, Gap: 1e-10}, {Do: "gista", Rho: 0.1, Gap: 1e-10}, {Do: "admm", Rho: 0.1, Gap: 1e-10},
		{Do: "bcd", Rho: 0.1, Iterations: 1}, {Do: "gista", Rho: 0.1, Iterations: 4}, {Do: "admm", Rho: 0.1, Iterations: 4},
		{Do: "glad"}, {Do: "read", Table: table},
	} {
		t.Run(r.Do, func(t *testing.T) {
			r.S, r.D, r.Out = s, 2, filepath.Join(folder, "out.bin")
			var a answer
			if err := r.perform(t.Context(), dense.Gonum{}, &a); err != nil {
				t.Fatal(err)
			}
			if !(a.Seconds > 0) || a.CPU < 0 {
				t.Errorf("%+v", a)
			}
			if r.Gap == 0 {
				return
			}
			data, err := os.ReadFile(r.Out)
			if err != nil {
				t.Fatal(err)
			}
			theta := make([]float64, 4)
			if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, theta); err != nil {
				t.Fatal(err)
			}
			if w := -theta[1] / (theta[0]*theta[3] - theta[1]*theta[2]); math.Abs(w-0.4) > 1e-4 {
				t.Errorf("W12 is %v, want 0.4", w)
			}
		})
	}
}

func TestRequestsRefused(t *testing.T) {
	for what, r := range map[string]request{
		"nothing to do": {Do: "dance", S: "s.bin"}, "no such file": {Do: "bcd", S: "missing.bin", D: 2}, "no table": {Do: "read", Table: "missing.csv"},
	} {
		var a answer
		if err := r.perform(t.Context(), dense.Gonum{}, &a); err == nil || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
