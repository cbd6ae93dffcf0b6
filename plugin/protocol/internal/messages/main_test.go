package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMessagesAreUpToDate(t *testing.T) {
	folder := filepath.Join("..", "..")
	want, err := markdown(folder)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "MESSAGES.md"))
	if err != nil || string(got) != want {
		t.Errorf("MESSAGES.md is not what the structs say (%v); run go generate ./plugin/protocol", err)
	}
}
