package job

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Value is a number or a word that stands for one, as its text. In JSON and
// YAML it is either.
type Value string

// Number returns the number, and whether v is one that is finite.
func (v Value) Number() (float64, bool) {
	x, err := strconv.ParseFloat(string(v), 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// MarshalJSON writes numbers as numbers and words as strings.
func (v Value) MarshalJSON() ([]byte, error) {
	if x, ok := v.Number(); ok {
		return json.Marshal(x)
	}
	return json.Marshal(string(v))
}

// UnmarshalJSON reads a number or a string.
func (v *Value) UnmarshalJSON(b []byte) error {
	var number json.Number
	if err := json.Unmarshal(b, &number); err == nil {
		*v = Value(number)
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("%s is neither a number nor a string", b)
	}
	*v = Value(s)
	return nil
}

// MarshalYAML writes numbers as numbers and words as strings.
func (v Value) MarshalYAML() (any, error) {
	if x, ok := v.Number(); ok {
		return x, nil
	}
	return string(v), nil
}

// A Duration is a time.Duration that is written as people write it: 90s, 2m,
// 1h30m.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes 1m30s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration; write it as 90s, 2m or 1h30m", b)
	}
	*d = Duration(v)
	return nil
}
