package experiment

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/metric"
	"github.com/gladflow/gladflow/pipelines/simulate"
	"github.com/gladflow/gladflow/pipelines/tune"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glad"
)

func TestGeneral(t *testing.T) {
	rep := quick(t, generalModel())
	for _, s := range rep.Sections {
		for _, row := range append(s.Rows, []string{s.Title}) {
			if text := strings.Join(row, " "); strings.Contains(text, "NaN") || strings.Contains(text, "%!") || len(row) != len(s.Rows[0]) && len(row) > 1 {
				t.Errorf("%s: %q", s.Title, row)
			}
		}
	}
	methods, families := column[string](t, rep, "method"), column[string](t, rep, "family")
	scales, value := column[float64](t, rep, "scales"), column[float64](t, rep, "nmse_db")
	area := column[float64](t, rep, "auroc")
	at := make(map[string]float64)
	for i, m := range methods {
		if families[i] == "empty" {
			if n := column[float64](t, rep, "edges_listed")[i]; !(n >= 0) || !math.IsNaN(value[i]) {
				t.Errorf("noise: %v edges, %v dB", n, value[i])
			}
			continue
		}
		if m != familyEqual {
			if before, ok := at[families[i]+m]; ok && before != value[i] && !math.IsNaN(value[i]) {
				t.Errorf("%s of %s is %v dB at scales ±%v and was %v", m, families[i], value[i], scales[i], before)
			}
			at[families[i]+m] = value[i]
		} else if scales[i] != 0 {
			t.Errorf("a model of equal scales is shown at ±%v", scales[i])
		}
		if m == noEdges && area[i] != 0.5 {
			t.Errorf("no edges have an AUROC of %v", area[i])
		}
		if m == lassoByTruth && !(value[i] < at[families[i]+noEdges] || at[families[i]+noEdges] == 0) {
			t.Errorf("the lasso has %v dB", value[i])
		}
	}
}

// Contenders that are left out leave no figures, and no gaps that are no text.
func TestGeneralWithout(t *testing.T) {
	r := &Run{Quick: true, Seed: 9, Part: Part{Families: []string{"grid"}, Sizes: []Size{{12, 15}}, Without: []string{withoutFamily, withoutAdapt}}}
	rep, err := runGeneral(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := column[string](t, rep, "method"); slices.Contains(got, familyModel) || slices.Contains(got, "--adapt") || len(got) != 2*5 {
		t.Errorf("methods %q", got)
	}
	if text := strings.Join(append(slices.Concat(rep.Main...), rep.Paragraph), " "); strings.Contains(text, "NaN") || strings.Contains(text, "model of the family in") {
		t.Errorf("%s", text)
	}
}

// What the scales of a table are changes neither its correlations nor what an estimate of
// them is in its units, and the truth there is that of the family with the same scales.
func TestTableCasesAndScales(t *testing.T) {
	r := &Run{Seed: 5}
	f := simulate.Family{Graph: simulate.GraphBand, Dimension: 12}
	const m, spread = 4000, 0.5
	cases, err := r.tableCases(t.Context(), forTest, f, 2, m, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if v := slices.Max(c.places); v > 1 || slices.Min(c.places) < -1 || v < 0 {
			t.Errorf("places %v", c.places)
		}
		// Scaled by hand: sampled from DΘD with the same draws.
		truth := times(c.truth, c.scales(spread))
		rows, err := simulate.Samples(t.Context(), r.random(forTest, "general, "+f.String()+", M=4000, graph "+string(rune('0'+i))+", copy 0"), truth, m)
		if err != nil {
			t.Fatal(err)
		}
		found, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, 12), 12, covariance.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range found.S.Raw() {
			if math.Abs(v-c.correlation.Raw()[k]) > 1e-12 {
				t.Fatalf("graph %d: correlation %v, want %v", i, v, c.correlation.Raw()[k])
			}
		}
		for j, f := range c.scales(spread) {
			if want := c.deviations[j] / f; math.Abs(found.StdDevs[j]/want-1) > 1e-12 {
				t.Errorf("deviation %v, want %v", found.StdDevs[j], want)
			}
		}
		// With so many samples, the true standardised matrix is nearly the truth in units.
		off, err := errorOf(c.original(c.standard, spread), truth)
		if err != nil || off > -25 {
			t.Errorf("the truth is %v dB off in its own units (%v)", off, err)
		}
		if off, err = errorOf(c.equal().S, inverseOf(t, c.truth)); err != nil || off > -20 {
			t.Errorf("the covariance is %v dB off (%v)", off, err)
		}
	}
}

