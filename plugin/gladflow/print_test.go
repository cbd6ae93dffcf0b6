package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
)

// printed are the lines of a run with so many solvers and warnings.
func printed(solvers, warnings int, confidence map[string]job.Float) []string {
	r := &job.Result{Job: job.Job{Out: "out"}, Input: job.InputResult{Path: "t.csv", Samples: 50, Variables: 30}, Device: "cpu"}
	for k := range warnings {
		r.Warnings = append(r.Warnings, fmt.Sprintf("warning %d", k))
	}
	for k := range solvers {
		s := job.SolverResult{Name: fmt.Sprintf("s%d", k), Status: "converged", Edges: 40, Network: &job.NetworkResult{}}
		if k > 0 { // the first has found nothing
			s.Network = &job.NetworkResult{Edges: 40, Components: 2, Largest: 20, Isolated: 1, Hubs: []job.NamedCount{{Name: "hub\x1b[31m", Count: 9}}}
			for e := range job.MostStrongest {
				s.Network.Strongest = append(s.Network.Strongest, job.EdgeResult{Source: fmt.Sprint("a", e), Target: "b\nc", Score: 0.5, Sign: 1 - 2*(e%2), Confidence: confidence})
			}
		}
		r.Solvers = append(r.Solvers, s)
	}
	var b bytes.Buffer
	printResult(&b, r, true)
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// A run is printed in 25 lines, whatever has to be said: with fewer edges then, and with
// warnings that run.json has.
func TestResultIsShort(t *testing.T) {
	for _, c := range []struct{ solvers, warnings, edges, shown int }{
		{2, 0, 10, 0}, {2, 3, 10, 3}, {5, 3, 8, 3}, {9, 1, 6, 1}, {8, 9, 3, 4}, {2, 40, 3, 10},
	} {
		lines := printed(c.solvers, c.warnings, nil)
		count := func(part string) (n int) {
			for _, l := range lines {
				if strings.Contains(l, part) {
					n++
				}
			}
			return n
		}
		if len(lines) > mostLines || count("b?c") != c.edges || count("warning: warning") != c.shown {
			t.Errorf("%+v: %d lines, %d edges, %d warnings:\n%s", c, len(lines), count("b?c"), count("warning: warning"), strings.Join(lines, "\n"))
		}
		if left := c.warnings - c.shown; left > 0 && count(fmt.Sprintf("warning: %d more in run.json", left)) != 1 {
			t.Errorf("%+v: the warnings left out are not counted:\n%s", c, strings.Join(lines, "\n"))
		}
	}
	text := strings.Join(printed(2, 0, nil), "\n")
	for _, want := range []string{
		"\ns1: 40 edges; 2 components, the largest of 20 variables; 1 variable without an edge; hubs hub?[31m (9)\n",
		"\nstrongest of s1  sign   score\na0 - b?c            +  0.5000\na1 - b?c            -  0.5000\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// How sure edges are stands beside their score, unless it is the score.
func TestResultSaysHowSure(t *testing.T) {
	text := strings.Join(printed(2, 0, map[string]job.Float{
		arrowio.EdgeProbability: 0.75, arrowio.SelectionProbability: 0.9, arrowio.SignConsistency: 1,
		arrowio.PValue: 0.01, arrowio.QValue: 0.02, arrowio.Lower: -0.1, arrowio.Upper: 0.3,
	}), "\n")
	for _, want := range []string{
		"strongest of s1  sign   score  edge probability  selected  q-value         interval\n",
		"a0 - b?c            +  0.5000             0.750     0.900  2.0e-02  -0.100 to 0.300\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text := strings.Join(printed(2, 0, map[string]job.Float{arrowio.EdgeProbability: 0.5}), "\n"); strings.Contains(text, "edge probability") {
		t.Errorf("the score stands there twice:\n%s", text)
	}
}
