package recovery

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/card"
)

// trainedOn writes a copy of a built-in model whose card says something else.
func trainedOn(t *testing.T, name string, change func(*glad.Card)) string {
	t.Helper()
	m, err := glad.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	m.Name = "mine"
	change(&m.Card)
	path := filepath.Join(t.TempDir(), "mine.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.Write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// The correlation that no user chose is the one that the model was trained on.
func TestCorrelationFollowsTheModel(t *testing.T) {
	path := testtable.CSV(t, 6, 80)
	says := func(words ...string) string {
		return trainedOn(t, glad.DefaultModelName, func(c *glad.Card) { c.Input = words })
	}
	for _, c := range []struct {
		model, want string
		solvers     []string
	}{
		{"", "pearson", nil},
		{"general", "pearson", nil}, {"gene-regulators", "pearson", nil}, {"constant-untrained", "pearson", nil},
		{"er-d39-m100", "none", nil}, {"grid", "none", nil},
		{"er-d39-m100", "pearson", []string{"bcd"}}, // GLAD does not run
		{says(), "pearson", nil},
		{says("covariance"), "none", nil},
		{says("covariance", "pearson"), "pearson", nil},
		{says("spearman"), "spearman", nil},
	} {
		j := job.Job{Input: path, IDColumn: "id", Model: c.model, Solvers: c.solvers, Penalty: "0.2"}
		if got := Resolved(j).Correlation; got != c.want && (got != "" || slices.Contains(glad.BuiltinNames(), c.model)) {
			t.Errorf("%s: resolved to %q, want %q", c.model, got, c.want)
		}
		// As a service runs it, which has resolved it before.
		for _, j := range []job.Job{j, Resolved(j)} {
			result, err := Run(t.Context(), j, Host{})
			if err != nil {
				t.Fatal(err)
			}
			if result.Job.Correlation != c.want {
				t.Errorf("%s: %s, want %s", c.model, result.Job.Correlation, c.want)
			}
			if len(warnings(result, "was trained on correlations"))+len(warnings(result, "was trained on covariances")) > 0 {
				t.Errorf("%s: %q", c.model, result.Warnings)
			}
		}
	}
	for _, word := range card.Inputs() {
		if _, err := covariance.ParseMethod(word); err != nil && word != card.InputCovariance {
			t.Errorf("no correlation is called %s", word)
		}
	}
}

func warnings(r *job.Result, part string) []string {
	return slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return !strings.Contains(w, part) })
}

func TestWarningOfAnotherInput(t *testing.T) {
	path := testtable.CSV(t, 6, 80)
	// Of the architecture before, which does not standardise S itself.
	onCorrelations := trainedOn(t, "general-1", func(c *glad.Card) { c.Input = []string{"pearson"} })
	for _, c := range []struct {
		model, correlation, want string
	}{
		{"er-d39-m100", "pearson", "the model er-d39-m100 was trained on covariances and is given correlations"},
		{"er-d39-m100", "spearman", "the model er-d39-m100 was trained on covariances and is given correlations"},
		{"er-d39-m100", "none", ""},
		{onCorrelations, "none", "the model mine was trained on correlations and is given covariances"},
		{onCorrelations, "spearman", ""},
		{"general-1", "none", ""}, {"general-1", "pearson", ""},
		{"general", "none", ""}, {"general", "pearson", ""}, // it standardises S itself
		{"constant-untrained", "none", ""}, // it standardises S itself
	} {
		j := job.Job{Input: path, IDColumn: "id", Model: c.model, Solvers: []string{"glad"}, Correlation: c.correlation, Out: t.TempDir()}
		result, err := Run(t.Context(), j, Host{})
		if err != nil {
			t.Fatal(err)
		}
		got := warnings(result, "can be far off")
		if len(got) > 1 || (len(got) == 1) != (c.want != "") || !strings.HasPrefix(strings.Join(got, ""), c.want) {
			t.Errorf("%s on %s: %q", c.model, c.correlation, got)
		}
		if written := readDocument(t, j.Out); !slices.Equal(written.Warnings, result.Warnings) {
			t.Errorf("run.json warns %q, the result %q", written.Warnings, result.Warnings)
		}
	}
}

func TestWarningOfAnotherSize(t *testing.T) {
	sized := func(r card.Range) string {
		return trainedOn(t, glad.DefaultModelName, func(c *glad.Card) { c.Range, c.Dimension, c.Samples = r, nil, nil })
	}
	listed := trainedOn(t, glad.DefaultModelName, func(c *glad.Card) {
		c.Range, c.Dimension, c.Samples = card.Range{}, card.Counts{100}, card.Counts{20, 40}
	})
	wide := card.Range{Dimension: card.Span{5, 9}, Samples: card.Span{5, 99}}
	for _, c := range []struct {
		model string
		d, m  int
		want  string
	}{
		{sized(card.Range{Ratio: card.Span{1, 2}}), 6, 12, ""},
		{sized(card.Range{Ratio: card.Span{1, 2}}), 6, 13, "was trained on d/M of 1 to 2, and here it is 0.462; with so many samples bcd needs no model"},
		{sized(card.Range{Ratio: card.Span{0.01, 0.2}}), 6, 13, "was trained on d/M of 0.01 to 0.2, and here it is 0.462; take the model general, or train one"},
		{sized(wide), 6, 80, ""},
		{sized(card.Range{Dimension: card.Span{49, 99}}), 6, 80, "was trained on 49 to 99 variables, and here it is 6 variables"},
		{sized(card.Range{Samples: card.Span{2, 9}}), 6, 80, "was trained on 2 to 9 samples, and here it is 80 samples"},
		{sized(card.Range{}), 6, 80, ""},
		{listed, 6, 80, "was trained on d/M of 2.5 to 5, and here it is 0.075"},
		{"general", 6, 80, ""},
		{"er-d100-m20", 6, 80, "--from er-d100-m20 --dimension 6 --samples 80)"},
	} {
		result, err := Run(t.Context(), job.Job{Input: testtable.CSV(t, c.d, c.m), IDColumn: "id", Model: c.model, Solvers: []string{"glad"}}, Host{})
		if err != nil {
			t.Fatal(err)
		}
		got := warnings(result, "and here it is")
		if len(got) > 1 || (len(got) == 1) != (c.want != "") || !strings.Contains(strings.Join(got, ""), c.want) {
			t.Errorf("%s on %d×%d: %q, want %q", c.model, c.m, c.d, got, c.want)
		}
	}
}
