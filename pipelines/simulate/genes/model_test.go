package genes

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Noise moves h by what is asked for, keeps order and stays below 1.
func TestDisplace(t *testing.T) {
	h := func(x float64) float64 { return math.Log(x) + fade*x/(1-x) }
	rng := source(1)
	for range 2000 {
		x := rng.Float64()
		if rng.IntN(2) == 0 {
			x = 1 - math.Pow(10, -6*rng.Float64())
		}
		by := rng.NormFloat64()
		y := displace(x, by)
		if y > most || y <= 0 {
			t.Fatalf("%v moved by %v is %v", x, by, y)
		}
		if x < most && y < most*.999999 && math.Abs(h(y)-h(x)-by) > 1e-8*max(1, math.Abs(h(y))) {
			t.Errorf("%v moved by %v is %v: h moved by %v", x, by, y, h(y)-h(x))
		}
		if (y-min(x, most))*by < 0 {
			t.Errorf("%v moved by %v is %v", x, by, y)
		}
		if back := displace(y, -by); y < most && math.Abs(back-min(x, most)) > 1e-8 {
			t.Errorf("%v moved by %v and back is %v", x, by, back)
		}
	}
	if y := displace(0, .3); y != 0 {
		t.Errorf("0 moved is %v", y)
	}
	if y := displace(1, 0); y != most {
		t.Errorf("1 left in place is %v", y)
	}
	// Far below 1 noise is log-normal.
	if y := displace(.001, .2); math.Abs(y-.001*math.Exp(.2)) > 1e-5 {
		t.Errorf(".001 moved by .2 is %v", y)
	}
}

func hillLaw(signs ...int8) Law {
	l := Law{Form: Hill, Signs: signs, Basal: .2}
	for range signs {
		l.Half, l.Exponent, l.Strength = append(l.Half, .5), append(l.Exponent, 1), append(l.Strength, 4)
	}
	return l
}

// A toy: a feeds b, b and c feed each other and d regulates itself; e follows a.
func toy() *Model {
	return &Model{
		Names:      []string{"a", "b", "c", "d", "e", "f", "g"},
		Regulators: [][]int{{0}, {0, 2}, {1}, {2, 3}, nil, nil, {5}},
		Laws:       []Law{{}, hillLaw(1, -1), hillLaw(1), hillLaw(1, -1), {}, {}, hillLaw(1)},
		Listed:     []int{0, 1, 2, 4},
		Background: 2,
		Leaders:    []int{-1, -1, -1, -1, 0, -1, -1},
	}
}

func TestSample(t *testing.T) {
	m := toy()
	s, err := m.Sample(source(3), Conditions{Samples: 50})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, s)
	want := []Edge{{0, 1, 1}, {1, 2, 1}, {2, 1, -1}, {2, 3, 1}}
	if !reflect.DeepEqual(s.Edges, want) || s.Background != 2 {
		t.Errorf("edges %+v, background %d", s.Edges, s.Background)
	}
	x := s.columns()
	for r := range s.Rows {
		// The steady state, without noise.
		for j, regulators := range m.Regulators[:5] {
			if m.input(j) {
				continue
			}
			var in []float64
			for _, i := range regulators {
				in = append(in, x[i][r])
			}
			l := m.Laws[j].rescaled()
			if v := l.rate(in); math.Abs(v-x[j][r]) > 1e-7 {
				t.Errorf("sample %d: %s is %v, its law says %v", r, m.Names[j], x[j][r], v)
			}
		}
		if math.Abs(x[4][r]-(1-x[0][r])) > 1e-6 {
			t.Errorf("sample %d: the follower is %v of %v", r, x[4][r], x[0][r])
		}
	}
	again, err := m.Sample(source(3), Conditions{Samples: 50})
	if err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("another table with the same seed (%v)", err)
	}
}

// The background varies by noise alone, and Highest scales every gene.
func TestSampleNoise(t *testing.T) {
	m := toy()
	m.Highest = []float64{1, 1, 1, 1, 1, 1000, 1}
	s, err := m.Sample(source(4), Conditions{Samples: 4000, Biological: .1, Measurement: .05, Input: .1})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range map[int]float64{5: .05, 6: math.Hypot(.1, .05)} {
		var z []float64
		for r := range s.Rows {
			v := s.Values[r*len(m.Names)+j]
			if j == 5 {
				v /= 1000
			}
			z = append(z, math.Log(v)+fade*v/(1-v))
		}
		mean, sum := 0.0, 0.0
		for _, v := range z {
			mean += v / float64(len(z))
		}
		for _, v := range z {
			sum += (v - mean) * (v - mean) / float64(len(z))
		}
		if sd := math.Sqrt(sum); math.Abs(sd-want) > .05*want {
			t.Errorf("%s: noise of %v, want %v", m.Names[j], sd, want)
		}
	}
	if low := slices.Min(s.columns()[5]); low < 2 {
		t.Errorf("gene f is not scaled: %v", low)
	}
}

func TestModelRefuses(t *testing.T) {
	good := Conditions{Samples: 10}
	for _, c := range []struct {
		change func(m *Model, c *Conditions)
		want   string
	}{
		{func(m *Model, _ *Conditions) { m.Laws = m.Laws[1:] }, "not of one length"},
		{func(m *Model, _ *Conditions) { m.Regulators[1] = []int{0, 9} }, "the regulator 9 of 7 genes"},
		{func(m *Model, _ *Conditions) { m.Regulators[1] = []int{2, 2} }, "the regulator c twice"},
		{func(m *Model, _ *Conditions) { m.Regulators[6] = []int{0} }, "one of them is background"},
		{func(m *Model, _ *Conditions) { m.Laws[2].Half[0] = 0 }, "a parameter that is not positive"},
		{func(m *Model, _ *Conditions) { m.Laws[2].Signs = []int8{1, 1} }, "for 1 regulators"},
		{func(m *Model, _ *Conditions) { m.Laws[1].Form = Synergy }, "of two activators"},
		{func(m *Model, _ *Conditions) { m.Laws[1].Form = "sum" }, `no form of law is named "sum"`},
		{func(m *Model, _ *Conditions) { m.Laws[2].Strength[0] = 0 }, "does not depend on"},
		{func(m *Model, _ *Conditions) { m.Leaders[0] = 4 }, "only inputs follow"},
		{func(_ *Model, c *Conditions) { c.Samples = 1 }, "1 samples are too few"},
		{func(_ *Model, c *Conditions) { c.Input = math.NaN() }, "no standard deviation"},
		{func(_ *Model, c *Conditions) { c.Biological = -1 }, "-1 is no standard deviation"},
	} {
		m, conditions := toy(), good
		c.change(m, &conditions)
		if _, err := m.Sample(source(1), conditions); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}
