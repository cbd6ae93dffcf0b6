package pipelines

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Field describes one field of a document, a *Job or an *Evaluation, for
// those who make flags or forms of it.
type Field struct {
	// Key is the name in the document, such as id_column.
	Key string
	// Flag is the name on the command line, such as id-column.
	Flag string
	// Description is one line.
	Description string
	// Default is the text of the default; empty where the default is none.
	Default string
	// Choices are the words that are allowed; nil where others are.
	Choices []string
	// Kind is what the text must be.
	Kind FieldKind
}

// FieldKind is what the text of a field must be.
type FieldKind string

// Kinds of fields.
const (
	TextField     FieldKind = "text"
	NumberField   FieldKind = "number"
	IntegerField  FieldKind = "integer"
	BooleanField  FieldKind = "boolean"
	ListField     FieldKind = "list"     // of words, separated by commas
	DurationField FieldKind = "duration" // such as 90s
	ValueField    FieldKind = "number or word"
)

// Fields describes the fields of document, a pointer to a Job or an Evaluation,
// in their order.
func Fields(document any) []Field {
	schema := schemaOf(document)
	t := reflect.TypeOf(document).Elem()
	fields := make([]Field, t.NumField())
	for i := range fields {
		key := keyOf(t.Field(i))
		property, _ := schema.Properties.Get(key)
		f := Field{
			Key:         key,
			Flag:        strings.ReplaceAll(key, "_", "-"),
			Description: property.Description,
			Kind:        kindOf(t.Field(i).Type),
		}
		if property.Default != nil {
			f.Default = textOf(property.Default)
		}
		for _, c := range property.Enum {
			f.Choices = append(f.Choices, textOf(c))
		}
		fields[i] = f
	}
	return fields
}

// textOf writes a value of a schema as Set reads it.
func textOf(v any) string {
	if list, ok := v.([]any); ok {
		words := make([]string, len(list))
		for i, w := range list {
			words[i] = textOf(w)
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(v)
}

func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

func kindOf(t reflect.Type) FieldKind {
	switch t {
	case reflect.TypeFor[Value]():
		return ValueField
	case reflect.TypeFor[Duration]():
		return DurationField
	}
	switch t.Kind() {
	case reflect.Bool:
		return BooleanField
	case reflect.Int:
		return IntegerField
	case reflect.Float64:
		return NumberField
	case reflect.Slice:
		return ListField
	}
	return TextField
}

// Set reads text into the field of document, a pointer to a Job or an
// Evaluation, that has the given key. Text that is not of the field's kind and
// unknown keys are JobErrors. Whether the value makes sense is left to
// Validate.
func Set(document any, key, text string) error {
	v := reflect.ValueOf(document).Elem()
	for i := range v.NumField() {
		if keyOf(v.Type().Field(i)) == key {
			if reason := setText(v.Field(i), text); reason != "" {
				return wrong(key, "%s", reason)
			}
			return nil
		}
	}
	return wrong(key, "the key is unknown%s", Suggestion(key, keysOf(v.Type())))
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		keys = append(keys, keyOf(t.Field(i)))
	}
	return keys
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
	default:
		field.SetString(text)
	}
	return ""
}

// fillDefaults sets the fields of document that are zero to their defaults.
func fillDefaults(document any) {
	v := reflect.ValueOf(document).Elem()
	for i, f := range Fields(document) {
		if f.Default != "" && v.Field(i).IsZero() {
			setText(v.Field(i), f.Default)
		}
	}
}

// checkChoices reports the first field that holds a word not among its choices.
func checkChoices(document any) error {
	v := reflect.ValueOf(document).Elem()
	for i, f := range Fields(document) {
		word := v.Field(i)
		if f.Choices == nil || word.IsZero() || slices.Contains(f.Choices, word.String()) {
			continue
		}
		return wrong(f.Key, "%q is unknown; choose %s", word.String(), oneOf(f.Choices))
	}
	return nil
}

// oneOf is "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Suggestion is "; did you mean x?" for the known word nearest to a mistyped
// one, or nothing where none is near.
func Suggestion(word string, known []string) string {
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if n := distance(word, k); n <= least {
			best, least = k, n-1
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is that of Levenshtein, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
