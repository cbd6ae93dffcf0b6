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

// Read reads a model file and checks that it is of the format and version; decode
// then takes its keys apart, "format" and "version" among them. The error is that of
// the file, else the first of the decoder.
func Read(r io.Reader, format string, version int, decode func(d *Decoder, top Object)) error {
	data, err := io.ReadAll(io.LimitReader(r, Limit+1))
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if len(data) > Limit {
		return fmt.Errorf("model: the file is larger than %d MiB, so it is no model file", Limit>>20)
	}
	root, err := parse(data)
	if err != nil {
		return fmt.Errorf("model: %w; a model file is one JSON object", err)
	}
	// Format and version come first: others have other keys.
	var d Decoder
	top := d.Object("", root)
	if f := d.Text("format", d.Key(top, "", "format")); d.err == nil && f != format {
		d.Fail("format", "is %q; a model file has %q", f, format)
	}
	v := d.Integer("version", d.Key(top, "", "version"))
	switch {
	case d.err != nil:
	case v > version:
		d.Fail("version", "is %d; this gladflow reads version %d: update gladflow", v, version)
	case v < version:
		d.Fail("version", "is %d; the only version so far is %d", v, version)
	}
	decode(&d, top)
	return d.err
}

// Write writes v, which holds format and version, as a model file: indented, with a
// list of numbers on one line.
func Write(w io.Writer, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
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
