package arrowio

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unsafe"
)

// mostDigits is the number of decimal digits that a uint64 always holds, and the
// largest power of ten that it holds.
const mostDigits = 19

var powersOfTen = func() (p [mostDigits + 1]uint64) {
	p[0] = 1
	for i := range mostDigits {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// parseDecimal is strconv.ParseFloat of the cell at the beginning of text, n bytes up
// to the delimiter or the end, for what nearly all cells are: a sign, digits with or
// without a point, and an exponent. It is not ok for every other cell.
//
// The value is w/10^k with whole numbers below 2⁶⁴, which are divided as such: see
// quotient.
func parseDecimal(text []byte, comma byte) (v float64, n int, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		n++
	}
	var w uint64
	first := n
	n = digits(text, n, &w)
	seen, k := n-first, 0
	if n < len(text) && text[n] == '.' {
		point := n + 1
		n = digits(text, point, &w)
		k = n - point
		seen += k
	}
	if seen == 0 || seen > mostDigits {
		return 0, 0, false
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		var power int
		if power, n, ok = exponent(text, n+1); !ok {
			return 0, 0, false
		}
		k -= power
	}
	if n < len(text) && text[n] != comma || k < 0 || k > mostDigits {
		return 0, 0, false
	}
	v = quotient(w, k)
	if negative {
		v = -v
	}
	return v, n, true
}

// digits appends the digits of text from n on to w, which may overflow after 19 of
// them, and returns where they end.
func digits(text []byte, n int, w *uint64) int {
	v := *w
	for len(text)-n >= 8 {
		eight := binary.LittleEndian.Uint64(text[n:])
		if !areDigits(eight) {
			break
		}
		v = 1e8*v + valueOf(eight)
		n += 8
	}
	for n < len(text) && text[n]-'0' <= 9 {
		v = 10*v + uint64(text[n]-'0')
		n++
	}
	*w = v
	return n
}

// areDigits reports whether eight bytes are digits: the upper half of each is 3, also
// once 6 is added.
func areDigits(eight uint64) bool {
	return eight&0xF0F0F0F0F0F0F0F0|(eight+0x0606060606060606)&0xF0F0F0F0F0F0F0F0>>4 == 0x3333333333333333
}

// valueOf is the number that eight digits are, the first in the lowest byte: pairs of
// digits, then of those pairs, then of those.
func valueOf(eight uint64) uint64 {
	eight -= 0x3030303030303030
	eight = eight*10 + eight>>8
	const pairs = 0x000000FF000000FF
	return ((eight&pairs)*(100+1000000<<32) + (eight>>16&pairs)*(1+10000<<32)) >> 32
}

// exponent reads a sign and one to three digits from n on, and returns where they end.
func exponent(text []byte, n int) (power, end int, ok bool) {
	sign := 1
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		if text[n] == '-' {
			sign = -1
		}
		n++
	}
	first := n
	for n < len(text) && n < first+3 && text[n]-'0' <= 9 {
		power = 10*power + int(text[n]-'0')
		n++
	}
	return sign * power, n, n > first
}

// quotient is w/10^k, rounded to the nearest float64, k from 0 to 19. Both numbers are
// shifted until their highest bits are set, so that the whole quotient has 63 bits at
// least; a remainder counts as a last bit, which is all that rounding to 53 needs.
func quotient(w uint64, k int) float64 {
	if k == 0 || w == 0 {
		return float64(w)
	}
	by := powersOfTen[k]
	up, upBy := bits.LeadingZeros64(w), bits.LeadingZeros64(by)
	w <<= up
	q, rest := bits.Div64(w>>1, w<<63, by<<upBy)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63+upBy-up)<<52)
}

// parseFloat is strconv.ParseFloat of a cell.
func parseFloat(cell []byte) (float64, error) {
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(cell), len(cell)), 64)
	if err != nil {
		// The error keeps the text, which the reader will overwrite.
		var number *strconv.NumError
		if errors.As(err, &number) {
			number.Num = string(slices.Clone(cell))
		}
	}
	return v, err
}
