package arrowio

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// checkDecimal compares what parseDecimal makes of text with strconv.
func checkDecimal(t *testing.T, text string) (taken bool) {
	t.Helper()
	v, n, ok := parseDecimal([]byte(text), ',')
	if !ok {
		return false
	}
	cell, _, _ := strings.Cut(text, ",")
	want, err := strconv.ParseFloat(cell, 64)
	if err != nil || n != len(cell) || math.Float64bits(v) != math.Float64bits(want) {
		t.Fatalf("%q: %v, %d bytes; want %v, %d, %v", text, v, n, want, len(cell), err)
	}
	return true
}

// Numbers are read to the last bit as strconv reads them, and those that programs
// write take the short way.
func TestParseDecimal(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "-1", "0.5", ".5", "5.", "-.5", "00012", "0.1", "123456789012345678", "9999999999999999999", "18446744073709551615",
		"0.30000000000000004", "0.1234567890123456789", "9007199254740993", "9007199254740992.5", "9007199254740993.00000001", "1e3", "1e-3",
		"1.5E-05", "12345678", "1234567.8", "0.00000001", "99999999.99999999", "8.5e-10", "4503599627370496.5", "4503599627370497.5",
	} {
		if !checkDecimal(t, text) && len(strings.Trim(text, "-.")) <= mostDigits && !strings.Contains(text, "e3") && text != "18446744073709551615" {
			t.Errorf("%q is not taken", text)
		}
		checkDecimal(t, text+",7")
	}
	for _, text := range []string{"", "-", ".", "+1", "e5", "1e", "1e+", "1.2.3", "0x1p3", "nan", "Inf", "1_0", "1 ", "12345678901234567890123", "1e9999", "12345678a", "1e-0005"} {
		if _, _, ok := parseDecimal([]byte(text), ','); ok {
			t.Errorf("%q is taken", text)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	taken := 0
	const tries = 200_000
	for range tries {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(9)-4))
		var text string
		switch rng.IntN(4) {
		case 0:
			text = strconv.FormatFloat(v, 'f', -1, 64)
		case 1:
			text = strconv.FormatFloat(v, 'f', rng.IntN(12), 64)
		case 2:
			text = strconv.FormatFloat(v, 'e', rng.IntN(17), 64)
		default:
			// Half way between two float64, and next to it.
			half := math.Ldexp(float64(2*rng.Uint64N(1<<53)+1), -rng.IntN(12)-1)
			text = fmt.Sprintf("%.*f", rng.IntN(12), half)
		}
		if checkDecimal(t, text) {
			taken++
		}
	}
	if taken < tries*6/10 {
		t.Errorf("%d of %d are taken", taken, tries)
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"1.5", "-0.30000000000000004", "1e-5,2", "123456789.123456789", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkDecimal(t, text) })
}
