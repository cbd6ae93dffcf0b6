package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root && d.Name() != ".github" {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) < 10 {
		t.Fatalf("%v, %v", found, err)
	}
	return found
}

// What a document links to is there.
func TestDocumentsLink(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
	}
}

// The README is the short page that it says it is.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 120 {
		t.Errorf("%d lines; 120 are allowed, the rest belongs into docs/", n)
	}
}

// Commands of the documents have the flags that they are shown with.
func TestDocumentsNameFlags(t *testing.T) {
	command := regexp.MustCompile(`(?m)^ {4}gladflow ([a-z][a-z0-9]*)((?:.*\\\n)*.*)$`)
	flag := regexp.MustCompile(`--([a-z][a-z-]+)`)
	tested := 0
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			next, _, _ := strings.Cut(strings.TrimSpace(m[2]), " ") // the command of a command, or an argument
			c, _, err := newRoot(strings.NewReader(""), os.Stdout, os.Stderr).Find([]string{m[1], next})
			if err != nil || !c.HasParent() {
				t.Errorf("%s: there is no command %s", path, m[1])
				continue
			}
			c.InitDefaultHelpFlag()
			for _, f := range flag.FindAllStringSubmatch(m[2], -1) {
				tested++
				if c.Flags().Lookup(f[1]) == nil {
					t.Errorf("%s: %s has no flag --%s", path, c.CommandPath(), f[1])
				}
			}
		}
	}
	if tested < 20 {
		t.Errorf("only %d flags are in the documents", tested)
	}
}

// The README's commands on tables and lists run as they stand, one after the other.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(examples(t))
	commands := regexp.MustCompile(`(?m)^ {4}gladflow ((?:recover|look|evaluate|draw|run) [^ ].*?)(?:  +.*)?$`).FindAllStringSubmatch(string(text), -1)
	for _, m := range commands {
		if code, _, stderr := gladflow(t, strings.Fields(m[1])...); code != exitDone {
			t.Errorf("gladflow %s: code %d, %s", m[1], code, stderr)
		}
	}
	if len(commands) != 7 {
		t.Errorf("%d commands: %q", len(commands), commands)
	}
}
