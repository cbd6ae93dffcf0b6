package evaluation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
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
		r, err := evaluation.Run(context.Background(), job.Evaluation{
			EdgeList:  filepath.Join(folder, "reference_predictions", c.list+".tsv.gz"),
			Reference: filepath.Join(folder, "net3_gold_standard.tsv.gz"),
		}, table.Files{})
		if err != nil {
			t.Fatal(err)
		}
		if auroc, aupr := fmt.Sprintf("%.4f", float64(r.Metrics.Get("auroc"))), fmt.Sprintf("%.4f", float64(r.Metrics.Get("aupr"))); auroc != c.auroc || aupr != c.aupr {
			t.Errorf("%s: AUROC %s, AUPR %s; want %s, %s", c.list, auroc, aupr, c.auroc, c.aupr)
		}
		if r.RankedBy != job.RankOrder || r.Symmetric || r.Lines != 100_000 || r.Reference.Pairs != 152_280 || r.Reference.Positives != 2066 || !r.Reference.Directed {
			t.Errorf("%s: %+v", c.list, r)
		}
		if c.listed != 0 && r.Listed != c.listed {
			t.Errorf("%s: %d pairs listed, want %d", c.list, r.Listed, c.listed)
		}
	}
}

// Scored from its file, a network has the figures that the run gave it.
func TestEvaluateAgreesWithRun(t *testing.T) {
	reference := testtable.File(t, "known.tsv", testtable.Star)
	for _, format := range []string{"parquet", "arrow", "csv"} {
		for _, population := range []string{"labelled", "all"} {
			for _, undirected := range []bool{false, true} {
				j := job.Job{
					Input: testtable.CSV(t, 8, 40), IDColumn: "id", Solvers: []string{"glad", "bcd"}, Penalty: "0.3",
					Reference: reference, Population: population, Undirected: undirected,
					Out: t.TempDir(), Edges: job.EdgesAll, Format: format,
				}
				result, err := recovery.Run(context.Background(), j, recovery.Host{})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range result.Solvers {
					e, err := evaluation.Run(context.Background(), job.Evaluation{
						EdgeList: filepath.Join(j.Out, s.Files[0].Name), Reference: reference,
						Population: population, Undirected: undirected,
					}, table.Files{})
					if err != nil {
						t.Fatal(err)
					}
					if e.Metrics.Get("auroc") != s.Metrics.Get("auroc") || e.Metrics.Get("aupr") != s.Metrics.Get("aupr") || e.Metrics.Get("average_precision") != s.Metrics.Get("average_precision") {
						t.Errorf("%s of %s, %s: %v, %v from the file, %v, %v in the run", s.Name, format, result.Reference.Text, e.Metrics.Get("auroc"), e.Metrics.Get("aupr"), s.Metrics.Get("auroc"), s.Metrics.Get("aupr"))
					}
					if e.Reference.Text != result.Reference.Text || e.RankedBy != job.RankScore || !e.Symmetric {
						t.Errorf("%+v", e)
					}
				}
			}
		}
	}
}

func TestWhatRanksAList(t *testing.T) {
	reference := testtable.File(t, "r.tsv", "a\tb\t1\na\tc\t0\na\td\t0\n")
	// AUROC is 1 where (a, b) comes first, 0 where it comes last.
	for _, c := range []struct {
		list, rank, by string
		auroc          float64
	}{
		{"a\tb\t3\na\tc\t3\na\td\t3\n", "", job.RankOrder, 1},
		{"a\tb\t3\na\tc\t3\na\td\t3\n", job.RankScore, job.RankScore, 0.5},
		{"a\tb\t1\na\tc\t2\na\td\t3\n", "", job.RankScore, 0},
		{"a\tb\t1\na\tc\t2\na\td\t3\n", job.RankOrder, job.RankOrder, 1},
		{"a\tc\na\td\na\tb\n", "", job.RankOrder, 0},
	} {
		r, err := evaluation.Run(context.Background(), job.Evaluation{EdgeList: testtable.File(t, "l.tsv", c.list), Reference: reference, Rank: c.rank}, table.Files{})
		if err != nil || r.RankedBy != c.by || float64(r.Metrics.Get("auroc")) != c.auroc {
			t.Errorf("%q by %q: %+v, %v; want AUROC %v by %s", c.list, c.rank, r, err, c.auroc, c.by)
		}
	}
}

