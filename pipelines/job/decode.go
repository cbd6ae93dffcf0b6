package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// documentLimit and bracketLimit are far above any job: they keep a wrong file
// from the parser, which takes minutes for one of nothing but brackets.
const (
	documentLimit = 64 << 10
	bracketLimit  = 100
)

// Open reads the job document at path; Stdin is stdin.
func Open(path string, stdin io.Reader) (Job, error) {
	if path == Stdin {
		return Read(stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return Job{}, &Error{File: path, Reason: unreadable(err), Err: err}
	}
	defer f.Close()
	j, err := Read(f)
	var wrong *Error
	if errors.As(err, &wrong) {
		wrong.File = path
	}
	return j, err
}

// Read reads a Job as YAML or JSON. Keys that are unknown or repeated,
// values of another kind and broken syntax are Errors with the line and the
// key. The job is not validated beyond that.
func Read(r io.Reader) (Job, error) {
	data, err := io.ReadAll(io.LimitReader(r, documentLimit+1))
	if err != nil {
		return Job{}, &Error{Reason: unreadable(err), Err: err}
	}
	if len(data) > documentLimit {
		return Job{}, &Error{Reason: "the document is larger than 64 kB, so it is no job"}
	}
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > bracketLimit {
		return Job{}, &Error{Reason: fmt.Sprintf("the document has more than %d brackets, so it is no job", bracketLimit)}
	}
	parse := parseYAML
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Valid(data) {
		parse = parseJSON // which has escapes that YAML lacks
	}
	entries, err := parse(data)
	if err != nil {
		return Job{}, err
	}
	var j Job
	seen := make(map[string]int)
	for _, e := range entries {
		if line, ok := seen[e.key]; ok {
			return Job{}, &Error{Field: e.key, Line: e.line, Reason: fmt.Sprintf("the key stands on line %d already", line)}
		}
		seen[e.key] = e.line
		if err := e.set(&j); err != nil {
			var wrong *Error
			if errors.As(err, &wrong) {
				wrong.Line = e.line
			}
			return Job{}, err
		}
	}
	return j, nil
}

// An entry is a key of a document with the text of its value.
type entry struct {
	key   string
	line  int
	value scalar
	list  []scalar
	pairs []pair
	shape shape
}

// A pair is a key of a map with its value.
type pair struct {
	key   string
	value scalar
}

type shape int

const (
	shapeScalar shape = iota
	shapeList
	shapeMap
	shapeNull
	shapeOther
)

// A scalar is the text of a value, and whether it was written as a string.
type scalar struct {
	text   string
	quoted bool
}

func (e entry) set(j *Job) error {
	var kind FieldKind
	field, found := fieldByKey(j, e.key)
	if found {
		kind = kindOf(field.Type())
	}
	text := e.value.text
	switch {
	case kind == "":
		return Errorf(e.key, "the key is unknown%s", Suggestion(e.key, keysOf(reflect.TypeFor[Job]())))
	case e.shape == shapeNull:
		return nil
	case e.shape == shapeOther, e.shape == shapeList && kind != ListField, (e.shape == shapeMap) != (kind == MapField):
		return Errorf(e.key, "the value must be %s", WithArticle(string(kind)))
	case e.shape == shapeMap:
		for _, p := range e.pairs {
			if reason := setPair(field, p.key, p.value.text); reason != "" {
				return Errorf(e.key, "%s", reason)
			}
		}
		return nil
	case e.shape == shapeList:
		words := make([]string, len(e.list))
		for i, s := range e.list {
			words[i] = s.text
		}
		text = strings.Join(words, ",")
	case kind == NumberField && e.value.quoted, kind == IntegerField && e.value.quoted, kind == BooleanField && e.value.quoted:
		return Errorf(e.key, "%q is a string; write the %s without quotes", text, kind)
	case kind == BooleanField && text != "" && strings.Contains("+-.0123456789", text[:1]):
		return Errorf(e.key, "%s is a number; write true or false", text)
	case kind == IntegerField:
		text = whole(text)
	}
	return Set(j, e.key, text)
}

// whole is a number without a fraction as an integer is written: 1.0 and 1e3 are integers
// in JSON. Other text stays as it is.
func whole(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if _, plain := strconv.Atoi(text); plain == nil || err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return text
	}
	return strconv.FormatInt(int64(x), 10)
}

