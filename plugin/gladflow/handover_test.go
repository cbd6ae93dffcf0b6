package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A program is a file that may be run.
func program(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// When a process is replaced, and what it says when it cannot be.
func TestHandover(t *testing.T) {
	refused := errors.New("exec format error")
	for name, c := range map[string]struct {
		device       string
		there, noRun bool // the other build
		driver, done bool
		exec         error
		replaced     bool
		err, stderr  string
	}{
		"cuda":                      {device: "cuda", there: true, replaced: true},
		"a number":                  {device: "cuda:7", there: true, replaced: true},
		"cuda without a build":      {device: "cuda", err: "gladflow-cuda, which has it, is not in FOLDER; put it there (see docs/gpu.md), or choose cpu"},
		"cuda, for ever":            {device: "cuda", there: true, done: true, err: "FOLDER/gladflow-cuda has no GPU code either; put the one there that make gladflow-cuda builds"},
		"cuda, cannot be run":       {device: "cuda", there: true, exec: refused, replaced: true, err: "FOLDER/gladflow-cuda, the build with GPU code, cannot be started: exec format error; see docs/gpu.md"},
		"auto":                      {device: "auto", there: true, driver: true, replaced: true},
		"nothing is auto":           {device: "", there: true, driver: true, replaced: true},
		"auto without a build":      {device: "auto", driver: true},
		"auto without a driver":     {device: "auto", there: true},
		"auto, no program":          {device: "auto", there: true, noRun: true, driver: true},
		"auto, for ever":            {device: "auto", there: true, driver: true, done: true},
		"auto, cannot be run":       {device: "auto", there: true, driver: true, exec: refused, replaced: true, stderr: "exec format error; going on with the CPU"},
		"cpu":                       {device: "cpu", there: true, driver: true},
		"a word that is no device":  {device: "cuda:x", there: true, driver: true},
		"a word, for its own error": {device: "gpu", there: true, driver: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			h := &handover{folder: folder, control: filepath.Join(folder, "nvidiactl"), args: []string{"recover", "x y"}, env: []string{"A=b"}, done: c.done}
			if c.there {
				mode := os.FileMode(0o777)
				if c.noRun {
					mode = 0o666
				}
				if err := os.WriteFile(filepath.Join(folder, cudaBuild), nil, mode); err != nil {
					t.Fatal(err)
				}
			}
			if c.driver {
				program(t, h.control, "")
			}
			replaced := false
			h.exec = func(path string, args, env []string) error {
				replaced = true
				want := filepath.Join(folder, cudaBuild)
				if path != want || !slices.Equal(args, []string{want, "recover", "x y"}) || !slices.Equal(env, []string{"A=b", handedOver + "=1"}) {
					t.Errorf("%s %q %q", path, args, env)
				}
				return c.exec
			}
			var stderr bytes.Buffer
			err := h.take(c.device, nil, &stderr)
			if replaced != c.replaced {
				t.Errorf("replaced: %v", replaced)
			}
			if c.err == "" && c.exec == nil && replaced {
				return // what it returns does not matter: it does not
			}
			if !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("it prints %q", &stderr)
			}
			wrong := new(job.Error)
			if (err != nil) != (c.err != "") || err != nil && (!errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, strings.ReplaceAll(c.err, "FOLDER", folder))) {
				t.Errorf("error %v", err)
			}
		})
	}
	if err := (*handover)(nil).take("cuda", nil, os.Stderr); err != nil {
		t.Errorf("none: %v", err)
	}
}

// Every command that does jobs hands over, before it does anything.
func TestCommandsHandOver(t *testing.T) {
	const document = "input: x.csv\ndevice: cuda:1\n"
	path := file(t, "job.yaml", document)
	for args, want := range map[string]string{
		"recover x.csv --device cuda": "", "recover x.csv": "auto", "run " + path: "", "run -": "", "serve --insecure": "auto", "plugin": "auto",
		"train er --out x.json --device cuda:1": "", "train er --out x.json": "auto",
	} {
		folder := t.TempDir()
		program(t, filepath.Join(folder, cudaBuild), "")
		control := filepath.Join(folder, "nvidiactl")
		if want == "auto" {
			program(t, control, "")
		}
		h := &handover{folder: folder, control: control}
		var given []byte
		h.setStdin = func(data []byte) error { given = data; return nil }
		replaced := errors.New("replaced")
		h.exec = func(string, []string, []string) error { panic(replaced) }
		func() {
			defer func() {
				if got := recover(); got != replaced {
					t.Errorf("%s: %v", args, got)
				}
			}()
			var out, stderr bytes.Buffer
			code := run(withHandover(t.Context(), h), strings.Fields(args), strings.NewReader(document), &out, &stderr)
			t.Errorf("%s: code %d, %s%s", args, code, &out, &stderr)
		}()
		if (string(given) == document) != (args == "run -") {
			t.Errorf("%s: standard input becomes %q", args, given)
		}
	}
}
