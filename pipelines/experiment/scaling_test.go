package experiment

import (
	"math"
	"slices"
	"testing"

	"github.com/gladflow/gladflow/pipelines/recovery"
)

func TestExponent(t *testing.T) {
	g := growth{}
	for i, size := range []int{10, 100, 200, 400, 800} {
		v := 3e-7 * math.Pow(float64(size), 2.5)
		if i == 0 {
			v = 1 // a small size, which the fit leaves out
		}
		g.add(size, v, math.NaN())
	}
	slope, standardError := g.exponent(g.seconds, 100)
	if math.Abs(slope-2.5) > 1e-12 || standardError > 1e-12 {
		t.Errorf("%v ± %v for a power of 2.5", slope, standardError)
	}
	// One of four points is twice as much: by hand from the least squares of logarithms.
	g.seconds[4] *= 2
	slope, standardError = g.exponent(g.seconds, 100)
	if want := 2.5 + 0.3; math.Abs(slope-want) > 1e-12 || math.Abs(standardError-math.Sqrt(0.03)) > 1e-12 {
		t.Errorf("%v ± %v, want %v ± %v", slope, standardError, want, math.Sqrt(0.03))
	}
	if slope, _ := g.exponent(g.seconds, 400); !math.IsNaN(slope) {
		t.Errorf("two points have the slope %v", slope)
	}
	if slope, _ := g.exponent(g.bytes, 100); !math.IsNaN(slope) {
		t.Errorf("unknown sizes have the slope %v", slope)
	}
	if got := g.next(1600); math.Abs(got-8*g.seconds[4]) > 1e-9*got {
		t.Errorf("twice the size may take %v s after %v", got, g.seconds[4])
	}
}

func TestScalingMeasuresEverySolver(t *testing.T) {
	rep := quick(t, scaling())
	work, seconds, megabytes := column[string](t, rep, "work"), column[float64](t, rep, "seconds"), column[float64](t, rep, "megabytes")
	for _, name := range append(recovery.SelfSufficient(), "reading parquet", "reading csv") {
		if !slices.Contains(work, name) {
			t.Errorf("%s is not measured", name)
		}
	}
	for i, name := range work {
		if !(seconds[i] > 0) || megabytes[i] < 0 {
			t.Errorf("%s: %v s, %v MB", name, seconds[i], megabytes[i])
		}
	}
}

func TestPeak(t *testing.T) {
	grown := watchPeak()
	if math.IsNaN(grown()) {
		t.Skip("this system does not tell the peak of a process")
	}
	const size = 64 << 20
	block := make([]byte, size)
	for i := range block {
		block[i] = byte(i)
	}
	// Some of the block may be memory that Go has kept from before.
	if got := grown(); got < 0.9*size || got > 3*size {
		t.Errorf("%v bytes for a block of %d", got, len(block))
	}
	// What was taken before does not count.
	block = nil
	if got := watchPeak()(); got > size/2 {
		t.Errorf("%v bytes for nothing", got)
	}
	_ = block
}
