package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag for a number of bytes, such as 64MiB, 1.5GB or 4096.
type byteSize int64

// sizeUnit is a suffix with what it stands for.
type sizeUnit struct {
	name  string
	bytes float64
}

// sizeUnits has the longer suffixes first, as B ends all of them.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
	}
}

// String implements pflag.Value: in the largest unit that leaves no fraction.
func (b *byteSize) String() string {
	best, name := float64(*b), ""
	for _, u := range sizeUnits() {
		if n := float64(*b) / u.bytes; n >= 1 && n == math.Trunc(n) && (name == "" || n < best) {
			best, name = n, u.name
		}
	}
	return strconv.FormatFloat(best, 'f', -1, 64) + name
}

// Set implements pflag.Value.
func (b *byteSize) Set(text string) error {
	number, unit := strings.TrimSpace(text), 1.0
	for _, u := range sizeUnits() {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number, unit = strings.TrimSpace(number[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if bytes := n * unit; err != nil || !(bytes >= 0 && bytes < math.MaxInt64) {
		return fmt.Errorf("%q is no size; write it as 64MiB or 1GB", text)
	} else {
		*b = byteSize(bytes)
	}
	return nil
}

// Type implements pflag.Value.
func (*byteSize) Type() string { return "SIZE" }
