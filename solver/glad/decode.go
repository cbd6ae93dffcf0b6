package glad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// A value is JSON as it stands in the file: object, list, json.Number, string,
// bool or nil. Decoding into structs by package json would accept keys in any
// case, repeated or missing, and could not say where the error is.
type (
	value  any
	object map[string]value
	list   []value
)

// depthLimit is the nesting that parse follows; a model needs six levels.
const depthLimit = 16

func parse(data []byte) (value, error) {
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

func parseValue(dec *json.Decoder, path string, depth int) (value, error) {
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
		o := object{}
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
		l := list{}
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

// A decoder takes values apart and remembers the first error; after it, its
// methods return zeros.
type decoder struct{ err error }

func (d *decoder) fail(path, format string, args ...any) {
	if d.err == nil {
		if path == "" {
			path = "the file"
		}
		d.err = invalid(path, format, args...)
	}
}

// as returns v as a T, or fails with what it should have been.
func as[T any](d *decoder, path string, v value, want string) T {
	t, ok := v.(T)
	if !ok {
		d.fail(path, "must be %s", want)
	}
	return t
}

func (d *decoder) object(path string, v value) object {
	return as[object](d, path, v, "a JSON object")
}

func (d *decoder) list(path string, v value) list { return as[list](d, path, v, "a list") }

func (d *decoder) text(path string, v value) string { return as[string](d, path, v, "a string") }

func (d *decoder) boolean(path string, v value) bool {
	return as[bool](d, path, v, "true or false")
}

// key is the value of a key that must be there.
func (d *decoder) key(o object, path, key string) value {
	v, ok := o[key]
	if !ok {
		d.fail(join(path, key), "is missing")
	}
	return v
}

// keys fails unless o has every required key and no others than these and the
// optional ones.
func (d *decoder) keys(o object, path string, required, optional []string) {
	var unknown []string
	for key := range o {
		if !slices.Contains(required, key) && !slices.Contains(optional, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		d.fail(join(path, slices.Min(unknown)), "is not a key of model files; remove it or correct its spelling")
	}
	for _, key := range required {
		d.key(o, path, key)
	}
}

func (d *decoder) number(path string, v value) float64 {
	n := as[json.Number](d, path, v, "a number")
	if d.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil {
		d.fail(path, "is %s, which float64 cannot hold; it must be finite", n)
		return 0
	}
	return f
}

func (d *decoder) numbers(path string, v value) []float64 {
	var f []float64
	for i, v := range d.list(path, v) {
		f = append(f, d.number(fmt.Sprintf("%s[%d]", path, i), v))
	}
	return f
}

func (d *decoder) integer(path string, v value) int {
	n := as[json.Number](d, path, v, "a whole number")
	if d.err != nil {
		return 0
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		d.fail(path, "is %s; it must be a whole number", n)
	}
	return i
}

func (d *decoder) unsigned(path string, v value) uint64 {
	n := as[json.Number](d, path, v, "a whole number")
	if d.err != nil {
		return 0
	}
	i, err := strconv.ParseUint(n.String(), 10, 64)
	if err != nil {
		d.fail(path, "is %s; it must be a whole number that is not negative", n)
	}
	return i
}
