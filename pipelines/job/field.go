package job

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/arrowio/uri"
)

// A Field describes one field of a document, such as a *Job, for those who make
// flags or forms of it.
type Field struct {
	// Key is the name in the document, such as id_column.
	Key string
	// Flag is the name on the command line, such as id-column, by the tag flag if
	// there is one.
	Flag string
	// Description is one line.
	Description string
	// Default is the text of the default; empty where the default is none.
	Default string
	// Bare is what the flag means without a value, by the tag bare; empty where it needs
	// one.
	Bare string
	// Maximum is the text of the largest number; empty where there is none.
	Maximum string
	// Pattern is what a value may be besides, by the tag's pattern; empty for none.
	Pattern string
	// Choices are the only words that are allowed; nil where others are.
	Choices []string
	// Words are those of a list or, besides a number, of a value; nil where
	// they are not known.
	Words []string
	// File says whether the field names files.
	File File
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
	ListField     FieldKind = "list"     // of words or numbers, separated by commas
	DurationField FieldKind = "duration" // such as 90s
	ValueField    FieldKind = "number or word"
	MapField      FieldKind = "map of texts"
)

// Fields describes the fields of document, a pointer to a Job or another
// document, in their order.
func Fields(document any, known Facts) []Field {
	var fields []Field
	for _, f := range structFields(reflect.TypeOf(document).Elem()) {
		fields = append(fields, fieldOf(f, known))
	}
	return fields
}

// Choices lists the only words that a field of document, a pointer to a Job or
// another document, may hold by its tags; nil where others are allowed.
func Choices(document any, key string) []string {
	for _, f := range Fields(document, Facts{}) {
		if f.Key == key {
			return f.Choices
		}
	}
	return nil
}

func fieldOf(s reflect.StructField, known Facts) Field {
	key := keyOf(s)
	f := Field{
		Key:         key,
		Flag:        cmp.Or(s.Tag.Get("flag"), FlagName(key)),
		Description: s.Tag.Get("jsonschema_description"),
		File:        File(s.Tag.Get("file")),
		Bare:        s.Tag.Get("bare"),
		Kind:        kindOf(s.Type),
	}
	var defaults []string
	for option := range strings.SplitSeq(s.Tag.Get("jsonschema"), ",") {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "enum":
			f.Choices = append(f.Choices, value)
		case "default":
			defaults = append(defaults, value)
		case "maximum":
			f.Maximum = value
		case "pattern":
			f.Pattern = value
		}
	}
	f.Default = strings.Join(defaults, ",")
	if text, ok := known.Defaults[key]; ok {
		f.Default = text
	}
	words := known.Words[key]
	if text := s.Tag.Get("words"); text != "" {
		words = strings.Split(text, ",")
	}
	if f.Kind == TextField && f.File == NoFile && words != nil {
		f.Choices = words
	} else {
		f.Words = words
	}
	named := OneOf(f.Words)
	if named == "" {
		named = "a word"
	}
	f.Description = strings.ReplaceAll(f.Description, wordsMark, named)
	return f
}

// wordsMark stands, in the description of a field, for the words that it may hold.
const wordsMark = "{words}"

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
	case reflect.Map:
		return MapField
	}
	return TextField
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range structFields(t) {
		keys = append(keys, keyOf(f))
	}
	return keys
}

// structFields are the fields of a document, those of what is embedded in its place.
func structFields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Anonymous })
}

// eachField visits the fields of document, a pointer, with their values.
func eachField(document any, visit func(f reflect.StructField, v reflect.Value)) {
	v := reflect.ValueOf(document).Elem()
	for _, f := range structFields(v.Type()) {
		visit(f, v.FieldByIndex(f.Index))
	}
}

// Given lists the keys of the fields of document, a pointer to a Job or another
// document, that are not zero, in their order.
func Given(document any) []string {
	var keys []string
	eachField(document, func(f reflect.StructField, v reflect.Value) {
		if !v.IsZero() {
			keys = append(keys, keyOf(f))
		}
	})
	return keys
}

// Resolve sets the fields of document, a pointer to a Job or another document,
// that are zero to their defaults.
func Resolve(document any, known Facts) {
	eachField(document, func(s reflect.StructField, v reflect.Value) {
		if f := fieldOf(s, known); f.Default != "" && v.IsZero() {
			setText(v, f.Default)
		}
	})
}

// CheckFields reports, as an *Error, the first field of document, a pointer to a
// Job or another document, that holds a word not among its choices, or a URL where
// a file or a folder is written: there are no outputs to stores.
func CheckFields(document any, known Facts) error {
	v := reflect.ValueOf(document).Elem()
	for _, s := range structFields(v.Type()) {
		f, word := fieldOf(s, known), v.FieldByIndex(s.Index)
		if (f.File == WriteFile || f.File == WriteFolder) && uri.Is(word.String()) {
			return Errorf(f.Key, "%q is a URL, and files are written on this machine only; name a path", word.String())
		}
		if f.Choices == nil || word.IsZero() || slices.Contains(f.Choices, word.String()) {
			continue
		}
		return Errorf(f.Key, "%q is unknown; choose %s", word.String(), OneOf(f.Choices))
	}
	return nil
}
