package job

import (
	"encoding/json"
	"math"
)

// A Float is a float64 that is null in JSON where it is not finite.
type Float float64

// NaN stands for a number that is not known.
func NaN() Float { return Float(math.NaN()) }

// IsFinite reports whether f is a number and not infinite.
func (f Float) IsFinite() bool { return f-f == 0 }

// MarshalJSON writes a number or null.
func (f Float) MarshalJSON() ([]byte, error) {
	if !f.IsFinite() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as NaN.
func (f *Float) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = NaN()
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}
