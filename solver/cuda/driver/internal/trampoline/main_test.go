//go:build cuda

package main

import (
	"bytes"
	"os"
	"testing"
)

// The trampoline has every symbol that gorgonia.org/cu links, and no other.
func TestGenerated(t *testing.T) {
	names, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 100 {
		t.Errorf("only %d symbols: %q", len(names), names)
	}
	for arch := range jumps {
		got, err := os.ReadFile("../../" + file(arch))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, assembly(arch, names)) {
			t.Errorf("%s is not what go generate writes", file(arch))
		}
	}
}
