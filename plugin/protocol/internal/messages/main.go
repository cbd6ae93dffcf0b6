// Command messages writes the reference of the protocol's JSON messages in
// Markdown, from the Go structs and constants of package protocol and their
// comments. Run it by go generate in that package.
package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func main() {
	text, err := markdown(".")
	if err == nil {
		err = os.WriteFile("MESSAGES.md", []byte(text), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

const head = `# Messages of the gladflow protocol

Generated from the Go structs by ` + "`go generate ./plugin/protocol`" + `. All messages are JSON.

| call of Arrow Flight | takes | gives |
|---|---|---|
| DoPut | the command of the descriptor: a job (see the action schema) without its input; the samples | app_metadata of the first PutResult: Run |
| DoPut | the path look, a job, or draw, File; the samples, or the list of edges | app_metadata of the PutResults: what the table is, or the picture |
| DoGet | Ticket | a table, when the solver has finished |
| DoExchange | as DoPut, with one solver at most; or the path "echo" | the edges; or the samples as they were read |
| GetFlightInfo, GetSchema | the path run[, table[, solver]] | FlightInfo with app_metadata RunInfo and an endpoint for every solver |
| ListFlights | Criteria, or nothing | a FlightInfo for every table, and one for a run without solvers |
| DoAction | an action and its body, see below | see below |

Failures are gRPC statuses. Their details hold a google.rpc.ErrorInfo of the
domain "gladflow" with the reason, and the other keys of Fault as metadata; one that
is about a field of the job also holds a google.rpc.BadRequest.
`

// markdown documents the package in a folder.
func markdown(folder string) (string, error) {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range []string{"messages.go", "fault.go"} {
		f, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.ParseComments)
		if err != nil {
			return "", err
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(files, parsed, "protocol", doc.PreserveAST)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(head)
	consts := slices.Clone(p.Consts)
	for _, t := range p.Types {
		consts = append(consts, t.Consts...)
	}
	for _, c := range consts {
		writeConsts(&b, c)
	}
	for _, t := range p.Types {
		if s, ok := t.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType); ok {
			writeStruct(&b, t, s)
		}
	}
	return b.String(), nil
}

// writeConsts writes a table of the words of one group.
func writeConsts(b *strings.Builder, c *doc.Value) {
	var rows []string
	for _, spec := range c.Decl.Specs {
		v := spec.(*ast.ValueSpec)
		literal, ok := v.Values[0].(*ast.BasicLit)
		if !ok || !v.Names[0].IsExported() {
			continue
		}
		word, err := strconv.Unquote(literal.Value)
		if err != nil {
			continue
		}
		text := v.Doc.Text() + v.Comment.Text()
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", word, cell(strings.TrimPrefix(text, v.Names[0].Name+" "))))
	}
	if len(rows) < 2 { // what stands alone is told elsewhere
		return
	}
	title, rest, _ := strings.Cut(cell(c.Doc), ".")
	if rest = strings.TrimSpace(rest); rest != "" {
		rest += "\n\n"
	}
	fmt.Fprintf(b, "\n## %s\n\n%s| word | meaning |\n|---|---|\n%s\n", title, rest, strings.Join(rows, "\n"))
}

// writeStruct writes a message with a row for every key.
func writeStruct(b *strings.Builder, t *doc.Type, s *ast.StructType) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n| key | type | meaning |\n|---|---|---|\n", t.Name, cell(t.Doc))
	for _, f := range s.Fields.List {
		tag, _ := strconv.Unquote(f.Tag.Value)
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		meaning := strings.TrimPrefix(cell(f.Doc.Text()+f.Comment.Text()), f.Names[0].Name+" ")
		if options != "" {
			meaning = strings.TrimSpace(meaning + " Optional.")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, jsonType(f.Type), meaning)
	}
}

// jsonType is what a Go type is in JSON.
func jsonType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ArrayType:
		return "array of " + jsonType(e.Elt)
	case *ast.MapType:
		return "object of " + jsonType(e.Value)
	case *ast.StarExpr:
		return jsonType(e.X)
	case *ast.Ident:
		switch e.Name {
		case "string":
			return "string"
		case "bool":
			return "boolean"
		case "int", "int64":
			return "integer"
		case "float64":
			return "number"
		}
		return e.Name
	}
	return fmt.Sprint(e)
}

// cell is a comment in one line.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}
