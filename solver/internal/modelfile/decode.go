// Package modelfile reads and writes the JSON of model files: strictly, with errors
// that name the key.
package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// A Value is JSON as it stands in the file: Object, List, json.Number, string,
// bool or nil. Decoding into structs by package json would accept keys in any
// case, repeated or missing, and could not say where the error is.
type (
	Value  any
	Object map[string]Value
	List   []Value
)

// depthLimit is the nesting that parse follows; a model needs six levels.
const depthLimit = 16

func parse(data []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseValue(dec, "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return v, nil
}

func parseValue(dec *json.Decoder, path string, depth int) (Value, error) {
	if depth > depthLimit {
		return nil, fmt.Errorf("%s is nested too deeply", path)
	}
	token, err := dec.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the JSON ends too early")
		}
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := Object{}
		for dec.More() {
			token, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key := token.(string)
			at := join(path, key)
			if _, ok := o[key]; ok {
				return nil, fmt.Errorf("%s stands twice", at)
			}
			if o[key], err = parseValue(dec, at, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return o, err
	case json.Delim('['):
		l := List{}
		for dec.More() {
			v, err := parseValue(dec, fmt.Sprintf("%s[%d]", path, len(l)), depth+1)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		_, err := dec.Token()
		return l, err
	}
	return token, nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// A Decoder takes values apart and remembers the first error; after it, its
// methods return zeros.
type Decoder struct{ err error }

// Err is the first error.
func (d *Decoder) Err() error { return d.err }

// Fail notes an error about the key at path; the empty path is the whole file.
func (d *Decoder) Fail(path, format string, args ...any) {
	if d.err == nil {
		if path == "" {
			path = "the file"
		}
		d.err = Invalid(path, format, args...)
	}
}

// as returns v as a T, or fails with what it should have been.
func as[T any](d *Decoder, path string, v Value, want string) T {
	t, ok := v.(T)
	if !ok {
		d.Fail(path, "must be %s", want)
	}
	return t
}

// Object is v, which must be an object.
func (d *Decoder) Object(path string, v Value) Object {
	return as[Object](d, path, v, "a JSON object")
}

// List is v, which must be a list.
func (d *Decoder) List(path string, v Value) List { return as[List](d, path, v, "a list") }

// Text is v, which must be a string.
func (d *Decoder) Text(path string, v Value) string { return as[string](d, path, v, "a string") }

// Boolean is v, which must be true or false.
func (d *Decoder) Boolean(path string, v Value) bool {
	return as[bool](d, path, v, "true or false")
}

// Key is the value of a key that must be there.
func (d *Decoder) Key(o Object, path, key string) Value {
	v, ok := o[key]
	if !ok {
		d.Fail(join(path, key), "is missing")
	}
	return v
}

// Keys fails unless o has every required key and no others than these and the
// optional ones.
func (d *Decoder) Keys(o Object, path string, required, optional []string) {
	var unknown []string
	for key := range o {
		if !slices.Contains(required, key) && !slices.Contains(optional, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		d.Fail(join(path, slices.Min(unknown)), "is not a key of model files; remove it or correct its spelling")
	}
	for _, key := range required {
		d.Key(o, path, key)
	}
}

// Number is v, which must be a number that float64 holds.
func (d *Decoder) Number(path string, v Value) float64 {
	n := as[json.Number](d, path, v, "a number")
	if d.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		d.Fail(path, "is %s, which float64 cannot hold; it must be finite", n)
		return 0
	}
	return f
}

// Numbers is v, which must be a list of numbers.
func (d *Decoder) Numbers(path string, v Value) []float64 {
	var f []float64
	for i, v := range d.List(path, v) {
		f = append(f, d.Number(fmt.Sprintf("%s[%d]", path, i), v))
	}
	return f
}

// Integer is v, which must be a whole number.
func (d *Decoder) Integer(path string, v Value) int {
	n := as[json.Number](d, path, v, "a whole number")
	if d.err != nil {
		return 0
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		d.Fail(path, "is %s; it must be a whole number", n)
	}
	return i
}

// Unsigned is v, which must be a whole number that is not negative.
func (d *Decoder) Unsigned(path string, v Value) uint64 {
	n := as[json.Number](d, path, v, "a whole number")
	if d.err != nil {
		return 0
	}
	i, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		d.Fail(path, "is %s; it must be a whole number that is not negative", n)
	}
	return i
}