func inverseOf(t *testing.T, a *dense.Sym) *dense.Sym {
	t.Helper()
	b := dense.NewSym(a.Len(), nil)
	if _, ok := dense.NewWorkspace(dense.Gonum{}, a.Len()).Inverse(b, a); !ok {
		t.Fatal("not positive definite")
	}
	return b
}

// No penalty does better than that of the oracle, for any figure.
func TestOracleLasso(t *testing.T) {
	r := &Run{Seed: 6}
	f := simulate.Family{Graph: simulate.GraphErdosRenyi, Dimension: 25}
	cases, err := r.tableCases(t.Context(), forTest, f, 2, 40, 0)
	if err != nil {
		t.Fatal(err)
	}
	scales := []float64{0, 0.7}
	for _, c := range cases {
		best, err := r.oracleLasso(scales).answer(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		least, err := errorOf(best.standard, c.standard)
		if err != nil {
			t.Fatal(err)
		}
		rank, err := rankOf(best.score, c.truth)
		if err != nil {
			t.Fatal(err)
		}
		for rho := 0.02; rho < 0.8; rho *= 1.1 {
			est, err := tune.Lasso(t.Context(), c.problem(), rho, nil, tune.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			// The steps of its search leave some hundredths.
			if v, err := errorOf(est.Support, c.standard); err != nil || v < least-0.03 {
				t.Errorf("ρ = %v has %v dB, the oracle %v (%v)", rho, v, least, err)
			}
			for k, spread := range scales {
				truth := times(c.truth, c.scales(spread))
				v, err := errorOf(c.original(est.Support, spread), truth)
				if err != nil {
					t.Fatal(err)
				}
				if oracle, err := errorOf(best.original[k], truth); err != nil || v < oracle-0.3 {
					t.Errorf("ρ = %v has %v dB in the units of ±%v, the oracle %v (%v)", rho, v, spread, oracle, err)
				}
			}
			if other, err := rankOf(normalised(est.Precision), c.truth); err != nil || other.AveragePrecision > rank.AveragePrecision+0.04 {
				t.Errorf("ρ = %v has AUPR %v, the oracle %v (%v)", rho, other.AveragePrecision, rank.AveragePrecision, err)
			}
		}
	}
}

// A model of covariances says by its own variances what its matrix is in standardised units:
// of the true covariance that is exact.
func TestCellResultOfEqualScales(t *testing.T) {
	r := &Run{Seed: 7}
	cases, err := r.tableCases(t.Context(), forTest, simulate.Family{Graph: simulate.GraphGrid, Dimension: 9}, 2, 30, 0)
	if err != nil {
		t.Fatal(err)
	}
	var result cellResult
	result.original = make([]*metric.NMSE, 2)
	for _, c := range cases {
		a := &answer{standard: c.standard, original: []*dense.Sym{c.truth}, score: normalised(c.truth), probability: dense.NewSym(9, nil), kept: func(i, j int) bool { return c.truth.At(i, j) != 0 }}
		if err := result.add(a, c, []float64{0.5, 0}, true); err != nil {
			t.Fatal(err)
		}
	}
	if result.original[0] != nil || result.original[1].Graphs() != 2 || result.standard.Graphs() != 2 {
		t.Errorf("%+v", result)
	}
	if v := decibels(result.original[1]); !math.IsInf(v.value, -1) {
		t.Errorf("the truth is %v dB off", v)
	}
	if v := average(result.areas, nil); v.value != 1 || average(result.precisions, nil).value != 1 {
		t.Errorf("the truth ranks with %v", v)
	}
	if k := result.kept; average(k.pairs, nil).value != 12 || average(k.wrong, nil).value != 0 || average(k.recall, nil).value != 1 {
		t.Errorf("of the truth are kept %+v", k)
	}
	if b := result.reliability.Bins()[0]; b.Pairs != 2*36 || b.Held != 12./36 {
		t.Errorf("%+v; a 3×3 lattice has 12 edges of 36 pairs", b)
	}
}

// Edges of a model without probabilities are those of Z, of one with them the pairs that they
// keep, and its Z stays what it is.
func TestKeepLikely(t *testing.T) {
	z := dense.NewSym(3, []float64{2, 1, .5, 1, 2, .25, .5, .25, 2})
	est := &solver.Estimate{Precision: z, Support: z.Clone()}
	if keepLikely(est); est.Edges() != 3 {
		t.Errorf("%d edges of Z", est.Edges())
	}
	est.Probability = dense.NewSym(3, []float64{0, .9, .1, .9, 0, .6, .1, .6, 0})
	if keepLikely(est); est.Edges() != 1 || est.NonZeros() != 3 {
		t.Errorf("%d pairs kept of %d; one is likely enough", est.Edges(), est.NonZeros())
	}
}

func TestReliabilityTable(t *testing.T) {
	g := &generalRun{Run: &Run{}}
	if g.reliabilityTable() != nil {
		t.Error("a table of no probabilities")
	}
	for k := range 2 {
		rel := new(metric.Reliability)
		for i := range 150 {
			if err := rel.Add(0.25, i%2 == k%2); err != nil {
				t.Fatal(err)
			}
		}
		g.cells = append(g.cells, cell{family: generalFamilies()[4], results: []*cellResult{{name: "x", reliability: rel}}})
	}
	rows := g.reliabilityTable()
	if len(rows) != 2 || !slices.Equal(rows[1][:6], []string{"x", "hub", "0.250", "0.3125", "0.25", ""}) || rows[1][7] != "0.25: 0.50" {
		t.Errorf("%q", rows)
	}
}

func TestSeenByTraining(t *testing.T) {
	general := glad.Card{Family: "mixed graphs, sizes up to d=400, numbers of samples, weights and scales", Dimension: glad.Counts{400}}
	newer := glad.Card{Family: "correlation matrices of er, hub, scale-free, block, grid and empty graphs, sizes up to d=200, numbers of samples", Dimension: glad.Counts{200}}
	one := glad.Card{Family: "scale-free links=1, d=50,100, weights U[-1, 1) sym", Dimension: glad.Counts{50, 100}, Samples: glad.Counts{20, 60}}
	for _, c := range []struct {
		card  glad.Card
		graph string
		want  bool
	}{
		{general, "band", true}, {general, "small-world", false}, {general, "empty", false},
		{newer, "band", false}, {newer, "small-world", false}, {newer, "er", true}, {newer, "scale-free", true}, {newer, "empty", true},
		{one, "scale-free", true}, {one, "er", false}, {glad.Card{}, "er", false},
	} {
		if got := seenGraph(c.card, c.graph); got != c.want {
			t.Errorf("%q has seen %s: %v", c.card.Family, c.graph, got)
		}
	}
	for _, c := range []struct {
		card glad.Card
		size Size
		want bool
	}{
		{general, Size{400, 200}, true}, {newer, Size{400, 200}, false}, {newer, Size{50, 25}, true},
		{one, Size{50, 25}, true}, {one, Size{40, 25}, false}, {one, Size{100, 100}, false}, {glad.Card{}, Size{5, 5}, false},
	} {
		if got := seenSize(c.card, c.size); got != c.want {
			t.Errorf("%v of %q has seen %v: %v", c.card.Dimension, c.card.Family, c.size, got)
		}
	}
}

func TestPartOfGeneral(t *testing.T) {
	o := Options{
		Name: "general", Seed: 2020, Families: []string{"hub", "empty"}, Sizes: []string{"50x25", "7x1000"}, Scales: []string{"0", "0.5"},
		Graphs: 4, Models: []string{"general", "models/old.json"}, Experts: "here/experts",
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := o.part()
	if err != nil || !slices.Equal(p.Sizes, []Size{{50, 25}, {7, 1000}}) || !slices.Equal(p.Scales, []float64{0, 0.5}) {
		t.Errorf("%+v (%v)", p, err)
	}
	const want = "gladflow experiment general --families hub,empty --sizes 50x25,7x1000 --scales 0,0.5 --models general,old.json --graphs 4 --experts experts"
	if got := o.command("general"); got != want {
		t.Errorf("command %s", got)
	}
	for field, change := range map[string]func(*Options){
		"families": func(o *Options) { o.Families = []string{"er"} },
		"sizes":    func(o *Options) { o.Sizes = []string{"50"} },
		"scales":   func(o *Options) { o.Scales = []string{"NaN"} },
		"graphs":   func(o *Options) { o.Graphs = 1 },
		"without":  func(o *Options) { o.Without = []string{"lasso"} },
		"experts":  func(o *Options) { o.Without = []string{"family"} },
		"models":   func(o *Options) { o.Name = "auc" },
	} {
		other := o
		if change(&other); field == "models" {
			other.Families, other.Sizes, other.Scales, other.Graphs, other.Experts = nil, nil, nil, 0, ""
		}
		var wrong *job.Error
		if err := other.Validate(); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, text := range []string{"x", "3x50", "50x1", "5000x100", "50x1000000", "50x25x3"} {
		if _, err := parseSize(text); err == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
	if _, err := (Part{Models: []string{"no-such-model"}}).openModels(); err == nil {
		t.Error("a model that is not there is opened")
	}
}

// Models of families are trained once for a folder, and one that is there is taken.
func TestExpertsAreKept(t *testing.T) {
	r := &Run{Quick: true, Seed: 3}
	folder := t.TempDir()
	g := &generalRun{Run: r, Part: Part{Scales: []float64{0}, Experts: filepath.Join(folder, "experts")}}
	trained := 0
	tell := func(string) { trained++ }
	f, size := generalFamilies()[4], Size{12, 10}
	first, err := g.expertsOf(t.Context(), f, size, tell)
	if err != nil || trained != 2 {
		t.Fatalf("%d models trained (%v)", trained, err)
	}
	again, err := g.expertsOf(t.Context(), f, size, tell)
	if err != nil || trained != 2 || !reflect.DeepEqual(first, again) {
		t.Errorf("%d models trained (%v)", trained, err)
	}
	if first.equal.Name != "hub-d12-m10-equal" || first.correlations.Card.Family != f.sized(12).String() {
		t.Errorf("%s, %+v", first.equal.Name, first.correlations.Card)
	}
	// Without a folder the same are trained.
	g.Experts = ""
	if again, err = g.expertsOf(t.Context(), f, size, tell); err != nil || trained != 4 || !slices.EqualFunc(first.equal.Cells, again.equal.Cells, func(a, b glad.PosteriorMean) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("%d models trained, others (%v)", trained, err)
	}
	// One of the family serves for every size, and knows no equal scales.
	g.Experts = folder
	data, err := os.ReadFile(filepath.Join(folder, "experts", "hub-d12-m10.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "hub.json"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	if again, err = g.expertsOf(t.Context(), f, Size{30, 7}, tell); err != nil || trained != 4 || again.equal != nil || again.correlations.Name != "hub-d12-m10" {
		t.Errorf("%d models trained, %+v (%v)", trained, again, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "hub.json"), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	var wrong *job.Error
	if _, err = g.expertsOf(t.Context(), f, size, tell); !errors.As(err, &wrong) || wrong.Field != "experts" {
		t.Errorf("a broken model: %v", err)
	}
	if s := expertSize(Size{400, 200}); s != (Size{200, 100}) || expertSize(size) != size {
		t.Errorf("trained for %v", s)
	}
}

func TestKeptTable(t *testing.T) {
	g := &generalRun{Run: &Run{}}
	if g.keptTable() != nil {
		t.Error("a table of no pairs kept")
	}
	truth := dense.Identity(3)
	truth.Set(0, 1, 0.5)
	x := &cellResult{name: "x", kept: new(keptPairs)}
	for range 2 {
		x.kept.add(func(_, j int) bool { return j > 0 }, truth) // all three pairs
	}
	g.cells = []cell{{family: generalFamilies()[1], size: Size{3, 9}, results: []*cellResult{{name: "y"}, x}}}
	rows := g.keptTable()
	want := []string{"er-0.1", "3", "9", "x", "3.00 ± 0.00", "0.667 ± 0.000", "1.000 ± 0.000"}
	if len(rows) != 2 || !slices.Equal(rows[1], want) {
		t.Errorf("%q, want %q", rows, want)
	}
}
