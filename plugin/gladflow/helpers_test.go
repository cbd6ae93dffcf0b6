package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gladflow runs a command line as a process would.
func gladflow(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return gladflowWith(context.Background(), "", args...)
}

func gladflowWith(ctx context.Context, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

// withoutDevice is standard error without the line of a stage that only builds with GPU
// code have.
func withoutDevice(stderr string) string {
	if first, rest, _ := strings.Cut(stderr, "\n"); strings.HasPrefix(first, "opening the device: ") {
		return rest
	}
	return stderr
}

// file writes a file into a folder of its own.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// expression is a table of 40 samples of 6 genes, each following the one
// before, with an id column.
func expression() string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("id,g1,g2,g3,g4,g5,g6\n")
	for i := range 40 {
		fmt.Fprintf(&b, "s%d", i)
		x := 0.0
		for range 6 {
			x = 0.7*x + rng.NormFloat64()
			fmt.Fprintf(&b, ",%.5f", x)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const chain = "g1\tg2\t1\ng2\tg3\t1\ng1\tg6\t0\ng2\tg6\t0\n"

// noTemporaries fails if a folder holds a half-written file.
func noTemporaries(t testing.TB, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.Contains(e.Name(), ".tmp") {
			t.Errorf("a temporary file is left: %s", e.Name())
		}
	}
	return names
}
