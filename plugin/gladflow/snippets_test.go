package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// snippetFile is what a block of Go in a document is put into.
const snippetFile = `package snippet

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/dense"
	"github.com/gladflow/gladflow/solver/glasso"
)

func snippet(ctx context.Context, client *plugin.Client, samples array.RecordReader, s *dense.Sym, page, picture io.Writer) error {
	{ // which may declare a client of its own
%s
	}
	return nil
}
`

// The blocks of Go in the documents compile. What a block declares and does not use,
// and what it does not import, is for its reader.
func TestSnippetsCompile(t *testing.T) {
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	unused := regexp.MustCompile(`declared and not used|imported and not used|^#|^$`)
	found := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range blocks.FindAllStringSubmatch(string(text), -1) {
			found++
			source := file(t, "snippet.go", fmt.Sprintf(snippetFile, m[1]))
			// A package that is nowhere but in the overlay.
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, "snippet", "snippet.go"): source}})
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command("go", "build", "-gcflags=-e", "-overlay", file(t, "overlay.json", string(overlay)), "./snippet")
			c.Dir = module
			out, _ := c.CombinedOutput() // its lines say what is wrong
			for line := range strings.Lines(string(out)) {
				if line = strings.TrimSpace(line); !unused.MatchString(line) {
					t.Errorf("%s, block %d: %s", path, i+1, line)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("%d blocks of Go are in the documents", found)
	}
}
