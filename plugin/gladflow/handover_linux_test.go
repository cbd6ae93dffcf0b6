//go:build linux && !cuda

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/plugin/internal/built"
)

// beside is a copy of the binary in a folder, with another build beside it.
func beside(t *testing.T, other string) (binary string) {
	t.Helper()
	data, err := os.ReadFile(built.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	binary = program(t, filepath.Join(folder, "gladflow"), string(data))
	switch other {
	case "":
	case "the same":
		program(t, filepath.Join(folder, cudaBuild), string(data))
	default:
		program(t, filepath.Join(folder, cudaBuild), other)
	}
	return binary
}

// The process becomes the other build: with its identifier, arguments, environment and
// files, standard input as if nobody had read of it.
func TestHandoverOfAProcess(t *testing.T) {
	const document = "input: x.csv\ndevice: cuda:1\n"
	binary := beside(t, `#!/bin/sh
echo "pid $$"
for a; do echo "arg $a"; done
echo "cookie $COOKIE"
echo "stdin $(cat | tr '\n' '|')"
exit 7
`)
	for _, c := range []struct{ args, stdin string }{
		{"recover a.csv --device cuda --label a=b", "samples"},
		{"run -", document},
	} {
		cmd := exec.Command(binary, strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), "COOKIE=secret")
		cmd.Stdin = strings.NewReader(c.stdin)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		want := fmt.Sprintf("pid %d\narg %s\ncookie secret\nstdin %s\n", cmd.Process.Pid,
			strings.Join(strings.Fields(c.args), "\narg "), strings.ReplaceAll(c.stdin, "\n", "|"))
		if cmd.ProcessState.ExitCode() != 7 || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.args, err, &out, want)
		}
	}
}

// The other build is not there, is this one, or is no program: code 2 and a sentence,
// and no process that replaces itself for ever.
func TestHandoverThatCannotBe(t *testing.T) {
	for other, want := range map[string]string{
		"":                 "which has it, is not in",
		"the same":         "has no GPU code either; put the one there that make gladflow-cuda builds (see docs/gpu.md), or choose cpu",
		"#!/no/such/shell": "cannot be started: no such file or directory; see docs/gpu.md, or choose cpu",
		"\x00":             "cannot be started: exec format error; see docs/gpu.md, or choose cpu",
	} {
		binary := beside(t, other)
		cmd := exec.Command(binary, "recover", "x.csv", "--device", "cuda")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		first, rest, _ := strings.Cut(stderr.String(), "\n")
		if cmd.ProcessState.ExitCode() != exitUsage || stdout.Len() > 0 || !strings.HasPrefix(first, "gladflow: --device: ") || !strings.Contains(first, want) || rest != "see gladflow recover --help\n" {
			t.Errorf("%q: %v, %s%s", other, err, &stdout, &stderr)
		}
	}
}

// A host that has checked the sum of a binary gets that binary, whatever lies beside it.
func TestCheckedPluginsAreNotReplaced(t *testing.T) {
	// The descriptor by which plugin.Config.Checksum has a file started.
	if os.Getenv("GLADFLOW_TEST_CHECKED") != "" {
		fmt.Printf("handover: %v\n", pluginHandover() != nil)
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for checked, want := range map[bool]string{false: "handover: true\n", true: "handover: false\n"} {
		cmd := exec.Command(self, "-test.run=^TestCheckedPluginsAreNotReplaced$")
		cmd.Env = append(os.Environ(), "GLADFLOW_TEST_CHECKED=1")
		if checked {
			f, err := os.Open(self)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cmd.Path, cmd.ExtraFiles = "/proc/self/fd/3", []*os.File{f}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("checked %v: %v, %s", checked, err, out)
		}
	}
}
