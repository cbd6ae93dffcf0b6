package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func sample() Figure {
	return Figure{
		Title: "A figure of every kind of panel",
		Panels: []Panel{
			Lines{
				Title: "lines", X: "iteration", Y: "NMSE (dB)", LogX: true,
				Series: []Series{
					{Name: "GLAD", X: []float64{1, 2, 5, 10}, Y: []float64{-2, -5, math.NaN(), -8}, Error: []float64{.3, .4, .2, math.NaN()}},
					{Name: "ADMM", X: []float64{0, 1, 10}, Y: []float64{-100, -1, -6}},
				},
				Rules: []Rule{{Name: "Bayes limit", Y: -9}},
			},
			Heat{
				Title: "heat", X: "λ", Y: "ρ", Columns: []string{"5", "1"}, Rows: []string{"0.01", "0.03"},
				Values: [][]float64{{-1.23, -8}, {math.NaN(), -3}}, Decimals: 1,
			},
			Bars{
				Title: "bars", Y: "AUC", Groups: []string{"M=15", "M=35"}, Low: 0.5, High: 0.8,
				Bars: []Bar{{Name: "GLAD", Values: []float64{.6, .7}, Error: []float64{.01, .02}}, {Name: "ceiling", Values: []float64{.62, math.NaN()}}},
			},
		},
	}
}

// texts are the words of an SVG, which must be XML.
func texts(t *testing.T, data []byte) string {
	t.Helper()
	var words []string
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return strings.Join(words, "\n")
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		if c, ok := token.(xml.CharData); ok {
			words = append(words, string(c))
		}
	}
}

func TestSVGHoldsEveryWord(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Encode(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	got := texts(t, b.Bytes())
	for _, want := range []string{"A figure of every kind of panel", "NMSE (dB)", "iteration", "Bayes limit", "GLAD", "ceiling", "−1.2", "−8.0", "M=15", "0.03"} {
		if !strings.Contains(got, want) {
			t.Errorf("the figure does not say %q", want)
		}
	}
	if n := strings.Count(got, "GLAD"); n != 1 {
		t.Errorf("GLAD stands in the legend %d times", n)
	}
	if strings.Contains(b.String(), "NaN") {
		t.Error("NaN is drawn")
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	for _, format := range []string{"svg", "png"} {
		var a, b bytes.Buffer
		if err := errors.Join(sample().Encode(&a, format), sample().Encode(&b, format)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("two %s of one figure differ", format)
		}
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figure")
	if err := sample().Write(path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path + ".png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	// Three panels are wider than high, and something is drawn.
	size := img.Bounds().Size()
	if size.X < 2*size.Y {
		t.Errorf("the figure is %v", size)
	}
	dark := 0
	for x := range size.X {
		for y := range size.Y {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
				dark++
			}
		}
	}
	if dark < 1000 {
		t.Errorf("only %d dark pixels", dark)
	}
}

func TestLogTicks(t *testing.T) {
	labels := func(low, high float64) string {
		var words []string
		for _, tick := range (logTicks{}).Ticks(math.Log10(low), math.Log10(high)) {
			if v := math.Pow(10, tick.Value); v < low*(1-1e-6) || v > high*(1+1e-6) {
				t.Errorf("tick %v lies outside [%v, %v]", tick.Value, low, high)
			}
			if tick.Label != "" {
				words = append(words, tick.Label)
			}
		}
		return strings.Join(words, " ")
	}
	for _, tt := range []struct {
		low, high float64
		want      string
	}{
		{1, 50, "1 2 5 10 20 50"},
		{0.2, 5, "0.2 0.5 1 2 5"},
		{1, 1000, "1 10 100 1000"},
		{1e-10, 3, "1e−10 1e−8 1e−6 1e−4 0.01 1"},
	} {
		if got := labels(tt.low, tt.high); got != tt.want {
			t.Errorf("[%v, %v]: %s, want %s", tt.low, tt.high, got, tt.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, f := range map[string]Figure{
		"no panels":       {},
		"no nodes":        {Panels: []Panel{Network{}}},
		"no such node":    {Panels: []Panel{Network{Nodes: []string{"a"}, Links: []Links{{Pairs: [][2]int{{0, 1}}}}}}},
		"no points":       {Panels: []Panel{Lines{Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}}}}}},
		"uneven lines":    {Panels: []Panel{Lines{Series: []Series{{X: []float64{1, 2}, Y: []float64{1}}}}}},
		"uneven heat map": {Panels: []Panel{Heat{Columns: []string{"a"}, Rows: []string{"b"}, Values: [][]float64{{1, 2}}}}},
		"uneven bars":     {Panels: []Panel{Bars{Groups: []string{"a"}, Bars: []Bar{{Values: []float64{1, 2}}}}}},
	} {
		if err := f.Encode(io.Discard, "svg"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := sample().Encode(io.Discard, "gif"); err == nil {
		t.Error("gif is accepted")
	}
	path := filepath.Join(t.TempDir(), "figure")
	if err := (Figure{}).Write(path); err == nil {
		t.Error("an empty figure is written")
	}
	if files, _ := filepath.Glob(path + "*"); len(files) > 0 {
		t.Errorf("a failure leaves %v", files)
	}
}
