package dream5

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
)

// network1 is a folder with network 1 of eight genes.
func network1(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	samples, err := os.ReadFile(testtable.CSV(t, 8, 40))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"net1_expression_data.tsv":       strings.ReplaceAll(string(samples), ",", "\t"),
		"net1_gold_standard.tsv":         "v0\tv1\t1\nv0\tv2\t1\nv0\tv3\t0\nv4\tv5\t1\nv4\tv6\t0\nv4\tv7\t0\nv0\tv4\t0\nv4\tv0\t1\n",
		"net1_transcription_factors.tsv": "v0\nv4\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The page draws every ranking, with and without regulators, and the document lists it.
func TestReport(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := job.Dream5{Folder: network1(t), Solvers: []string{"correlation", "clr", "ridge"}, Bootstrap: job.Bootstrap{Resamples: "10"}, Out: out, Report: filepath.Join(out, "report.html")}
	r, err := Run(t.Context(), d, Host{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(d.Report)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Files[len(r.Files)-1]; f.Name != "report.html" || f.Bytes != int64(len(data)) {
		t.Errorf("listed are %+v", r.Files)
	}
	drawn := func(kind string, to any) {
		t.Helper()
		m := regexp.MustCompile(`<div class="` + kind + `"><script type="application/json">(.*?)</script>`).FindStringSubmatch(string(data))
		if m == nil {
			t.Fatalf("the page has no %s", kind)
		}
		if err := json.Unmarshal([]byte(m[1]), to); err != nil {
			t.Fatal(err)
		}
	}
	var networks struct {
		Names    []string
		Networks []struct {
			Name, Score       string
			Directed          bool
			Nodes             []int
			Regulators, Edges []int
		}
	}
	drawn("networks", &networks)
	if len(networks.Networks) != len(r.Solvers) {
		t.Errorf("%d networks of %d rankings are drawn", len(networks.Networks), len(r.Solvers))
	}
	for i, n := range networks.Networks {
		if s := r.Solvers[i]; n.Name != s.Name() || n.Directed != s.Regulators {
			t.Errorf("%s: drawn is %+v", s.Name(), n)
		}
		if len(n.Edges) != 4*r.Populations[0].Positives {
			t.Errorf("%s: %d edges are drawn, and the gold standard has %d", n.Name, len(n.Edges)/4, r.Populations[0].Positives)
		}
		for _, k := range n.Regulators {
			if networks.Names[n.Nodes[k]] != "v0" && networks.Names[n.Nodes[k]] != "v4" {
				t.Errorf("%s: %s is drawn as a regulator", n.Name, networks.Names[n.Nodes[k]])
			}
		}
		for k := 0; k < len(n.Edges); k += 4 {
			if name := networks.Names[n.Nodes[n.Edges[k]]]; name != "v0" && name != "v4" {
				t.Errorf("%s: an edge leads from %s", n.Name, name)
			}
		}
	}
	var figures struct {
		Names  []string
		Charts []struct {
			Rows  []string
			Lines []struct{ Value, Error []float64 }
		}
	}
	drawn("comparisons", &figures)
	for i, s := range r.Solvers {
		for k, p := range r.Populations {
			f, _ := s.Figure(p.Name, "aupr")
			if got := figures.Charts[1].Lines[k].Value[i]; got-float64(f.Value) > 1e-4 || float64(f.Value)-got > 1e-4 || figures.Charts[1].Rows[i] != s.Name() || figures.Names[k] != p.Name {
				t.Errorf("AUPR of %s on %s is drawn at %v and is %v", s.Name(), p.Name, got, f.Value)
			}
		}
	}
	for _, want := range []string{"gladflow dream5 ", r.Data.GoldSHA256, "Other data than these", "community (rank sum)"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestReportIsRefusedEarly(t *testing.T) {
	folder := network1(t)
	for _, path := range []string{"report.txt", filepath.Join(folder, "net1_gold_standard.tsv", "r.html"), "s3://bucket/r.html"} {
		_, err := Run(t.Context(), job.Dream5{Folder: folder, Solvers: []string{"correlation"}, Report: path}, Host{})
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != "report" {
			t.Errorf("%s: %v", path, err)
		}
	}
}
