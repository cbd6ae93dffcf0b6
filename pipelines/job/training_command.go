package job

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// Command is the command line that repeats the training, without defaults and
// without what does not change the model. Of Out it has the last element
// only: cards are public, folders are not.
func (t Training) Command() string {
	t = t.Essential()
	t.Out = filepath.Base(t.Out)
	return t.commandLine()
}

// ResumeCommand is the command line that resumes t from its checkpoint.
func (t Training) ResumeCommand() string {
	t.Resume, t.JSON = true, false
	return t.commandLine()
}

// Essential is t without what does not change the model.
func (t Training) Essential() Training {
	t.Checkpoint, t.Resume, t.Workers, t.JSON = "", false, 0, false
	return t
}

func (t Training) commandLine() string {
	words := []string{"train"}
	if t.Family != "" {
		words = append(words, t.Family)
		t.Family = ""
	}
	return commandLine(words, &t)
}

// commandLine is a command of gladflow and as flags the fields of document that are
// not their defaults; the field out is always there.
func commandLine(command []string, document any) string {
	words := append([]string{"gladflow"}, command...)
	v := reflect.ValueOf(document).Elem()
	for i, f := range Fields(document, Facts{}) {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		value := textOfField(field)
		switch {
		case value == f.Default && f.Key != "out":
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
	if v.Kind() == reflect.Float64 {
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
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
