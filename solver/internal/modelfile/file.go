package modelfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
)

// Limit is far above any model, in bytes: it keeps a wrong file from filling the memory.
const Limit = 16 << 20

// A Format is what the keys "format" and "version" of a kind of model file say.
type Format struct {
	Name    string
	Version int
}

// A Model is what a model file holds: an object in JSON, without format and version.
// Validate reports the first key that is wrong.
type Model interface{ Validate() error }

// Read reads a model file and checks that it is of the format; decode then makes a
// model of its keys, "format" and "version" among them. The error is that of the file,
// else the first of the decoder, else that of the model.
func Read[M Model](r io.Reader, f Format, decode func(d *Decoder, top Object) M) (M, error) {
	var none M
	data, err := io.ReadAll(io.LimitReader(r, Limit+1))
	if err != nil {
		return none, fmt.Errorf("model: %w", err)
	}
	if len(data) > Limit {
		return none, fmt.Errorf("model: the file is larger than %d MiB, so it is no model file", Limit>>20)
	}
	root, err := parse(data)
	if err != nil {
		return none, fmt.Errorf("model: %w; a model file is one JSON object", err)
	}
	// Format and version come first: others have other keys.
	var d Decoder
	top := d.Object("", root)
	if name := d.Text("format", d.Key(top, "", "format")); d.err == nil && name != f.Name {
		d.Fail("format", "is %q; a model file has %q", name, f.Name)
	}
	v := d.Integer("version", d.Key(top, "", "version"))
	switch {
	case d.err != nil:
	case v > f.Version:
		d.Fail("version", "is %d; this gladflow reads version %d: update gladflow", v, f.Version)
	case v < f.Version:
		d.Fail("version", "is %d; the only version so far is %d", v, f.Version)
	}
	m := decode(&d, top)
	if d.err != nil {
		return none, d.err
	}
	if err := m.Validate(); err != nil {
		return none, err
	}
	return m, nil
}

// Write writes m as a model file: indented, with a list of numbers on one line. It
// refuses a model that is not valid.
func Write(w io.Writer, f Format, m Model) error {
	if err := m.Validate(); err != nil {
		return err
	}
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	head := fmt.Appendf(nil, "{\n \"format\": %q,\n \"version\": %d,", f.Name, f.Version)
	data = append(head, bytes.TrimPrefix(data, []byte("{"))...)
	data = numbers.ReplaceAllFunc(data, func(list []byte) []byte {
		return bytes.ReplaceAll(bytes.Join(bytes.Fields(list), nil), []byte(","), []byte(", "))
	})
	if _, err := w.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return nil
}

// numbers are lists of numbers as json.MarshalIndent writes them, one a line.
var numbers = regexp.MustCompile(`\[[-+.eE\d,\s]*\]`)

// Invalid is an error about the key at path.
func Invalid(path, format string, args ...any) error {
	return fmt.Errorf("model: %s: %s", path, fmt.Sprintf(format, args...))
}
