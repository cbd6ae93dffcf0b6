package covariance_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

func TestColumnErrors(t *testing.T) {
	names := []string{"alpha", "beta", "gamma"}
	for _, c := range []struct {
		name   string
		rows   []float64
		column int
		sample int
		others int
		method []covariance.Method
		want   string
	}{
		{"constant", []float64{1, 5, 2, 2, 5, 3, 4, 5, 9}, 1, -1, 0, methods,
			`column "beta" (number 2) is constant: all 3 samples are 5; a variable that does not vary is related to none, so remove it`},
		{"two constants", []float64{0, 5, 2, 0, 5, 3, 0, 5, 9}, 0, -1, 1, methods,
			"all 3 samples are 0 (one more column has the same fault); a variable"},
		{"constant to rounding", []float64{1, 2, math.Nextafter(0.3, 1), 2, 3, 0.3, 4, 5, 0.3}, 2, -1, 0, methods,
			"constant up to rounding"},
		{"constant to rounding, large", []float64{1, 2, 1e15 / 3, 2, 3, math.Nextafter(1e15/3, 0), 4, 5, 1e15 / 3}, 2, -1, 0, methods,
			"constant up to rounding"},
		{"NaN", []float64{1, 5, 2, 2, 6, 3, 4, 5, math.NaN()}, 2, 2, 0, methods,
			`column "gamma" (number 3) has the value NaN in sample 3; fill in`},
		{"infinite", []float64{1, math.Inf(-1), 2, 2, 6, 3, 4, 5, math.NaN()}, 1, 0, 0, methods,
			"has the value -Inf in sample 1"},
		{"too far apart", []float64{1, 1.7e308, 2, 2, -1.7e308, 3, 4, 5, 6}, 1, -1, 0, methods,
			"too large to be subtracted"},
		{"variance too large", []float64{1, 1e200, 2, 2, -1e200, 3, 4, 5, 6}, 1, -1, 0, []covariance.Method{covariance.Covariance},
			"has the variance +Inf, beyond the range of float64; choose another unit"},
		{"variance too small", []float64{1, 1e-200, 2, 2, -1e-200, 3, 4, 0, 6}, 1, -1, 0, []covariance.Method{covariance.Covariance},
			"has the variance 0, beyond"},
	} {
		for _, m := range c.method {
			_, err := covariance.Estimate(t.Context(), covariance.NewTable(c.rows, 3), 3, covariance.Settings{Method: m, Names: names})
			var e *covariance.ColumnError
			if !errors.As(err, &e) {
				t.Errorf("%s, %v: %v", c.name, m, err)
				continue
			}
			if e.Column != c.column || e.Name != names[c.column] || e.Sample != c.sample || e.Others != c.others || !strings.Contains(e.Error(), c.want) {
				t.Errorf("%s, %v: %+v: %v", c.name, m, *e, e)
			}
		}
	}
	// A bad value far down a stream keeps its number.
	rows := normalTable(1, 700, 3)
	rows[600*3+1] = math.NaN()
	_, err := covariance.Estimate(t.Context(), &batches{rows: rows, d: 3, sizes: []int{7}}, 3, covariance.Settings{})
	var e *covariance.ColumnError
	if !errors.As(err, &e) || e.Sample != 600 || e.Column != 1 || !strings.Contains(e.Error(), "column 2 has") {
		t.Errorf("%v", err)
	}
}

// The smallest deviations that are still taken seriously.
func TestBarelyVarying(t *testing.T) {
	ulp := math.Nextafter(1, 2) - 1
	rows := []float64{1, 1, 1 + 40*ulp, 2, 1 + 20*ulp, 3}
	r := estimate(t, rows, 2, covariance.Settings{})
	// (0, 40, 20) and (1, 2, 3): both corrections are exact.
	if math.Abs(r.S.At(0, 1)-0.5) > tolerance {
		t.Errorf("correlation %v, want 0.5", r.S.At(0, 1))
	}
}

func TestTooFewSamples(t *testing.T) {
	for _, rows := range [][]float64{nil, {1, 2}} {
		for _, m := range methods {
			_, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, 2), 2, covariance.Settings{Method: m})
			if !errors.Is(err, covariance.ErrTooFewSamples) {
				t.Errorf("%d numbers, %v: %v", len(rows), m, err)
			}
		}
	}
}

