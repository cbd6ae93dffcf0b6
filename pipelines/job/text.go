package job

import (
	"errors"
	"strconv"
	"strings"
)

// A texter is an error that advises options: Text is its sentence with them as
// option calls them, given an option's key in a document and its value.
type texter interface {
	error
	Text(option func(name, value string) string) string
}

// ErrorText is the sentence of err with the options that it advises as the caller
// calls them: FlagOption on a command line, FieldOption for a document.
func ErrorText(err error, option func(name, value string) string) string {
	return reworded(err.Error(), err, option)
}

// reworded is text, which quotes the sentence of an error in err's tree, with that
// sentence in the caller's words.
func reworded(text string, err error, option func(name, value string) string) string {
	var inner texter
	if !errors.As(err, &inner) {
		return text
	}
	return strings.Replace(text, inner.Error(), inner.Text(option), 1)
}

// FlagOption is an option as one types it after a command: --id-column name.
func FlagOption(name, value string) string {
	return strings.TrimSuffix("--"+FlagName(name)+" "+optionValue(value), " ")
}

// FlagName is the name of the flag of a field, such as id-column for id_column.
func FlagName(key string) string { return strings.ReplaceAll(key, "_", "-") }

// FieldOption is an option by its key in a document: id_column name.
func FieldOption(name, value string) string {
	return strings.TrimSuffix(name+" "+optionValue(value), " ")
}

// optionValue quotes a value that is more than one plain word.
func optionValue(value string) string {
	if position, ok := strings.CutPrefix(value, "#"); ok {
		if _, err := strconv.Atoi(position); err == nil {
			return "'" + value + "'" // a shell takes # for a comment
		}
	}
	for _, r := range value {
		if !(r == '_' || r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return strconv.Quote(value)
		}
	}
	return value
}
