package experts

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/training"
	"github.com/gladflow/gladflow/solver/glad"
	"github.com/gladflow/gladflow/solver/glad/adapt"
)

// What the cards of the shipped experts repeat is what would train them now, and the
// documents are valid.
func TestShippedExperts(t *testing.T) {
	s := Settings{Out: "solver/glad/adapt/experts", Steps: 240}
	for _, set := range []string{adapt.Standardised, adapt.EqualScales} {
		models, err := adapt.Experts(set)
		if err != nil {
			t.Fatal(err)
		}
		byName := make(map[string]*glad.Model)
		for _, m := range models {
			byName[m.Name] = m
		}
		for _, name := range adapt.Families() {
			d := s.Document(set, name)
			if err := training.Validate(d); err != nil {
				t.Errorf("%s of %s: %v", name, set, err)
			}
			m := byName[name]
			if m == nil {
				t.Fatalf("%s has no %s", set, name)
			}
			// Those there are may have started from the general model before this one.
			if want := d.Command(); strings.Replace(m.Card.Command, "--from general-1 ", "--from general ", 1) != want {
				t.Errorf("%s of %s was trained by\n%s\nand would be by\n%s", name, set, m.Card.Command, want)
			}
			if m.Card.OnCovariances() != (set == adapt.EqualScales) || m.Card.OnCorrelations() == (set == adapt.EqualScales) {
				t.Errorf("%s of %s: input %v", name, set, m.Card.Input)
			}
		}
		if _, err := adapt.Builtin(set); err != nil {
			t.Error(err)
		}
	}
}

// A gate is fitted to experts that are there, to the same bytes again.
func TestGate(t *testing.T) {
	var before []byte
	for range 2 {
		out := t.TempDir()
		from := "../../../solver/glad/adapt/experts"
		if err := os.CopyFS(out, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s := Settings{Out: out, Sets: []string{adapt.Standardised}, GatesOnly: true, Tables: 8, Log: &log}
		if err := Train(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(out, adapt.Standardised, "gate.json"))
		if err != nil {
			t.Fatal(err)
		}
		if before == nil {
			before = data
		} else if !bytes.Equal(data, before) {
			t.Error("the same tables give another gate")
		}
		if !strings.Contains(log.String(), "standardised/gate: ") {
			t.Errorf("log %q", log.String())
		}
	}
}