func TestSymmetricList(t *testing.T) {
	reference := testtable.File(t, "r.tsv", "b\ta\t1\na\tc\t0\n")
	e := job.Evaluation{EdgeList: "-", Reference: reference}
	list := "a\tb\t2\na\tc\t1\n"
	r, err := evaluation.Run(context.Background(), e, table.Files{Stdin: strings.NewReader(list)})
	if err != nil || r.Metrics.Get("auroc") != 0 || r.Listed != 1 || r.Outside != 1 {
		t.Errorf("one direction: %+v, %v", r, err)
	}
	e.Symmetric = true
	r, err = evaluation.Run(context.Background(), e, table.Files{Stdin: strings.NewReader(list)})
	if err != nil || r.Metrics.Get("auroc") != 1 || r.Listed != 2 {
		t.Errorf("both directions: %+v, %v", r, err)
	}
}

func TestPopulationAllIsOfBothFiles(t *testing.T) {
	e := job.Evaluation{EdgeList: testtable.File(t, "l.tsv", "x\ta\t2\n"), Reference: testtable.File(t, "r.tsv", "a\tb\na\tc\n"), Population: "all", Rank: job.RankOrder}
	_, err := evaluation.Run(context.Background(), e, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := evaluation.Run(context.Background(), e, table.Files{})
	if r.Reference.Pairs != 4*3 || r.Reference.Positives != 2 {
		t.Errorf("%+v", r.Reference)
	}
	// The one pair listed is a negative, the others tie: of the 10 negatives
	// one wins and nine tie.
	if want := 0.5 * 9 / 10; math.Abs(float64(r.Metrics.Get("auroc"))-want) > 1e-15 {
		t.Errorf("AUROC %v, want %v", r.Metrics.Get("auroc"), want)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	list, reference := testtable.File(t, "l.tsv", "a\tb\t2\n"), testtable.File(t, "r.tsv", "a\tb\t1\na\tc\t0\n")
	for _, c := range []struct {
		field, text string
		e           job.Evaluation
	}{
		{"edge_list", "no list", job.Evaluation{}},
		{"reference", "no reference", job.Evaluation{EdgeList: list}},
		{"reference", "standard input", job.Evaluation{EdgeList: "-", Reference: "-"}},
		{"population", "choose labelled or all", job.Evaluation{EdgeList: list, Reference: reference, Population: "some"}},
		{"rank", "choose auto", job.Evaluation{EdgeList: list, Reference: reference, Rank: "weight"}},
		{"rank", "no scores", job.Evaluation{EdgeList: testtable.File(t, "l.tsv", "a\tb\n"), Reference: reference, Rank: job.RankScore}},
		{"edge_list", "no such file", job.Evaluation{EdgeList: "missing.tsv", Reference: reference}},
		{"reference", "no such file", job.Evaluation{EdgeList: list, Reference: "missing.tsv"}},
		{"edge_list", "same identifiers", job.Evaluation{EdgeList: testtable.File(t, "l.tsv", "x\ty\t2\n"), Reference: reference}},
		{"reference", "edges only", job.Evaluation{EdgeList: list, Reference: testtable.File(t, "r.tsv", "a\tb\n")}},
	} {
		_, err := evaluation.Run(context.Background(), c.e, table.Files{})
		var wrong *job.Error
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: error %v; want %q of field %s", c.e, err, c.text, c.field)
		}
	}
}

// A CSV that has lost its companion is known by its columns.
func TestEvaluateCSVAlone(t *testing.T) {
	reference := testtable.File(t, "known.tsv", testtable.Star)
	j := job.Job{
		Input: testtable.CSV(t, 8, 40), IDColumn: "id", Solvers: []string{"glad"},
		Reference: reference, Out: t.TempDir(), Edges: job.EdgesAll, Format: "csv",
	}
	result, err := recovery.Run(t.Context(), j, recovery.Host{})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(j.Out, result.Solvers[0].Files[0].Name)
	if err := os.Remove(list + "-metadata.json"); err != nil {
		t.Fatal(err)
	}
	e, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: list, Reference: reference}, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Symmetric || e.Metrics.Get("auroc") != result.Solvers[0].Metrics.Get("auroc") {
		t.Errorf("symmetric %t, AUROC %v; want the run's %v", e.Symmetric, e.Metrics.Get("auroc"), result.Solvers[0].Metrics.Get("auroc"))
	}
}

// secretStore opens every URL as a file.
type secretStore string

// Open implements arrowio.Opener.
func (s secretStore) Open(context.Context, string) (io.ReadCloser, error) { return os.Open(string(s)) }

// Secrets in URLs are not recorded.
func TestURLsAreRedacted(t *testing.T) {
	list := testtable.File(t, "l.tsv", "a\tb\t1\na\tc\t0\n")
	r, err := evaluation.Run(t.Context(), job.Evaluation{EdgeList: "https://u:p@h/l.tsv?token=secret", Reference: "s3://b/l.tsv?region=secret"},
		table.Files{Stores: secretStore(list)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "u:p") || !strings.Contains(string(text), "h/l.tsv") {
		t.Errorf("%s, %v", text, err)
	}
}