func TestWrongSettings(t *testing.T) {
	for want, s := range map[string]covariance.Settings{
		"from 0 to 1":     {Shrinkage: 1.5},
		"weight is NaN":   {Shrinkage: math.NaN()},
		"choose one":      {Shrinkage: 0.5, LedoitWolf: true},
		"unknown Method(": {Method: 9},
		"unknown divisor": {Divisor: -1},
	} {
		_, err := covariance.Estimate(t.Context(), covariance.NewTable(smallTable, 4), 4, s)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
		if _, err := covariance.FromMatrix(t.Context(), []float64{1}, 1, 5, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := covariance.Estimate(t.Context(), covariance.NewTable(nil, 0), 0, covariance.Settings{}); err == nil {
		t.Error("no variables: no error")
	}
	if _, err := covariance.ParseMethod("kendall"); err == nil {
		t.Error("kendall: no error")
	}
	for _, m := range methods {
		if got, err := covariance.ParseMethod(m.String()); got != m || err != nil {
			t.Errorf("%v read back: %v, %v", m, got, err)
		}
	}
	if m, err := covariance.ParseMethod(""); m != covariance.Pearson || err != nil {
		t.Errorf("the default is %v, %v", m, err)
	}
}

type sourceFunc func() ([]float64, int, error)

func (f sourceFunc) Next() ([]float64, int, error) { return f() }

func TestFaultySources(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := covariance.Estimate(t.Context(), sourceFunc(func() ([]float64, int, error) { return nil, 0, broken }), 2, covariance.Settings{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	for _, n := range []int{-1, 1, 3, math.MaxInt} {
		_, err := covariance.Estimate(t.Context(), sourceFunc(func() ([]float64, int, error) { return make([]float64, 4), n, nil }), 2, covariance.Settings{})
		if err == nil || !strings.Contains(err.Error(), "the source gave 4 numbers") {
			t.Errorf("n = %d: %v", n, err)
		}
	}
	// Empty batches are no end, and no end is no hang.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := covariance.Estimate(ctx, sourceFunc(func() ([]float64, int, error) { return nil, 0, nil }), 2, covariance.Settings{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestCancellation(t *testing.T) {
	for _, m := range methods {
		ctx, cancel := context.WithCancel(t.Context())
		read := 0
		src := sourceFunc(func() ([]float64, int, error) {
			if read++; read == 3 {
				cancel()
				return nil, 0, io.EOF
			}
			return normalTable(uint64(read), 300, 4), 300, nil
		})
		if _, err := covariance.Estimate(ctx, src, 4, covariance.Settings{Method: m}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", m, err)
		}
		cancel()
	}
}

func TestFromMatrix(t *testing.T) {
	s := []float64{4, 1, 0.5, 1, 9, -2, 0.5, -2, 1}
	r, err := covariance.FromMatrix(t.Context(), s, 3, 30, covariance.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	sameMatrix(t, r.S, []float64{1, 1.0 / 6, 0.25, 1.0 / 6, 1, -2.0 / 3, 0.25, -2.0 / 3, 1}, 1e-16)
	unitDiagonal(t, r.S)
	if r.Samples != 30 || r.Means != nil || r.StdDevs[0] != 2 || r.StdDevs[1] != 3 || r.StdDevs[2] != 1 {
		t.Errorf("%+v", r)
	}
	r, err = covariance.FromMatrix(t.Context(), s, 3, 0, covariance.Settings{Method: covariance.Covariance})
	if err != nil {
		t.Fatal(err)
	}
	sameMatrix(t, r.S, s, 0)
	r.S.Set(0, 1, 99) // a copy
	if s[1] != 1 {
		t.Error("FromMatrix kept its argument")
	}
	r, err = covariance.FromMatrix(t.Context(), s, 3, 0, covariance.Settings{Method: covariance.Covariance, Shrinkage: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	const third = 14.0 / 3 / 2
	sameMatrix(t, r.S, []float64{2 + third, 0.5, 0.25, 0.5, 4.5 + third, -1, 0.25, -1, 0.5 + third}, 1e-15)
}

// What Estimate makes, FromMatrix takes, also when it is singular.
func TestFromMatrixTakesSingular(t *testing.T) {
	for _, m := range []covariance.Method{covariance.Pearson, covariance.Covariance} {
		rows := normalTable(3, 5, 40)
		for i := range rows {
			rows[i] *= math.Pow(10, float64(i%40)/3-6)
		}
		want := estimate(t, rows, 40, covariance.Settings{Method: m}).S
		r, err := covariance.FromMatrix(t.Context(), want.Raw(), 40, 5, covariance.Settings{Method: m})
		if err != nil {
			t.Fatal(err)
		}
		sameMatrix(t, r.S, want.Raw(), 0)
	}
}

func TestFromMatrixRefuses(t *testing.T) {
	names := []string{"alpha", "beta"}
	for _, c := range []struct {
		name   string
		values []float64
		d, m   int
		s      covariance.Settings
		column int // of a ColumnError; −1 for another error
		want   string
	}{
		{"not square", make([]float64, 6), 2, 5, covariance.Settings{}, -1, "square"},
		{"nothing", nil, 0, 5, covariance.Settings{}, -1, "square"},
		{"negative samples", []float64{1}, 1, -5, covariance.Settings{}, -1, "samples is -5"},
		{"NaN", []float64{1, math.NaN(), 0, 1}, 2, 5, covariance.Settings{}, 1, "NaN"},
		{"zero variance", []float64{1, 0, 0, 0}, 2, 5, covariance.Settings{}, 1, "variance 0"},
		{"negative variance", []float64{-1, 0, 0, 1}, 2, 5, covariance.Settings{}, 0, "variance -1"},
		{"asymmetric", []float64{1, 0.5, 0.4, 1}, 2, 5, covariance.Settings{}, 0, "the other way round"},
		{"beyond 1", []float64{1, 1.5, 1.5, 1}, 2, 5, covariance.Settings{}, 0, `has the correlation 1.5 with column "beta"`},
		{"indefinite", []float64{1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}, 3, 5, covariance.Settings{}, -1, "eigenvalue -0.8"},
		{"indefinite covariance", []float64{1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}, 3, 5, covariance.Settings{Method: covariance.Covariance}, -1, "eigenvalue -0.8"},
		{"ranks", []float64{1}, 1, 5, covariance.Settings{Method: covariance.Spearman}, -1, "spearman needs the samples"},
		{"Ledoit-Wolf", []float64{1}, 1, 5, covariance.Settings{LedoitWolf: true}, -1, "needs the samples"},
	} {
		c.s.Names = names
		_, err := covariance.FromMatrix(t.Context(), c.values, c.d, c.m, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var e *covariance.ColumnError
		if is := errors.As(err, &e); is != (c.column >= 0) || is && e.Column != c.column {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
	// The way out that the message names.
	indefinite := []float64{1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1}
	for _, m := range []covariance.Method{covariance.Pearson, covariance.Covariance} {
		if _, err := covariance.FromMatrix(t.Context(), indefinite, 3, 5, covariance.Settings{Method: m, Shrinkage: 0.5}); err != nil {
			t.Errorf("shrunk, %v: %v", m, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := covariance.FromMatrix(ctx, []float64{1}, 1, 5, covariance.Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Whatever the numbers: an error, or a finite symmetric S of the right kind.
func FuzzEstimate(f *testing.F) {
	add := func(method, d uint8, lw bool, values ...float64) {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(method, d, lw, b)
	}
	add(0, 2, false, 1, 2, 3, 5, 7, 4)
	add(1, 2, true, 1, 2, 1, 5, 7, 4)
	add(2, 3, false, 1e308, -1e308, 5e-324, -1e308, 1e308, 0)
	add(3, 1, true, 1e-160, 2e-160, 1e160)
	add(3, 2, true, math.NaN(), math.Inf(1))
	f.Fuzz(func(t *testing.T, method, d uint8, lw bool, data []byte) {
		m := methods[int(method)%len(methods)]
		n := 1 + int(d)%6
		var rows []float64
		for ; len(data) >= 8; data = data[8:] {
			rows = append(rows, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		rows = rows[:len(rows)/n*n]
		r, err := covariance.Estimate(t.Context(), covariance.NewTable(rows, n), n, covariance.Settings{Method: m, LedoitWolf: lw, Engine: dense.Gonum{}})
		if err != nil {
			return
		}
		if !r.S.Finite() || r.S.Asymmetry() != 0 {
			t.Fatalf("S = %v", r.S.Raw())
		}
		for j := range n {
			if v := r.S.At(j, j); m == covariance.Covariance && !(v > 0) || m != covariance.Covariance && v != 1 {
				t.Fatalf("diagonal entry %d is %v", j, v)
			}
			if !(r.StdDevs[j] > 0) || math.IsInf(r.StdDevs[j], 0) || r.Means[j]-r.Means[j] != 0 {
				t.Fatalf("column %d: mean %v, standard deviation %v", j, r.Means[j], r.StdDevs[j])
			}
		}
		if !(r.Shrinkage >= 0 && r.Shrinkage <= 1) {
			t.Fatalf("weight %v", r.Shrinkage)
		}
	})
}
