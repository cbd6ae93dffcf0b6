package job

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Set reads text into the field of document, a pointer to a Job or another
// document, that has the given key. Text that is not of the field's kind and
// unknown keys are Errors. Whether the value makes sense is left to
// Validate. Text for a map is one KEY=VALUE, which is added to it.
func Set(document any, key, text string) error {
	field, found := fieldByKey(document, key)
	if !found {
		return Errorf(key, "the key is unknown%s", Suggestion(key, keysOf(reflect.TypeOf(document).Elem())))
	}
	if reason := setText(field, text); reason != "" {
		return Errorf(key, "%s", reason)
	}
	return nil
}

func fieldByKey(document any, key string) (field reflect.Value, found bool) {
	eachField(document, func(f reflect.StructField, v reflect.Value) {
		if keyOf(f) == key {
			field, found = v, true
		}
	})
	return field, found
}

// setText returns why text cannot be read, or nothing.
func setText(field reflect.Value, text string) string {
	if u, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return err.Error()
		}
		return ""
	}
	switch field.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Sprintf("%q is neither true nor false", text)
		}
		field.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Sprintf("%q is not a whole number", text)
		}
		field.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Sprintf("%q is not a number", text)
		}
		field.SetFloat(x)
	case reflect.Slice:
		var words []string
		for w := range strings.SplitSeq(text, ",") {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		field.Set(reflect.ValueOf(words))
	case reflect.Map:
		return addPair(field, text)
	default:
		field.SetString(text)
	}
	return ""
}
