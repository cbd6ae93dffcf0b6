package metric

import (
	"bufio"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// table reads the fields of a gzip-compressed text in the folder GLADFLOW_DATA.
// The files of the DREAM5 challenge are not in the repository, because their
// licence does not let us pass them on.
func table(tb testing.TB, name string) [][]string {
	tb.Helper()
	folder := os.Getenv("GLADFLOW_DATA")
	if folder == "" {
		tb.Skip("GLADFLOW_DATA does not name a folder with the files of DREAM5")
	}
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]string
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 0 {
			rows = append(rows, fields)
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

func ecoli(tb testing.TB) Reference {
	var r Reference
	for _, row := range table(tb, "dream5/net3_gold_standard.tsv.gz") {
		r.Source = append(r.Source, row[0])
		r.Target = append(r.Target, row[1])
		r.Label = append(r.Label, row[2] == "1")
	}
	return r
}

func publishedList(tb testing.TB, name string) List {
	var l List
	for _, row := range table(tb, "dream5/reference_predictions/"+name+".tsv.gz") {
		l.Source = append(l.Source, row[0])
		l.Target = append(l.Target, row[1])
	}
	return l
}

// The official figures are those of the DREAM5 challenge and of GRNBoost's
// authors; the others were computed by an independent implementation. All are
// rounded to the digits shown.
func TestPublishedLists(t *testing.T) {
	ref := ecoli(t)
	pop, err := ref.Population(ref.Names(), Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pop.String(), "labelled, directed: 152280 pairs, 2066 positive"; got != want {
		t.Errorf("population %q, want %q", got, want)
	}
	tests := []struct {
		list                 string
		auroc, aupr          float64
		officialAUPR, digits float64
		listed               int
	}{
		{"net3_grnboost_sgbm", 0.6336, 0.1226, 0.12222, 1e-5, 12291},
		{"net3_other1_genie3", 0.6170, 0.0935, 0.09303, 1e-5, 11423},
		{"net3_correlation2", 0.5803, 0.0654, 0.065, 1e-3, 8684},
		{"net3_mi1", 0.5900, 0.0756, 0.075, 1e-3, 9688},
	}
	for _, tt := range tests {
		t.Run(tt.list, func(t *testing.T) {
			r, err := pop.ScoreList(publishedList(t, tt.list))
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(r.AUROC-tt.auroc) <= 0.00005) || !(math.Abs(r.AUPR-tt.aupr) <= 0.00005) {
				t.Errorf("AUROC %.6f, AUPR %.6f, want %.4f and %.4f", r.AUROC, r.AUPR, tt.auroc, tt.aupr)
			}
			if r.Listed != tt.listed || r.Outside != 100000-tt.listed || r.Repeated != 0 {
				t.Errorf("listed %d, outside %d, repeated %d; want %d of 100000, none twice", r.Listed, r.Outside, r.Repeated, tt.listed)
			}
			// All four lists start with an edge of the network, so the segment
			// that the challenge leaves out has area 1/Π.
			pos := float64(r.Positives)
			official := (r.AUPR - 1/pos) / (1 - 1/pos)
			if !(math.Abs(official-tt.officialAUPR) <= tt.digits/2) {
				t.Errorf("the challenge's own AUPR %.6f, published %v", official, tt.officialAUPR)
			}
		})
	}
}

func TestPearsonOnEcoli(t *testing.T) {
	rows := table(t, "dream5/net3_expression_1081genes_301conditions.tsv.gz")
	names := rows[0][1:]
	score := absoluteCorrelation(t, rows[1:], len(names))
	ref := ecoli(t)
	tests := []struct {
		kind       Kind
		undirected bool
		population string
		// Average precision, by an independent implementation.
		auroc, mean float64
	}{
		{Labelled, false, "labelled, directed: 152280 pairs, 2066 positive", 0.6138, 0.0615},
		{Labelled, true, "labelled, undirected: 142410 pairs, 2055 positive", 0.6136, 0.0612},
		{All, true, "all, undirected: 583740 pairs, 2055 positive", 0.6133, 0.0088},
	}
	for _, tt := range tests {
		t.Run(tt.population, func(t *testing.T) {
			pop, err := ref.Population(names, tt.kind, tt.undirected)
			if err != nil {
				t.Fatal(err)
			}
			if pop.String() != tt.population {
				t.Errorf("population %q", pop)
			}
			r, err := pop.Score(score)
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(r.AUROC-tt.auroc) <= 0.00005) || !(math.Abs(r.AveragePrecision-tt.mean) <= 0.00005) {
				t.Errorf("AUROC %.6f, average precision %.6f, want %.4f and %.4f", r.AUROC, r.AveragePrecision, tt.auroc, tt.mean)
			}
		})
	}
}

// Of |Pearson| the errors that an independent bootstrap over the 141 regulators gave,
// to the digits that it was reported with: ±.027 and ±.02.
func TestPearsonOnEcoliErrors(t *testing.T) {
	rows := table(t, "dream5/net3_expression_1081genes_301conditions.tsv.gz")
	names := rows[0][1:]
	pop, err := ecoli(t).Population(names, Labelled, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := pop.Sources(); n != 141 {
		t.Errorf("%d regulators", n)
	}
	scores, err := pop.Scores(absoluteCorrelation(t, rows[1:], len(names)))
	if err != nil {
		t.Fatal(err)
	}
	rankings, err := pop.Resample(200, 1).Rank(t.Context(), scores)
	if err != nil {
		t.Fatal(err)
	}
	var auroc, mean []float64
	for _, r := range rankings {
		auroc = append(auroc, r.AUROC)
		mean = append(mean, r.AveragePrecision)
	}
	if a, m := StandardDeviation(auroc), StandardDeviation(mean); a < 0.018 || a > 0.036 || m < 0.01 || m > 0.03 {
		t.Errorf("standard errors %.4f and %.4f", a, m)
	} else {
		t.Logf("standard errors %.4f and %.4f", a, m)
	}
}

// absoluteCorrelation is |Pearson| of the columns after the first.
func absoluteCorrelation(t *testing.T, rows [][]string, d int) func(i, j int) float64 {
	x := make([][]float64, d)
	for j := range x {
		x[j] = make([]float64, len(rows))
		var sum, ss float64
		for m, row := range rows {
			v, err := strconv.ParseFloat(row[1+j], 64)
			if err != nil {
				t.Fatal(err)
			}
			x[j][m] = v
			sum += v
		}
		for m := range x[j] {
			x[j][m] -= sum / float64(len(rows))
			ss += x[j][m] * x[j][m]
		}
		for m := range x[j] {
			x[j][m] /= math.Sqrt(ss)
		}
	}
	return func(i, j int) float64 {
		i, j = min(i, j), max(i, j) // both directions tie exactly
		var r float64
		for m, v := range x[i] {
			r += v * x[j][m]
		}
		return math.Abs(r)
	}
}

func BenchmarkPopulation(b *testing.B) {
	ref := ecoli(b)
	names := ref.Names()
	list := publishedList(b, "net3_grnboost_sgbm")
	score := func(i, j int) float64 { return float64((i*7919+j*104729)%1000003) * float64(i+j) }
	for _, c := range []struct {
		name       string
		kind       Kind
		undirected bool
	}{{"labelled", Labelled, false}, {"all", All, true}} {
		pop, err := ref.Population(names, c.kind, c.undirected)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name+"/make", func(b *testing.B) {
			for b.Loop() {
				if _, err := ref.Population(names, c.kind, c.undirected); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/score", func(b *testing.B) {
			for b.Loop() {
				if _, err := pop.Score(score); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/list", func(b *testing.B) {
			for b.Loop() {
				if _, err := pop.ScoreList(list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
