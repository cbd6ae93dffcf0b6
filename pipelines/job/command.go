package job

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Command is the command line of the job, without defaults. known are the defaults of
// the program besides.
func (j Job) Command(known Facts) string {
	j.JSON = false
	if j.Report == j.defaultReport() {
		j.Report = ""
	}
	return commandLine([]string{"gladflow", "recover", shellWord(j.Input)}, &j, known, "input")
}

// Command is the command line of the evaluation, without defaults.
func (e Evaluation) Command() string {
	e.JSON = false
	return commandLine([]string{"gladflow", "evaluate", shellWord(e.EdgeList), shellWord(e.Reference)}, &e, Facts{}, "edge_list", "reference")
}

// Command is the command line of the benchmark, without defaults. known are those of
// the program besides.
func (b Benchmark) Command(known Facts) string {
	b.JSON = false
	return commandLine([]string{"gladflow", "benchmark", shellWord(b.Sets)}, &b, known, "sets")
}

// Command is the command line of the run, without defaults. known are those of the
// program besides.
func (d Dream5) Command(known Facts) string {
	d.JSON = false
	return commandLine([]string{"gladflow", "dream5", shellWord(d.Folder)}, &d, known, "folder")
}

// commandLine is words and the fields of document, a pointer to a Job or another
// document, that are not their defaults, as flags. The arguments are fields that the
// words have already.
func commandLine(words []string, document any, known Facts, arguments ...string) string {
	v := reflect.ValueOf(document).Elem()
	for _, s := range structFields(v.Type()) {
		f, field := fieldOf(s, known), v.FieldByIndex(s.Index)
		if slices.Contains(arguments, f.Key) || field.IsZero() {
			continue
		}
		if f.Kind == MapField {
			pairs := field.Interface().(map[string]string)
			for _, key := range slices.Sorted(maps.Keys(pairs)) {
				words = append(words, "--"+f.Flag, shellWord(key+"="+pairs[key]))
			}
			continue
		}
		switch value := textOfField(field); {
		case value == f.Default:
		case f.Kind == BooleanField:
			words = append(words, "--"+f.Flag)
		default:
			words = append(words, "--"+f.Flag, shellWord(value))
		}
	}
	return strings.Join(words, " ")
}

// textOfField writes a value as Set reads it.
func textOfField(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Slice:
		list := make([]string, v.Len())
		for i := range list {
			list[i] = fmt.Sprint(v.Index(i).Interface())
		}
		return strings.Join(list, ",")
	}
	return fmt.Sprint(v.Interface())
}

// shellWord quotes what a shell would not take for one word.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:,=+@%", c)
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
