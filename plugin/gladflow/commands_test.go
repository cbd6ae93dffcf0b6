package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/evaluation"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
)

func TestRecoverPrintsATable(t *testing.T) {
	out := t.TempDir()
	code, stdout, stderr := gladflow(t, "recover", file(t, "table.csv", expression()), "--id-column", "id",
		"--solvers", "glad,bcd,gista,admm,am", "--penalty", "0.2", "--reference", file(t, "chain.tsv", chain), "--undirected", "--out", out)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	lines := strings.Split(stdout, "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "solver") })
	if head < 0 || len(lines) < head+6 {
		t.Fatalf("no table in\n%s", stdout)
	}
	var titles []string
	for _, m := range shownMetrics() {
		titles = append(titles, m.Title)
	}
	if got := strings.Join(strings.Fields(lines[head]), " "); got != "solver status penalty edges objective duality gap seconds "+strings.Join(titles, " ") {
		t.Errorf("head %q", got)
	}
	figures := regexp.MustCompile(`^(\w+) +(converged|completed) +(0\.2|-) +\d+ +(-|\d+\.\d{5}) +(-|\d\.\de-\d\d) +\d+\.\d\d( +[01]\.\d{4}){` + strconv.Itoa(len(titles)) + `}$`)
	for i, name := range []string{"glad", "bcd", "gista", "admm", "am"} {
		line := lines[head+1+i]
		if m := figures.FindStringSubmatch(line); m == nil || m[1] != name || len(line) != len(lines[head]) {
			t.Errorf("row %q under\n    %q", line, lines[head])
		}
	}
	for _, want := range []string{
		"table.csv: 40 samples, 6 variables\n",
		shownTitles() + ": population labelled, undirected: 4 pairs, 2 positive\n",
		"solvers stop at 1e-06 × max(|objective|, 6)\n",
		"files in " + out + ": glad.edges.parquet, glad.precision.parquet, bcd.edges.parquet",
		"metrics.parquet, report.html, run.json\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	// Without a terminal there is one line for every stage, and no bar.
	stderr = withoutDevice(stderr)
	if got := strings.Count(stderr, "\n"); got != 6 || strings.Contains(stderr, "\r") || !strings.HasPrefix(stderr, "reading: 40 samples of 6 variables (") {
		t.Errorf("standard error:\n%s", stderr)
	}
	if names := noTemporaries(t, out); len(names) != 13 {
		t.Errorf("files %v", names)
	}
}

func TestRecoverWithoutOut(t *testing.T) {
	code, stdout, stderr := gladflow(t, "recover", file(t, "table.csv", expression()), "--id-column", "id", "--solvers", "bcd")
	if code != exitDone || !strings.Contains(stdout, "no files were written; name a folder with --out") ||
		!strings.Contains(stdout, " by refit: the least extended BIC") || strings.Contains(stdout, "AUROC") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

func TestJSON(t *testing.T) {
	table := file(t, "table.csv", expression())
	code, stdout, stderr := gladflow(t, "recover", table, "--id-column", "id", "--solvers", "glad,bcd", "--penalty", "0.2", "--json")
	var result job.Result
	if err := json.Unmarshal([]byte(stdout), &result); code != exitDone || err != nil {
		t.Fatalf("code %d, %v\n%s", code, err, stderr)
	}
	if len(result.Solvers) != 2 || result.Solvers[1].Penalty != 0.2 || !math.IsNaN(float64(result.Solvers[0].DualityGap)) {
		t.Errorf("%+v", result.Solvers)
	}
	for _, args := range []string{"solvers --json", "models --json", "models --card constant-untrained --json", "describe --json", "schema"} {
		code, stdout, stderr := gladflow(t, strings.Fields(args)...)
		if code != exitDone || stderr != "" || !json.Valid([]byte(stdout)) {
			t.Errorf("%s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}

func TestStandardInput(t *testing.T) {
	code, stdout, stderr := gladflowWith(context.Background(), expression(), "recover", "-", "--input-format", "csv", "--id-column", "id", "--penalty", "0.2")
	if code != exitDone || !strings.Contains(stdout, "40 samples, 6 variables") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	j := "input: " + file(t, "table.csv", expression()) + "\nid_column: id\npenalty: 0.2\nsolvers: [bcd]\n"
	code, stdout, stderr = gladflowWith(context.Background(), j, "run", "-")
	if code != exitDone || !strings.Contains(stdout, "bcd") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

// The job in run.json repeats the run.
func TestRunRepeatsRecover(t *testing.T) {
	out := t.TempDir()
	table := file(t, "table.csv", expression())
	if code, _, stderr := gladflow(t, "recover", table, "--id-column", "id", "--solvers", "bcd,am", "--penalty", "0.15", "--format", "csv", "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	document, err := os.ReadFile(filepath.Join(out, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(out, "bcd.edges.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Job json.RawMessage }
	if err := json.Unmarshal(document, &result); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := gladflow(t, "run", file(t, "job.json", string(result.Job))); code != exitDone {
		t.Fatal(stderr)
	}
	after, err := os.ReadFile(filepath.Join(out, "bcd.edges.csv"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v: before\n%s\nafter\n%s", err, before, after)
	}
	noTemporaries(t, out)
}

func TestCovarianceInput(t *testing.T) {
	s := file(t, "s.csv", "a,b\n2,0.5\n0.5,2\n")
	code, stdout, stderr := gladflow(t, "recover", s, "--input", "covariance", "--samples", "30", "--correlation", "none", "--solvers", "bcd", "--penalty", "0", "--json")
	var result job.Result
	if err := json.Unmarshal([]byte(stdout), &result); code != exitDone || err != nil {
		t.Fatalf("code %d, %v\n%s", code, err, stderr)
	}
	// -log det S⁻¹ + tr(S·S⁻¹) = log det S + d
	if want := math.Log(2*2-0.5*0.5) + 2; math.Abs(float64(result.Solvers[0].Objective)-want) > 1e-5 || result.Input.Samples != 30 {
		t.Errorf("objective %v, want %v", result.Solvers[0].Objective, want)
	}
}

// No penalty on a singular covariance has no optimum: a status, not a failure.
func TestUnboundedIsAStatus(t *testing.T) {
	table := file(t, "t.csv", "a,b,c\n1,2,3\n2,1,5\n")
	code, stdout, stderr := gladflow(t, "recover", table, "--solvers", "bcd", "--penalty", "0")
	if code != exitDone || !strings.Contains(stdout, "unbounded") || !strings.Contains(stdout, "bcd: the objective is unbounded below; use a positive penalty") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

func TestTimeLimitIsAStatus(t *testing.T) {
	table := file(t, "table.csv", expression())
	code, stdout, stderr := gladflow(t, "recover", table, "--id-column", "id", "--solvers", "admm", "--penalty", "0.01", "--gap", "1e-15", "--time-limit", "1ns")
	if code != exitDone || !strings.Contains(stdout, "interrupted (time limit)") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

// Ctrl-C in the middle of the second solver.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	watch := writer(func(p []byte) {
		if bytes.HasPrefix(p, []byte("bcd: ")) { // it is done
			cancel()
		}
		stderr.Write(p)
	})
	code := run(ctx, []string{"recover", file(t, "table.csv", expression()), "--id-column", "id", "--solvers", "bcd,admm", "--penalty", "0.2", "--out", out},
		strings.NewReader(""), &stdout, watch)
	if code != exitInterrupted || !strings.Contains(stderr.String(), "gladflow: interrupted; what had finished is kept\n") {
		t.Errorf("code %d\n%s", code, stderr.String())
	}
	if got, want := noTemporaries(t, out), []string{"bcd.edges.parquet", "bcd.precision.parquet", "report.html", "run.json"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if !strings.Contains(stdout.String(), "bcd     converged") || strings.Contains(stdout.String(), "admm.edges") {
		t.Errorf("prints\n%s", stdout.String())
	}
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAResultThatCannotBePrintedIsAFailure(t *testing.T) {
	var stderr bytes.Buffer
	if code := run(context.Background(), []string{"solvers"}, nil, fullDisk{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("code %d, %s", code, stderr.String())
	}
}

func TestEvaluatePrints(t *testing.T) {
	reference := file(t, "r.tsv", "a\tb\t1\na\tc\t0\na\td\t0\n")
	list := file(t, "l.tsv", "a\tc\t3\na\tb\t2\nx\ty\t1\n")
	code, stdout, stderr := gladflow(t, "evaluate", list, reference)
	const want = `
population labelled, directed: 3 pairs, 1 positive
list of 3 edges, ranked by the order of its lines: 2 pairs of the population are in it, the others tie last
known edges among them: 1 (precision 0.5000, recall 1.0000, F1 0.6667)
` + metric.TieRule + "\n"
	figures := regexp.MustCompile(`^ AUROC    AUPR  average precision.*\n0\.5000  0\.2500             0\.5000.*\n`)
	if code != exitDone || !figures.MatchString(stdout) || !strings.HasSuffix(stdout, want) || stderr != "" {
		t.Errorf("code %d, prints\n%s%swant\n%s", code, stdout, stderr, want)
	}
	code, stdout, _ = gladflow(t, "evaluate", list, reference, "--json")
	var r evaluation.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || r.Metrics.Get("auroc") != 0.5 || r.Outside != 1 {
		t.Errorf("code %d, %v\n%s", code, err, stdout)
	}
}

// What evaluate prints of a list, recover has printed.
func TestEvaluateOwnList(t *testing.T) {
	out, reference := t.TempDir(), file(t, "chain.tsv", chain)
	_, stdout, _ := gladflow(t, "recover", file(t, "table.csv", expression()), "--id-column", "id", "--solvers", "correlation", "--edges", "top:3",
		"--reference", reference, "--population", "all", "--out", out)
	lines := strings.Split(stdout, "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "solver") })
	if head < 0 || !strings.HasSuffix(lines[head], "list AUROC  list AUPR") {
		t.Fatalf("recover prints\n%s", stdout)
	}
	printed := strings.Fields(lines[head+1])
	code, again, stderr := gladflow(t, "evaluate", filepath.Join(out, "correlation.edges.parquet"), reference, "--population", "all")
	_, row, _ := strings.Cut(again, "\n")
	figures := strings.Fields(row)[:2]
	if code != exitDone || !slices.Equal(figures, printed[len(printed)-2:]) || !strings.Contains(again, "scored every pair, also those that the list lacks: AUROC "+printed[len(printed)-5]+", AUPR "+printed[len(printed)-4]) {
		t.Errorf("recover prints\n%sevaluate\n%s%s", stdout, again, stderr)
	}
}

func TestDemo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "demo")
	code, stdout, stderr := gladflow(t, "demo", "--out", out)
	if code != exitDone || !strings.Contains(stdout, "try next:\n  gladflow recover "+filepath.Join(out, "samples.parquet")) {
		t.Fatalf("code %d\n%s%s", code, stdout, stderr)
	}
	noTemporaries(t, out)
	// What it says to try works as it stands, but for the folder.
	_, next, _ := strings.Cut(stdout, "try next:\n")
	for i, line := range strings.Split(strings.TrimSpace(next), "\n")[:2] {
		args := strings.Fields(line)[1:]
		if i == 0 {
			args[len(args)-1] = filepath.Join(t.TempDir(), args[len(args)-1])
		}
		if code, _, stderr := gladflow(t, args...); code != exitDone {
			t.Errorf("%s: code %d\n%s", line, code, stderr)
		}
	}
}

func TestDescribeAndVersion(t *testing.T) {
	for args, want := range map[string]string{
		"version":   "gladflow " + job.Version() + "\n",
		"--version": "gladflow " + job.Version() + "\n",
		"describe":  "engine   gonum, threads: ",
		"solvers":   "\nbcd         block coordinate descent\n",
		"models":    "\ngeneral               glad-pm",
	} {
		if code, stdout, stderr := gladflow(t, args); code != exitDone || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("%s: code %d\n%s%s", args, code, stdout, stderr)
		}
	}
}
