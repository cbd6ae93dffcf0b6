package experiment

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate"
)

// With 200 samples the default finds more than ebic does, and no rule more than the truth allows.
func TestSelection(t *testing.T) {
	rep := quick(t, penaltySelection())
	rules, samples := column[string](t, rep, "rule"), column[int64](t, rep, "samples")
	f1, fdr := column[float64](t, rep, "f1"), column[float64](t, rep, "fdr")
	at := make(map[string]float64)
	for i, rule := range rules {
		if samples[i] == 200 {
			at[rule] = f1[i]
		}
		if !(f1[i] >= 0 && f1[i] <= 1 && fdr[i] >= 0 && fdr[i] <= 1) {
			t.Errorf("%s, %d samples: F1 %v, FDR %v", rule, samples[i], f1[i], fdr[i])
		}
	}
	if len(at) != 7 || at["refit"] <= at["ebic"] {
		t.Errorf("F1 %v", at)
	}
	for rule, v := range at {
		if v > at[truthRule]+0.05 { // whose path has other penalties
			t.Errorf("%s has F1 %v, the best by the truth %v", rule, v, at[truthRule])
		}
	}
}

// Tables with known networks are judged beside the simulated ones, without their background.
func TestSelectionOfSets(t *testing.T) {
	const d, m = 12, 300
	truth, err := simulate.Family{Graph: simulate.GraphBand, Dimension: d, Bandwidth: 1, SmallestEigenvalue: 0.3}.Precision(rand.New(rand.NewPCG(5, 6)))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := simulate.Samples(t.Context(), rand.New(rand.NewPCG(7, 8)), truth, m)
	if err != nil {
		t.Fatal(err)
	}
	var samples, known strings.Builder
	for j := range d {
		fmt.Fprintf(&samples, "v%d,", j)
		for i := range j {
			if truth.At(i, j) != 0 {
				fmt.Fprintf(&known, "v%d\tv%d\n", i, j)
			}
		}
	}
	samples.WriteString("bg_1\n")
	for i, v := range rows {
		fmt.Fprintf(&samples, "%g,", v)
		if i%d == d-1 {
			fmt.Fprintf(&samples, "%g\n", v+0.1*rows[i-1]) // nearly the last variable again
		}
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"band.csv": samples.String(), "band.tsv": known.String(),
		"sets.yaml": "- name: chain\n  table: band.csv\n  reference: band.tsv\n  background: bg_\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Name: "selection", Quick: true, Sets: filepath.Join(folder, "sets.yaml"), Out: t.TempDir()}
	outcomes, err := Perform(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := outcomes[0].Markdown("x.svg", 1); !strings.Contains(text, "`gladflow experiment selection --quick --sets sets.yaml`") {
		t.Errorf("no command in\n%s", text)
	}
	sections := outcomes[0].Report.Sections
	last := sections[len(sections)-1]
	if len(last.Rows) != 2 || len(last.Rows[1]) != len(last.Rows[0]) || !slices.Equal(last.Rows[1][:4], []string{"chain", "13", "300", "11 of 66"}) {
		t.Fatalf("%q", last.Rows)
	}
	tables, rules, f1 := column[string](t, outcomes[0].Report, "table"), column[string](t, outcomes[0].Report, "rule"), column[float64](t, outcomes[0].Report, "f1")
	seen := 0
	for i, name := range tables {
		if name != "chain" {
			continue
		}
		seen++
		if f1[i] > f1[len(f1)-1] || f1[i] < 0.3 { // of all pairs it is 0.29
			t.Errorf("%s: F1 %v, the best %v", rules[i], f1[i], f1[len(f1)-1])
		}
	}
	if seen != 7 {
		t.Errorf("%d rules", seen)
	}
	o.Sets = filepath.Join(folder, "none.yaml")
	if _, err := Perform(t.Context(), o, nil); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("%v", err)
	}
	if err := (Options{Name: "selection", Sizes: []string{"300x20"}}).Validate(); err != nil {
		t.Error(err)
	}
	r := &Run{Part: Part{Sizes: []Size{{300, 20}, {200, 30}}}}
	if n := len(r.selectionTables()); n != 7+14 {
		t.Errorf("%d tables of two sizes", n)
	}
	for _, wrong := range []Options{{Name: "auc", Sets: "x"}, {Name: "selection", Root: "x"}, {Name: "selection", Graphs: 3}, {Name: "selection", Sizes: []string{"9"}}} {
		if err := wrong.Validate(); err == nil {
			t.Errorf("%+v is valid", wrong)
		}
	}
}
