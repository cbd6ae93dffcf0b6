package pipelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The official scores of published lists on the E. coli network of DREAM5. The
// files are in the folder dream5 of GLADFLOW_DATA: their licence keeps them out
// of the repository.
func TestPublishedLists(t *testing.T) {
	folder := filepath.Join(os.Getenv("GLADFLOW_DATA"), "dream5")
	if os.Getenv("GLADFLOW_DATA") == "" {
		t.Skip("GLADFLOW_DATA does not name a folder with the files of DREAM5")
	}
	for _, c := range []struct {
		list, auroc, aupr string
		listed            int
	}{
		{"net3_grnboost_sgbm", "0.6336", "0.1226", 12291},
		{"net3_other1_genie3", "0.6170", "0.0935", 0},
		{"net3_correlation2", "0.5803", "0.0654", 8684},
		{"net3_mi1", "0.5900", "0.0756", 0},
	} {
		r, err := Evaluate(context.Background(), Evaluation{
			EdgeList:  filepath.Join(folder, "reference_predictions", c.list+".tsv.gz"),
			Reference: filepath.Join(folder, "net3_gold_standard.tsv.gz"),
		}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		if auroc, aupr := fmt.Sprintf("%.4f", float64(r.AUROC)), fmt.Sprintf("%.4f", float64(r.AUPR)); auroc != c.auroc || aupr != c.aupr {
			t.Errorf("%s: AUROC %s, AUPR %s; want %s, %s", c.list, auroc, aupr, c.auroc, c.aupr)
		}
		if r.RankedBy != RankOrder || r.Symmetric || r.Lines != 100_000 || r.Reference.Pairs != 152_280 || r.Reference.Positives != 2066 || !r.Reference.Directed {
			t.Errorf("%s: %+v", c.list, r)
		}
		if c.listed != 0 && r.Listed != c.listed {
			t.Errorf("%s: %d pairs listed, want %d", c.list, r.Listed, c.listed)
		}
	}
}

// Scored from its file, a network has the figures that the run gave it.
func TestEvaluateAgreesWithRun(t *testing.T) {
	reference := file(t, "known.tsv", star)
	for _, format := range []string{"parquet", "arrow", "csv"} {
		for _, population := range []string{"labelled", "all"} {
			for _, undirected := range []bool{false, true} {
				job := Job{
					Input: table(t, 8, 40), IDColumn: "id", Solvers: []string{"glad", "bcd"}, Penalty: "0.3",
					Reference: reference, Population: population, Undirected: undirected,
					Out: t.TempDir(), Edges: EdgesAll, Format: format,
				}
				result, err := Run(context.Background(), job, Host{})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range result.Solvers {
					e, err := Evaluate(context.Background(), Evaluation{
						EdgeList: filepath.Join(job.Out, s.Files[0]), Reference: reference,
						Population: population, Undirected: undirected,
					}, Host{})
					if err != nil {
						t.Fatal(err)
					}
					if e.AUROC != s.Metrics.AUROC || e.AUPR != s.Metrics.AUPR || e.AveragePrecision != s.Metrics.AveragePrecision {
						t.Errorf("%s of %s, %s: %v, %v from the file, %v, %v in the run", s.Name, format, result.Reference.Text, e.AUROC, e.AUPR, s.Metrics.AUROC, s.Metrics.AUPR)
					}
					if e.Reference.Text != result.Reference.Text || e.RankedBy != RankScore || !e.Symmetric {
						t.Errorf("%+v", e)
					}
				}
			}
		}
	}
}

func TestWhatRanksAList(t *testing.T) {
	reference := file(t, "r.tsv", "a\tb\t1\na\tc\t0\na\td\t0\n")
	// AUROC is 1 where (a, b) comes first, 0 where it comes last.
	for _, c := range []struct {
		list, rank, by string
		auroc          float64
	}{
		{"a\tb\t3\na\tc\t3\na\td\t3\n", "", RankOrder, 1},
		{"a\tb\t3\na\tc\t3\na\td\t3\n", RankScore, RankScore, 0.5},
		{"a\tb\t1\na\tc\t2\na\td\t3\n", "", RankScore, 0},
		{"a\tb\t1\na\tc\t2\na\td\t3\n", RankOrder, RankOrder, 1},
		{"a\tc\na\td\na\tb\n", "", RankOrder, 0},
	} {
		r, err := Evaluate(context.Background(), Evaluation{EdgeList: file(t, "l.tsv", c.list), Reference: reference, Rank: c.rank}, Host{})
		if err != nil || r.RankedBy != c.by || float64(r.AUROC) != c.auroc {
			t.Errorf("%q by %q: %+v, %v; want AUROC %v by %s", c.list, c.rank, r, err, c.auroc, c.by)
		}
	}
}

func TestSymmetricList(t *testing.T) {
	reference := file(t, "r.tsv", "b\ta\t1\na\tc\t0\n")
	e := Evaluation{EdgeList: "-", Reference: reference}
	list := "a\tb\t2\na\tc\t1\n"
	r, err := Evaluate(context.Background(), e, Host{Stdin: strings.NewReader(list)})
	if err != nil || r.AUROC != 0 || r.Listed != 1 || r.Outside != 1 {
		t.Errorf("one direction: %+v, %v", r, err)
	}
	e.Symmetric = true
	r, err = Evaluate(context.Background(), e, Host{Stdin: strings.NewReader(list)})
	if err != nil || r.AUROC != 1 || r.Listed != 2 {
		t.Errorf("both directions: %+v, %v", r, err)
	}
}

func TestPopulationAllIsOfBothFiles(t *testing.T) {
	e := Evaluation{EdgeList: file(t, "l.tsv", "x\ta\t2\n"), Reference: file(t, "r.tsv", "a\tb\na\tc\n"), Population: "all", Rank: RankOrder}
	_, err := Evaluate(context.Background(), e, Host{})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := Evaluate(context.Background(), e, Host{})
	if r.Reference.Pairs != 4*3 || r.Reference.Positives != 2 {
		t.Errorf("%+v", r.Reference)
	}
	// The one pair listed is a negative, the others tie: of the 10 negatives
	// one wins and nine tie.
	if want := 0.5 * 9 / 10; math.Abs(float64(r.AUROC)-want) > 1e-15 {
		t.Errorf("AUROC %v, want %v", r.AUROC, want)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	list, reference := file(t, "l.tsv", "a\tb\t2\n"), file(t, "r.tsv", "a\tb\t1\na\tc\t0\n")
	for _, c := range []struct {
		field, text string
		e           Evaluation
	}{
		{"edge_list", "no list", Evaluation{}},
		{"reference", "no reference", Evaluation{EdgeList: list}},
		{"reference", "standard input", Evaluation{EdgeList: "-", Reference: "-"}},
		{"population", "choose labelled or all", Evaluation{EdgeList: list, Reference: reference, Population: "some"}},
		{"rank", "choose auto", Evaluation{EdgeList: list, Reference: reference, Rank: "weight"}},
		{"rank", "no scores", Evaluation{EdgeList: file(t, "l.tsv", "a\tb\n"), Reference: reference, Rank: RankScore}},
		{"edge_list", "no such file", Evaluation{EdgeList: "missing.tsv", Reference: reference}},
		{"reference", "no such file", Evaluation{EdgeList: list, Reference: "missing.tsv"}},
		{"edge_list", "same identifiers", Evaluation{EdgeList: file(t, "l.tsv", "x\ty\t2\n"), Reference: reference}},
		{"reference", "edges only", Evaluation{EdgeList: list, Reference: file(t, "r.tsv", "a\tb\n")}},
	} {
		_, err := Evaluate(context.Background(), c.e, Host{})
		var wrong *JobError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v; want %q of field %s", c.e, err, c.text, c.field)
		}
	}
}

// A CSV that has lost its companion is known by its columns.
func TestEvaluateCSVAlone(t *testing.T) {
	reference := file(t, "known.tsv", star)
	job := Job{
		Input: table(t, 8, 40), IDColumn: "id", Solvers: []string{"glad"},
		Reference: reference, Out: t.TempDir(), Edges: EdgesAll, Format: "csv",
	}
	result, err := Run(t.Context(), job, Host{})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(job.Out, result.Solvers[0].Files[0])
	if err := os.Remove(list + "-metadata.json"); err != nil {
		t.Fatal(err)
	}
	e, err := Evaluate(t.Context(), Evaluation{EdgeList: list, Reference: reference}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Symmetric || e.AUROC != result.Solvers[0].Metrics.AUROC {
		t.Errorf("symmetric %t, AUROC %v; want the run's %v", e.Symmetric, e.AUROC, result.Solvers[0].Metrics.AUROC)
	}
}
