package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gladflow/gladflow/solver/glad/card"
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

// MarshalJSON writes a single number without brackets, as in a model's card.
func (c Counts) MarshalJSON() ([]byte, error) { return card.Counts(c).MarshalJSON() }

// UnmarshalJSON reads a number or a list of numbers.
func (c *Counts) UnmarshalJSON(b []byte) error {
	if (*card.Counts)(c).UnmarshalJSON(b) != nil {
		return errors.New("neither a whole number nor a list of them")
	}
	return nil
}
