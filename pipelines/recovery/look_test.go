package recovery

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/pipelines/progress"
)

// Look finds everything that was put into a table, and its command recovers a network.
func TestLook(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	b.WriteString("name,a,b,twin,still,skewed\n")
	const m = 50
	for i := range m {
		x := rng.NormFloat64()
		cell := fmt.Sprintf("%.5f", rng.NormFloat64()+x)
		if i%10 == 0 {
			cell = "NA"
		}
		fmt.Fprintf(&b, "s%d,%.9f,%s,%.9f,7,%.5f\n", i, x, cell, 3-2*x, math.Exp(2*rng.NormFloat64()))
	}
	path := testtable.File(t, "t.csv", b.String())
	l, err := Look(context.Background(), job.Job{Input: path}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	in := l.Input
	if in.Samples != m || in.Variables != 5 || len(in.Constant) != 1 || in.Constant[0] != "still" || l.Types["text"] != 5 || in.SHA256 == "" {
		t.Errorf("%+v", in)
	}
	if in.Missing == nil || in.Missing.Values != 5 || l.WholeSamples != m-5 || len(l.MostMissing) != 1 || l.MostMissing[0] != (job.NamedCount{Name: "b", Count: 5}) {
		t.Errorf("%+v, %d whole, %v", in.Missing, l.WholeSamples, l.MostMissing)
	}
	if len(l.Repeats) != 1 || !slices.Equal(l.Repeats[0], []string{"a", "twin"}) {
		t.Errorf("repeats %q", l.Repeats)
	}
	if in.HeavyTails != 1 || l.LargestDeviation.Name != "skewed" {
		t.Errorf("%d heavy, %+v", in.HeavyTails, l.LargestDeviation)
	}
	for _, want := range []string{"--id-column name", "--missing pairwise", "--constant drop", "--correlation auto", "--exclude twin"} {
		if !strings.Contains(l.Command, want) {
			t.Errorf("%s lacks %s", l.Command, want)
		}
	}
	advised := l.Job
	if want := (job.Job{Input: path, IDColumn: "name", Missing: job.MissingPairwise, Constant: job.ConstantDrop, Correlation: job.CorrelationAuto, Exclude: []string{"twin"}}); !reflect.DeepEqual(advised, want) {
		t.Errorf("the job is %+v", advised)
	}
	advised.Penalty = "0.2"
	r, err := Run(context.Background(), advised, Host{})
	if err != nil || r.Input.Variables != 3 || r.Warnings != nil && strings.Contains(strings.Join(r.Warnings, ""), "repeat") {
		t.Errorf("%v, %+v", err, r.Input)
	}
}

// Even a table in which some variables are never there together is looked at.
func TestLookWithoutCommonSamples(t *testing.T) {
	path := testtable.File(t, "t.csv", "a,b\n1,\n2,\n4,\n3,\n,1\n,2\n,5\n")
	l, err := Look(context.Background(), job.Job{Input: path}, Host{})
	if err != nil {
		t.Fatal(err)
	}
	if l.WholeSamples != 0 || l.Input.Missing.Values != 7 || !strings.Contains(l.Command, "--missing em") {
		t.Errorf("%+v", l)
	}
}

// withGap is samples of d variables of which one value is missing.
func withGap(d, samples int) string {
	rng := rand.New(rand.NewPCG(3, 3))
	var b strings.Builder
	for j := range d {
		fmt.Fprintf(&b, ",v%d", j)
	}
	text := b.String()[1:]
	for i := range samples {
		text += "\n"
		for j := range d {
			if i+j == 0 {
				text += "NA"
				continue
			}
			if j > 0 {
				text += ","
			}
			text += fmt.Sprintf("%.4f", rng.NormFloat64())
		}
	}
	return text + "\n"
}

// A look reserves what it takes, gives all of it back, and says how far it is.
func TestLookReserves(t *testing.T) {
	const d = 400
	path := testtable.CSV(t, d, 6)
	m := &mostReserved{Budget: memory.NewBudget(0)}
	read := false
	j := job.Job{Input: path, IDColumn: "id"}
	if _, err := Look(t.Context(), j, Host{Memory: m, Progress: func(u progress.Update) { read = read || u.Stage == progress.Reading && u.Done }}); err != nil {
		t.Fatal(err)
	}
	if m.most < 2*matrix(d) || m.Taken() != 0 || !read {
		t.Errorf("%d bytes were reserved and %d are, the samples have been read: %v", m.most, m.Taken(), read)
	}
	whole := m.most
	m.most = 0
	if _, err := Look(t.Context(), job.Job{Input: testtable.File(t, "gap.csv", withGap(d, 6))}, Host{Memory: m}); err != nil {
		t.Fatal(err)
	}
	if more := m.most - whole; more < 7*matrix(d) || m.Taken() != 0 {
		t.Errorf("for a value that is missing %d bytes more are reserved, %d are still", more, m.Taken())
	}
	_, err := Look(t.Context(), j, Host{Memory: memory.NewBudget(memory.Process + whole/2)})
	if none := new(memory.Error); !errors.As(err, &none) {
		t.Error(err)
	}
}

func TestLookRefused(t *testing.T) {
	path := testtable.CSV(t, 4, 10)
	if _, err := Look(context.Background(), job.Job{Input: path, InputKind: job.KindCovariance, Samples: 10}, Host{}); err == nil || !strings.Contains(err.Error(), "samples") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Look(ctx, job.Job{Input: path, IDColumn: "id"}, Host{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
