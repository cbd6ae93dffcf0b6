package covariance_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// columns are those of a table, which has no more samples than most.
func columns(t rapid.TB, a table, s covariance.Settings, most int) (*covariance.Columns, *covariance.Result) {
	t.Helper()
	c, r, err := covariance.EstimateColumns(context.Background(), covariance.NewTable(a.rows, a.d), a.d, s, most)
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// whole is all of the S of columns.
func whole(t rapid.TB, c *covariance.Columns) *dense.Sym {
	t.Helper()
	s, err := c.Submatrix(context.Background(), upTo(c.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// S of columns is that of Estimate, and so is all the rest.
func TestColumnsAreEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		scale := math.Pow(10, rapid.Float64Range(-120, 120).Draw(t, "scale"))
		a = a.each(func(j int, v float64) float64 { return scale * (float64(j) + v) })
		s := covariance.Settings{
			Method:    rapid.SampledFrom(methods).Draw(t, "method"),
			Divisor:   rapid.SampledFrom([]covariance.Divisor{covariance.BySamples, covariance.BySamplesLess1}).Draw(t, "divisor"),
			Shrinkage: rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "shrinkage"),
		}
		want, failure := covariance.Estimate(t.Context(), covariance.NewTable(a.rows, a.d), a.d, s)
		c, got, err := covariance.EstimateColumns(t.Context(), covariance.NewTable(a.rows, a.d), a.d, s, a.m)
		if failure != nil || err != nil { // constant up to rounding, say
			if failure == nil || err == nil || failure.Error() != err.Error() {
				t.Fatalf("%v, and Estimate says %v", err, failure)
			}
			return
		}
		if got.S != nil || got.Samples != want.Samples || got.Shrinkage != want.Shrinkage {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for j := range a.d {
			if math.Abs(got.StdDevs[j]-want.StdDevs[j]) > 1e-12*want.StdDevs[j] || math.Abs(got.Means[j]-want.Means[j]) > 1e-9*(math.Abs(want.Means[j])+want.StdDevs[j]) {
				t.Fatalf("variable %d: %v ± %v, want %v ± %v", j, got.Means[j], got.StdDevs[j], want.Means[j], want.StdDevs[j])
			}
		}
		part := whole(t, c)
		for i := range a.d {
			if c.Variance(i) != part.At(i, i) {
				t.Fatalf("variance %v, and %v in S", c.Variance(i), part.At(i, i))
			}
			for j := range a.d {
				unit := math.Sqrt(want.S.At(i, i)) * math.Sqrt(want.S.At(j, j))
				if math.Abs(part.At(i, j)-want.S.At(i, j)) > 1e-11*unit {
					t.Fatalf("(%d,%d): %v, want %v", i, j, part.At(i, j), want.S.At(i, j))
				}
			}
		}
	})
}

// More samples than are taken as columns are estimated from, to the last bit as ever.
func TestMoreSamplesThanColumns(t *testing.T) {
	a := table{700, 5, normalTable(3, 700, 5)}
	for _, most := range []int{3, 256, 257, 699, 700} {
		c, r := columns(t, a, covariance.Settings{}, most)
		if most >= a.m {
			if c == nil || r.S != nil {
				t.Fatal("all samples can be columns, and are not")
			}
			continue
		}
		want, err := covariance.Estimate(t.Context(), covariance.NewTable(a.rows, a.d), a.d, covariance.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if c != nil || !reflect.DeepEqual(r, want) {
			t.Fatalf("at most %d: not what Estimate says", most)
		}
	}
}

// relatedTable has blocks of variables that are related: more than are multiplied at a time.
func relatedTable(m, d int) table {
	rng := rand.New(rand.NewPCG(9, uint64(d)))
	rows := make([]float64, m*d)
	for i := range m {
		var common float64
		for j := range d {
			if j%7 == 0 {
				common = rng.NormFloat64()
			}
			rows[i*d+j] = math.Round(4 * (common + rng.NormFloat64())) // with ties
		}
		rows[i*d+d-1] = -rows[i*d+2] // repeats it
	}
	return table{m, d, rows}
}

func TestScreen(t *testing.T) {
	const d, rho = 600, 0.8
	a := relatedTable(16, d)
	for name, s := range map[string]covariance.Settings{
		"correlation": {}, "shrunk": {Shrinkage: 0.05}, "ranks": {Method: covariance.Spearman},
	} {
		c, _ := columns(t, a, s, d)
		sym := whole(t, c)
		seen := make([]bool, d)
		var want [][]int
		var above int64
		for i := range d {
			if seen[i] {
				continue
			}
			seen[i] = true
			comp := []int{i}
			for k := 0; k < len(comp); k++ {
				for j, v := range sym.Row(comp[k]) {
					if !seen[j] && math.Abs(v) > rho {
						seen[j] = true
						comp = append(comp, j)
					}
				}
			}
			slices.Sort(comp)
			want = append(want, comp)
		}
		slices.SortStableFunc(want, func(a, b []int) int { return len(b) - len(a) })
		for i := range d {
			for _, v := range sym.Row(i)[i+1:] {
				if math.Abs(v) > rho {
					above++
				}
			}
		}
		var share float64
		got, err := c.Screen(t.Context(), rho, 0.9999, func(done float64) { share = done })
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Components, want) || got.Above != above || share != 1 {
			t.Errorf("%s: %d components, %d pairs above, %v done; want %d and %d", name, len(got.Components), got.Above, share, len(want), above)
		}
		if len(got.Components[0]) < 3 || len(got.Components) < 50 {
			t.Errorf("%s: %d components, the largest of %d", name, len(got.Components), len(got.Components[0]))
		}
		repeats := slices.ContainsFunc(got.Repeats, func(g []int) bool { return slices.Equal(g, []int{2, d - 1}) })
		if !repeats {
			t.Errorf("%s: %v repeat each other", name, got.Repeats)
		}
	}
}

func TestLargest(t *testing.T) {
	const d = 560
	c, _ := columns(t, relatedTable(20, d), covariance.Settings{}, d)
	sym := whole(t, c)
	var all []float64
	for i := range d {
		for _, v := range sym.Row(i)[i+1:] {
			if v != 0 {
				all = append(all, math.Abs(v))
			}
		}
	}
	slices.SortFunc(all, func(a, b float64) int { return -cmpFloat(a, b) })
	for _, n := range []int{0, 1, 1000, len(all), 2 * len(all)} {
		got, floor, err := c.Largest(t.Context(), n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, e := range got {
			if v := math.Abs(e.Value); math.Abs(v-all[k]) > 1e-14 || v <= floor || e.I >= e.J || math.Abs(sym.At(int(e.I), int(e.J))-e.Value) > 1e-14 {
				t.Fatalf("%d asked for: entry %d is %+v, want %v, with the floor %v", n, k, e, all[k], floor)
			}
		}
		if len(got) < len(all) && all[len(got)] > floor+1e-14 {
			t.Errorf("%d asked for: %v is above the floor %v, and not there", n, all[len(got)], floor)
		}
		if len(got) > n || n >= len(all) && len(got) != len(all) {
			t.Errorf("%d asked for: %d entries of %d", n, len(got), len(all))
		}
	}
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	} else if a > b {
		return 1
	}
	return 0
}

// Whatever the number of threads: the same bits.
func TestColumnsOnThreads(t *testing.T) {
	const d = 600
	a := relatedTable(30, d)
	var first []float64
	var screened *covariance.Screening
	var largest []covariance.Entry
	for _, threads := range []int{1, 2, 3} {
		engine := dense.WithThreads(dense.Default(), threads)
		c, _ := columns(t, a, covariance.Settings{Engine: engine}, d)
		s := whole(t, c)
		got, err := c.Screen(t.Context(), 0.5, 0.99, nil)
		if err != nil {
			t.Fatal(err)
		}
		entries, _, err := c.Largest(t.Context(), 500, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first, screened, largest = s.Raw(), got, entries
		}
		if !slices.Equal(first, s.Raw()) || !reflect.DeepEqual(got, screened) || !slices.Equal(entries, largest) {
			t.Errorf("%d threads give another result", threads)
		}
	}
}

func TestColumnsEnd(t *testing.T) {
	const d = 2500
	c, _ := columns(t, relatedTable(400, d), covariance.Settings{}, d)
	for name, work := range map[string]func(context.Context) error{
		"screening": func(ctx context.Context) error { _, err := c.Screen(ctx, 0.1, 0, nil); return err },
		"largest":   func(ctx context.Context) error { _, _, err := c.Largest(ctx, 10, nil); return err },
		"part":      func(ctx context.Context) error { _, err := c.Submatrix(ctx, upTo(d)); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var ended time.Time
		time.AfterFunc(5*time.Millisecond, func() { ended = time.Now(); cancel() })
		err := work(ctx)
		if took := time.Since(ended); !errors.Is(err, context.Canceled) || took > time.Second {
			t.Errorf("%s: %v, %v after the end", name, err, took)
		}
	}
}

func TestColumnsRefuse(t *testing.T) {
	for name, a := range map[string]table{
		"constant":       {3, 2, []float64{1, 2, 2, 2, 5, 2}},
		"not finite":     {2, 2, []float64{1, 2, math.NaN(), 3}},
		"too far apart":  {2, 1, []float64{-1.7e308, 1.7e308}},
		"one sample":     {1, 2, []float64{1, 2}},
		"constant ranks": {3, 2, []float64{1, 2, 2, 2, 5, 2}},
	} {
		s := covariance.Settings{}
		if name == "constant ranks" {
			s.Method = covariance.Spearman
		}
		_, _, err := covariance.EstimateColumns(t.Context(), covariance.NewTable(a.rows, a.d), a.d, s, 10)
		_, want := covariance.Estimate(t.Context(), covariance.NewTable(a.rows, a.d), a.d, s)
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	tiny := table{2, 1, []float64{0, 1e-160}}
	if _, _, err := covariance.EstimateColumns(t.Context(), covariance.NewTable(tiny.rows, 1), 1, covariance.Settings{Method: covariance.Covariance}, 10); err == nil {
		t.Error("a variance below the range of float64 is taken")
	}
	c, _ := columns(t, relatedTable(5, 9), covariance.Settings{}, 9)
	if _, err := c.Screen(t.Context(), math.NaN(), 0, nil); err == nil {
		t.Error("NaN is a threshold")
	}
}
