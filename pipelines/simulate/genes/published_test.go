package genes

import (
	"bufio"
	"compress/gzip"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lines reads a file of published output of SynTReN, which is in the folder
// GLADFLOW_DATA; the licence does not let us pass the files on.
func lines(tb testing.TB, set, file string) [][]string {
	tb.Helper()
	folder := os.Getenv("GLADFLOW_DATA")
	if folder == "" {
		tb.Skip("GLADFLOW_DATA does not name a folder with output of SynTReN")
	}
	f, err := os.Open(filepath.Join(folder, "syntren", "bngpu_"+set+"_"+file+".gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var all [][]string
	scan := bufio.NewScanner(z)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		all = append(all, strings.Split(scan.Text(), "\t"))
	}
	if err := scan.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// A published is one output with the network and the parameters behind it.
type published struct {
	Model
	// kind is the name of every gene's law in the table.
	kind []string
	// constant is the value of the inputs of the background.
	constant []float64
	// values are from 0 to 1.
	values table
}

func readPublished(tb testing.TB, set string) *published {
	tb.Helper()
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
	rows := lines(tb, set, "parameters.tsv")[1:]
	// The background comes last.
	slices.SortStableFunc(rows, func(a, b []string) int {
		last := func(row []string) int { return len(row[0]) - len(strings.TrimPrefix(row[0], "bgr_")) }
		return last(a) - last(b)
	})
	p := &published{}
	at := make(map[string]int)
	for j, row := range rows {
		at[row[0]] = j
		p.Names = append(p.Names, row[0])
		if strings.HasPrefix(row[0], "bgr_") {
			p.Background++
		}
	}
	for _, row := range rows {
		var regulators []int
		if row[1] != "" {
			for _, name := range strings.Split(row[1], ",") {
				regulators = append(regulators, at[name])
			}
		}
		given := make(map[string]string)
		for _, field := range strings.Split(row[3], ";") {
			key, value, _ := strings.Cut(field, "=")
			given[key] = value
		}
		list := func(key string) []float64 {
			var all []float64
			for _, text := range strings.Fields(strings.Trim(given[key], "[]")) {
				all = append(all, number(text))
			}
			return all
		}
		constant := math.NaN()
		ones := slices.Repeat([]float64{1}, len(regulators))
		var l Law
		switch row[2] {
		case "ConstantModel":
			constant = number(given["constant"])
		case "OneActivatorCoop":
			l = Law{Form: Hill, Signs: []int8{1}, Half: list("Kh"), Exponent: list("n"), Strength: list("V1max"), Basal: number(given["V0max"])}
		case "OneRepressorCoop":
			l = Law{Form: Hill, Signs: []int8{-1}, Half: list("Kh"), Exponent: list("n"), Strength: ones, Basal: number(given["V0max"])}
		case "NActivatorsMM":
			l = Law{Form: Hill, Half: list("Ka"), Exponent: ones, Strength: list("Vmax")}
			for range regulators {
				l.Signs = append(l.Signs, 1)
			}
		case "NRepressorsMM":
			l = Law{Form: Hill, Half: list("Ki"), Exponent: ones, Strength: ones, Basal: number(given["V0max"])}
			for range regulators {
				l.Signs = append(l.Signs, -1)
			}
		case "NRegulatorsMM":
			l = Law{Form: Hill, Half: list("Keq"), Exponent: ones, Strength: list("Vmax"), Basal: number(given["V0max"])}
			for _, activates := range list("type") {
				l.Signs = append(l.Signs, int8(2*activates-1))
			}
		case "TwoActivatorsSynergism":
			l = Law{
				Form: Synergy, Signs: []int8{1, 1}, Half: append(list("K1a"), list("K2a")...),
				Strength: append(list("V1max"), list("V2max")...), Basal: number(given["V0max"]), Cooperation: number(given["beta"]),
			}
		case "OneActivatorOneRepressorComp", "OneActivatorOneRepressorNoComp":
			l = Law{
				Form: Competitive, Signs: []int8{1, -1}, Half: append(list("Ka"), list("Ki")...),
				Strength: append(list("V1max"), 1), Basal: number(given["V0max"]),
			}
			if strings.HasSuffix(row[2], "NoComp") {
				l.Form = NonCompetitive
			}
			if given["firstIsActivator"] != "true" {
				slices.Reverse(l.Signs)
				slices.Reverse(l.Half)
				slices.Reverse(l.Strength)
			}
		default:
			tb.Fatalf("the law %s", row[2])
		}
		p.Regulators = append(p.Regulators, regulators)
		p.Laws = append(p.Laws, l)
		p.kind = append(p.kind, row[2])
		p.constant = append(p.constant, constant)
		p.Highest = append(p.Highest, number(row[5]))
	}
	values := lines(tb, set, "unnormalized.tsv")
	p.values = newTable(len(rows), len(values[0])-1)
	for _, row := range values[1:] {
		j := at[row[0]]
		for r, text := range row[1:] {
			p.values[j][r] = number(text) / p.Highest[j]
		}
	}
	p.Leaders = slices.Repeat([]int{-1}, len(p.Names))
	for _, row := range lines(tb, set, "correlatedExternal.txt") {
		words := strings.Fields(row[0]) // node A correlated with node B
		p.Leaders[at[words[1]]] = at[words[5]]
	}
	if err := p.validate(); err != nil {
		tb.Fatal(err)
	}
	return p
}

// publishedSets are the outputs, all made with noises of .1.
var publishedSets = []string{"EColi_d100_n1000", "EColi_d100_n100", "EColi_d300_n500", "ecoli_d10_n1000", "ecoli_d20_n1000"}

// expected are the values that the laws give without noise, gene by gene: at the
// published values of the regulators, or, for the background, at the constants of
// its inputs. Those of inputs are nil.
func (p *published) expected() table {
	t := make(table, len(p.Names))
	source := slices.Clone(p.values)
	for _, component := range p.components() {
		for _, j := range component {
			if p.input(j) {
				if j >= p.foreground() {
					source[j] = slices.Repeat([]float64{p.constant[j]}, len(p.values[j]))
				}
				continue
			}
			l := p.Laws[j].rescaled()
			x := make([]float64, len(p.Regulators[j]))
			for r := range p.values[j] {
				for k, i := range p.Regulators[j] {
					x[k] = source[i][r]
				}
				t[j] = append(t[j], l.rate(x))
			}
			if j >= p.foreground() {
				source[j] = t[j]
			}
		}
	}
	return t
}

// quartiles sorts values.
func quartiles(values []float64) (low, middle, high float64) {
	slices.Sort(values)
	n := len(values)
	return values[n/4], values[n/2], values[3*n/4]
}

// Without noise the laws give what was published: the median residual is nearly
// zero in every set, and in every kind of law over the sets.
func TestPublishedSynTReNLaws(t *testing.T) {
	kinds := make(map[string][]float64)
	for _, set := range publishedSets {
		p := readPublished(t, set)
		var foreground, background []float64
		for j, column := range p.expected() {
			for r, v := range column {
				d := p.values[j][r] - v
				if j >= p.foreground() {
					background = append(background, d)
					continue
				}
				foreground = append(foreground, d)
				kinds[p.kind[j]] = append(kinds[p.kind[j]], d)
			}
		}
		kinds[set] = foreground
		kinds[set+", background"] = background
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		low, m, high := quartiles(kinds[kind])
		t.Logf("%-30s %7d residuals, median %8.5f, quartiles %.4f %.4f", kind, len(kinds[kind]), m, low, high)
		if math.Abs(m) > .001 {
			t.Errorf("%s: the median residual is %.5f", kind, m)
		}
	}
}

// From the published inputs, and without noise, the whole network comes to what was
// published, but for the noise there.
func TestPublishedSynTReNSteadyState(t *testing.T) {
	for _, set := range publishedSets {
		p := readPublished(t, set)
		values := newTable(len(p.Names), len(p.values[0]))
		for j, column := range values {
			if p.input(j) {
				copy(column, p.values[j])
			}
		}
		p.settle(source(1), values, 0)
		var residuals []float64
		for j, column := range values[:p.foreground()] {
			if p.input(j) {
				continue
			}
			for r, v := range column {
				residuals = append(residuals, p.values[j][r]-v)
			}
		}
		low, m, high := quartiles(residuals)
		t.Logf("%-17s %7d residuals, median %8.5f, quartiles %.4f %.4f", set, len(residuals), m, low, high)
		if math.Abs(m) > .001 {
			t.Errorf("%s: the median residual is %.5f", set, m)
		}
	}
}

// edgeCorrelations are the quartiles of |r| on the edges, in values.
func edgeCorrelations(edges []Edge, values table) (low, middle, high float64) {
	standardize(values)
	var all []float64
	for _, e := range edges {
		all = append(all, math.Abs(dot(values[e.Source], values[e.Target]))/float64(len(values[0])))
	}
	return quartiles(all)
}

// With noise, correlations on the edges are as strong as in what was published:
// with the parameters given, and with others of our own, the middle of three draws, in
// the sets of 100 genes and more.
func TestPublishedSynTReNCorrelations(t *testing.T) {
	conditions := Conditions{Biological: .1, Measurement: .1, Input: .1}
	for _, set := range publishedSets {
		p := readPublished(t, set)
		conditions.Samples = len(p.values[0])
		s, err := p.Sample(source(5), conditions)
		if err != nil {
			t.Fatal(err)
		}
		a, b, c := edgeCorrelations(s.Edges, p.values)
		check := func(what string, x, y, z float64) {
			t.Logf("%-17s quartiles of |r| on %d edges: published %.3f %.3f %.3f, %s %.3f %.3f %.3f", set, len(s.Edges), a, b, c, what, x, y, z)
			if max(math.Abs(a-x), math.Abs(b-y), math.Abs(c-z)) > .1 {
				t.Errorf("%s: quartiles of |r|: published %.3f %.3f %.3f, %s %.3f %.3f %.3f", set, a, b, c, what, x, y, z)
			}
		}
		x, y, z := edgeCorrelations(s.Edges, s.columns())
		check("the same parameters", x, y, z)
		if len(s.Edges) < 100 {
			continue // the quartiles of so few depend on the draw
		}

		network := &Network{Names: p.Names[:p.foreground()], Edges: s.Edges}
		var draws [3][]float64
		for seed := range uint64(3) {
			rng := source(seed)
			m, err := Drawing{}.Draw(rng, network, nil)
			if err != nil {
				t.Fatal(err)
			}
			// Which inputs go together decides more than all other parameters.
			m.Leaders = p.Leaders[:p.foreground()]
			other, err := m.Sample(rng, conditions)
			if err != nil {
				t.Fatal(err)
			}
			x, y, z := edgeCorrelations(other.Edges, other.columns())
			for k, v := range []float64{x, y, z} {
				draws[k] = append(draws[k], v)
			}
		}
		for _, list := range draws {
			slices.Sort(list)
		}
		check("other parameters", draws[0][1], draws[1][1], draws[2][1])
	}
}
