package arrowio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// An InputError says what is wrong with something the user handed in: a file
// that is missing, truncated, of another format, or whose contents cannot be
// used. It is the user who can put it right, so commands exit with code 2.
// Failures of the machine and the end of a context are never InputErrors.
type InputError struct {
	// Path is the file as the caller named it, a URL without its parameters,
	// "standard input" or "the stream" for "-".
	Path string
	// Column is the column that is wrong; empty if it is no single one.
	Column string
	// Row counts the rows of the table from 1, the header not included;
	// 0 if it is no single one.
	Row int
	// Line counts the lines of a text file from 1; 0 for other formats.
	Line int
	// Reason is one sentence that says what is wrong and, but for options, what
	// to do.
	Reason string
	// Advice is an option that may help; the zero value for none.
	Advice Advice
	// Err is the cause, if it was an error; errors.Is(err, fs.ErrNotExist)
	// is true for a missing file.
	Err error
}

// Error is "PATH: column "X", line N: REASON; ADVICE", which names the option as
// a field of SampleOptions.
func (e *InputError) Error() string { return e.Text(goOption) }

// Text is Error with the option as the caller calls it: option is given its key
// in a document and its value.
func (e *InputError) Text(option func(name, value string) string) string {
	var b strings.Builder
	b.WriteString(e.Path)
	var where []string
	if e.Column != "" {
		where = append(where, fmt.Sprintf("column %q", e.Column))
	}
	switch {
	case e.Line > 0:
		where = append(where, fmt.Sprintf("line %d", e.Line))
	case e.Row > 0:
		where = append(where, fmt.Sprintf("row %d", e.Row))
	}
	if len(where) > 0 {
		b.WriteString(": ")
		b.WriteString(strings.Join(where, ", "))
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	if advice := e.Advice.text(option); advice != "" {
		b.WriteString("; ")
		b.WriteString(advice)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// fault makes an InputError of a whole file.
func fault(path, format string, args ...any) *InputError {
	return &InputError{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// advise adds an advice.
func (e *InputError) advise(a Advice) *InputError {
	e.Advice = a
	return e
}

// columnFault makes an InputError of a column.
func columnFault(path, column, format string, args ...any) *InputError {
	return &InputError{Path: path, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// explain sorts an error met while reading s into one of three kinds: the
// context's, the machine's, or the user's (an InputError). what names the
// format.
func (s *input) explain(err error, what string) error {
	var known *InputError
	var limit *batch.LimitError
	var reserve *batch.ReserveError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reserve):
		return reserve.Err
	case s.ctx.Err() != nil:
		return fmt.Errorf("reading %s: %w", s.name, s.ctx.Err())
	case errors.As(err, &known):
		return known
	case errors.As(err, &limit):
		return &InputError{Path: s.name, Reason: limit.Error(), Err: limit}
	case s.failure.Load() != nil:
		return fmt.Errorf("reading %s: %w", s.name, *s.failure.Load())
	}
	// Readers report a premature end as EOF or as ErrUnexpectedEOF.
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &InputError{Path: s.name, Err: err,
			Reason: fmt.Sprintf("the %s ends too early: it is truncated; fetch or write it again", what)}
	}
	detail := ""
	if text := err.Error(); legible(text) {
		detail = " (" + text + ")"
	}
	return &InputError{Path: s.name, Err: err,
		Reason: fmt.Sprintf("the %s is corrupt%s; fetch or write it again", what, detail)}
}

// legible says whether what a library says of a file tells a reader anything, and not
// only where in Go's types or parsers it was.
func legible(text string) bool {
	for _, part := range []string{"runtime error", "EOF", "error reading struct", "reflect:"} {
		if strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// openFault tells a path that cannot be read from a disk that fails.
func openFault(name string, err error) error {
	var outside *OutsideError
	switch {
	case errors.As(err, &outside):
		return &InputError{Path: name, Err: outside, Reason: outside.Error()}
	case errors.Is(err, ErrNotRegular):
		return &InputError{Path: name, Err: err, Reason: ErrNotRegular.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return &InputError{Path: name, Err: err, Reason: "there is no such file; check the path"}
	case errors.Is(err, fs.ErrPermission):
		return &InputError{Path: name, Err: err, Reason: "permission to read it is denied"}
	case errors.Is(err, syscall.ENOTDIR) && strings.HasSuffix(name, "/"):
		return &InputError{Path: name, Err: err, Reason: "it is a file and no folder; leave out the slash at the end"}
	case errors.Is(err, syscall.ENOTDIR):
		return &InputError{Path: name, Err: err, Reason: "a part of the path is a file and no folder; check the path"}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return &InputError{Path: name, Err: err, Reason: "the name is too long for a file; check the path"}
	case errors.Is(err, syscall.EINVAL):
		return &InputError{Path: name, Err: err, Reason: "no file can have such a name; check the path"}
	case errors.Is(err, syscall.ELOOP):
		return &InputError{Path: name, Err: err, Reason: "its links lead in a circle; check the path"}
	}
	return fmt.Errorf("reading %s: %w", name, err)
}
