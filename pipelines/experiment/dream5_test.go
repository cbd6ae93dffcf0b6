package experiment

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/simulate/genes"
)

// challengeFolder has a small network under the names of the challenge's files.
func challengeFolder(t *testing.T) string {
	t.Helper()
	set, err := genes.Draw(rand.New(rand.NewPCG(5, 5)), "linear", 15, 40)
	if err != nil {
		t.Fatal(err)
	}
	var expression, gold, regulators strings.Builder
	fmt.Fprintln(&expression, strings.Join(set.Names, "\t"))
	for row := range slices.Chunk(set.Values, len(set.Names)) {
		text := make([]string, len(row))
		for j, v := range row {
			text[j] = fmt.Sprint(v)
		}
		fmt.Fprintln(&expression, strings.Join(text, "\t"))
	}
	edges := make(map[[2]int]bool)
	sources := make(map[int]bool)
	for _, e := range set.Edges {
		edges[[2]int{e.Source, e.Target}], sources[e.Source] = true, true
	}
	for i, name := range set.Names {
		if !sources[i] {
			continue
		}
		fmt.Fprintln(&regulators, name)
		for j, target := range set.Names {
			label := 0
			if edges[[2]int{i, j}] {
				label = 1
			}
			if i != j {
				fmt.Fprintf(&gold, "%s\t%s\t%d\n", name, target, label)
			}
		}
	}
	folder := t.TempDir()
	for name, text := range map[string]string{
		"net3_expression_data.tsv": expression.String(), "net3_gold_standard.tsv": gold.String(), "net3_transcription_factors.tsv": regulators.String(),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Every solver has a row for each population and metric, and stands in the table for
// people beside the published figures.
func TestChallenge(t *testing.T) {
	r := quick(t, challenge())
	solvers := column[string](t, r, "solver")
	rows := make(map[string]int)
	for _, s := range solvers {
		rows[s]++
	}
	want := []string{"glad", "correlation", "glad, regulators", "ridge, regulators"}
	for _, s := range want {
		if rows[s] == 0 || rows[s] != rows["glad"] {
			t.Errorf("%s has %d rows, glad %d", s, rows[s], rows["glad"])
		}
		if !slices.ContainsFunc(r.Main, func(row []string) bool { return row[0] == s }) {
			t.Errorf("the table for people lacks %s", s)
		}
	}
	if last := r.Main[len(r.Main)-1]; !strings.Contains(last[0], "published, other data") {
		t.Errorf("the last row is %q", last)
	}
	for _, v := range column[float64](t, r, "value") {
		if !(v >= 0) {
			t.Errorf("a figure is %v", v)
		}
	}
	if len(r.Figure.Panels) != 2 {
		t.Errorf("%d panels", len(r.Figure.Panels))
	}
}