func parseYAML(data []byte) ([]entry, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			return nil, &Error{Line: syntax.GetToken().Position.Line, Reason: syntax.GetMessage(), Err: err}
		}
		return nil, &Error{Reason: err.Error(), Err: err}
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, &Error{Line: doc.Body.GetToken().Position.Line, Reason: "a second document begins; a file holds one job"}
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, &Error{Reason: "the document is empty; a job has at least the key input"}
	}
	mapping, ok := body.(*ast.MappingNode)
	if !ok {
		return nil, &Error{Line: body.GetToken().Position.Line, Reason: "the document is not a job; write one key: value on every line"}
	}
	entries := make([]entry, len(mapping.Values))
	for i, pair := range mapping.Values {
		token := pair.Key.GetToken()
		entries[i] = entry{key: token.Value, line: token.Position.Line}
		entries[i].readYAML(pair.Value)
	}
	return entries, nil
}

func (e *entry) readYAML(node ast.Node) {
	switch node := node.(type) {
	case *ast.NullNode:
		e.shape = shapeNull
	case *ast.SequenceNode:
		readList(e, node.Values, yamlScalar)
	case *ast.MappingNode:
		e.shape = shapeMap
		for _, v := range node.Values {
			s, ok := yamlScalar(v.Value)
			if !ok {
				e.shape = shapeOther
				return
			}
			if !s.quoted { // 1_000 is a text here
				s.text = v.Value.GetToken().Value
			}
			e.pairs = append(e.pairs, pair{v.Key.GetToken().Value, s})
		}
	default:
		var ok bool
		if e.value, ok = yamlScalar(node); !ok {
			e.shape = shapeOther
		}
	}
}

// readList reads the elements of a list, which must be scalars.
func readList[T any](e *entry, values []T, scalarOf func(T) (scalar, bool)) {
	e.shape = shapeList
	for _, v := range values {
		s, ok := scalarOf(v)
		if !ok {
			e.shape = shapeOther
			return
		}
		e.list = append(e.list, s)
	}
}

func yamlScalar(node ast.Node) (scalar, bool) {
	switch node := node.(type) {
	case *ast.StringNode:
		return scalar{node.Value, node.Token.Type.String() != "String"}, true
	case *ast.LiteralNode:
		return scalar{node.Value.Value, true}, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar{strings.ReplaceAll(node.GetToken().Value, "_", ""), false}, true
	}
	return scalar{}, false
}

func parseJSON(data []byte) ([]entry, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	line := func() int { return 1 + bytes.Count(data[:d.InputOffset()], []byte("\n")) }
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, &Error{Reason: err.Error(), Err: err}
	}
	var entries []entry
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, &Error{Reason: err.Error(), Err: err}
		}
		e := entry{key: fmt.Sprint(key), line: line()}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, &Error{Field: e.key, Line: e.line, Reason: err.Error(), Err: err}
		}
		e.readJSON(v)
		entries = append(entries, e)
	}
	return entries, nil
}

func (e *entry) readJSON(text json.RawMessage) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if text[0] == '{' {
		e.readObject(d)
		return
	}
	var v any
	_ = d.Decode(&v) // it has been found valid
	switch v := v.(type) {
	case nil:
		e.shape = shapeNull
	case []any:
		readList(e, v, jsonScalar)
	default:
		var ok bool
		if e.value, ok = jsonScalar(v); !ok {
			e.shape = shapeOther
		}
	}
}

// readObject reads the members of an object one by one: a map would hide keys that
// are repeated.
func (e *entry) readObject(d *json.Decoder) {
	e.shape = shapeMap
	_, _ = d.Token() // the opening brace; the text has been found valid
	for d.More() {
		key, _ := d.Token()
		var v any
		_ = d.Decode(&v)
		s, ok := jsonScalar(v)
		if !ok {
			e.shape = shapeOther
			return
		}
		e.pairs = append(e.pairs, pair{fmt.Sprint(key), s})
	}
}

func jsonScalar(v any) (scalar, bool) {
	switch v := v.(type) {
	case string:
		return scalar{v, true}, true
	case json.Number:
		return scalar{v.String(), false}, true
	case bool:
		return scalar{fmt.Sprint(v), false}, true
	}
	return scalar{}, false
}

// YAML writes j as Read reads it, without the fields that are zero.
func (j Job) YAML() ([]byte, error) { return yaml.Marshal(j) }
