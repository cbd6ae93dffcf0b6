package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Counts are one or several positive numbers: 100, or 20,100,500.
type Counts []int

// String is the numbers, separated by commas.
func (c Counts) String() string {
	words := make([]string, len(c))
	for i, n := range c {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// UnmarshalText reads what String writes.
func (c *Counts) UnmarshalText(b []byte) error {
	*c = nil
	for word := range strings.SplitSeq(string(b), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return fmt.Errorf("%q is not a whole number; write one, or several as 20,100,500", strings.TrimSpace(word))
		}
		*c = append(*c, n)
	}
	return nil
}

// MarshalJSON writes a single number without brackets.
func (c Counts) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]int(c))
}

// UnmarshalJSON reads a number or a list of numbers.
func (c *Counts) UnmarshalJSON(b []byte) error {
	var n int
	if json.Unmarshal(b, &n) == nil {
		*c = Counts{n}
		return nil
	}
	var several []int
	if json.Unmarshal(b, &several) != nil {
		return errors.New("neither a whole number nor a list of them")
	}
	*c = several
	return nil
}
