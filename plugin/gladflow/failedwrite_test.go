package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/internal/built"
)

// A file that cannot be written is exit code 1 and a sentence, and the rest of the
// run is there.
func TestFileThatCannotBeWritten(t *testing.T) {
	table := file(t, "table.csv", expression())
	for name, c := range map[string]struct {
		blocked string
		files   string // as they are printed
	}{
		"edges":    {"bcd.edges.csv", "admm.edges.csv, admm.edges.csv-metadata.json, admm.precision.csv, admm.precision.csv-metadata.json, report.html, run.json"},
		"run.json": {"run.json", "bcd.edges.csv, bcd.edges.csv-metadata.json, bcd.precision.csv, bcd.precision.csv-metadata.json, admm.edges.csv, admm.edges.csv-metadata.json, admm.precision.csv, admm.precision.csv-metadata.json, report.html"},
	} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			if err := os.MkdirAll(filepath.Join(out, c.blocked, "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
			args := []string{"recover", table, "--id-column", "id", "--solvers", "bcd,admm", "--penalty", "0.2", "--format", "csv", "--out", out}
			code, stdout, stderr := gladflow(t, args...)
			oneSentence(t, code, stderr, filepath.Join(out, c.blocked))
			if want := "files in " + out + ": " + c.files + "\n"; !strings.HasSuffix(stdout, want) {
				t.Errorf("it prints\n%s\nwant %s", stdout, want)
			}
			code, stdout, stderr = gladflow(t, append(args, "--json")...)
			said := oneSentence(t, code, stderr, filepath.Join(out, c.blocked))
			var result job.Result
			if err := json.Unmarshal([]byte(stdout), &result); err != nil || !result.Partial || result.Error != said {
				t.Errorf("%v, %q; want the error %q", err, result.Error, said)
			}
			noTemporaries(t, out)
		})
	}
}

// oneSentence checks the end of a run that failed, and returns its sentence.
func oneSentence(t *testing.T, code int, stderr string, words ...string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	if code != exitFailed || strings.Count(stderr, "gladflow: ") != 1 || !strings.HasPrefix(last, "gladflow: ") {
		t.Errorf("code %d, standard error:\n%s", code, stderr)
	}
	for _, w := range words {
		if !strings.Contains(last, w) {
			t.Errorf("%q does not say %q", last, w)
		}
	}
	return strings.TrimPrefix(last, "gladflow: ")
}

// limited runs the binary by a shell that has set up what makes its writing fail,
// and returns what it has left of its folder. The shell has the arguments of the
// binary as its own, the folder as OUT and a copy of it to be made as COPY.
func limited(t *testing.T, script string, change func(*exec.Cmd)) (stdout, stderr, copied string, code int) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "copy")
	out := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script, "sh", built.Binary(t), "recover", file(t, "table.csv", expression()),
		"--id-column", "id", "--solvers", "bcd,admm", "--penalty", "0.2", "--edges", "all", "--format", "csv", "--json", "--out", out)
	cmd.Env = append(os.Environ(), "OUT="+out, "COPY="+copied)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if change != nil {
		change(cmd)
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Skipf("it cannot be started: %v", err)
	}
	return o.String(), e.String(), copied, cmd.ProcessState.ExitCode()
}

// nothingHalf checks a folder of a run that could not write everything: what is in
// it is listed, whole.
func nothingHalf(t *testing.T, folder, stdout string) {
	t.Helper()
	var result job.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	listed := slices.Clone(result.Files)
	for _, s := range result.Solvers {
		listed = append(listed, s.Files...)
		if (s.Error == "") != (len(s.Files) == 4) {
			t.Errorf("%+v", s)
		}
	}
	for _, name := range noTemporaries(t, folder) {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if name == job.RunFile {
			var document job.Result
			if err := json.Unmarshal(data, &document); err != nil || document.Error == "" {
				t.Errorf("run.json says %q, %v", document.Error, err)
			}
		} else if !slices.Contains(listed, job.WrittenFile{Name: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}) {
			t.Errorf("%s is not listed in %+v", name, listed)
		}
	}
}

// A limit on the size of files, as of a full disk.
func TestFileSizeLimit(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	for _, blocks := range []string{"0", "1", "3"} { // of 512 bytes, or of 1024
		stdout, stderr, folder, code := limited(t, `(ulimit -f `+blocks+` && exec "$@"); code=$?; cp -R "$OUT" "$COPY"; exit $code`, nil)
		said := oneSentence(t, code, stderr, "bcd.edges.csv", "file too large")
		t.Logf("%s blocks: %s", blocks, said)
		nothingHalf(t, folder, stdout)
	}
}

// The command of the documents finds the file that was changed.
func TestDocumentedCheck(t *testing.T) {
	for _, tool := range []string{"jq", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(text), "    cd network && ")
	line, _, _ = strings.Cut(line, "\n")
	if !found {
		t.Fatal("the document has no such command")
	}
	out := t.TempDir()
	if code, _, stderr := gladflow(t, "recover", file(t, "table.csv", expression()), "--id-column", "id", "--solvers", "bcd,admm",
		"--penalty", "0.2", "--reference", file(t, "known.tsv", chain), "--out", out); code != exitDone {
		t.Fatal(stderr)
	}
	check := func() (string, error) {
		c := exec.Command("sh", "-c", line)
		c.Dir = out
		text, err := c.CombinedOutput()
		return string(text), err
	}
	if said, err := check(); err != nil || strings.Count(said, ": OK\n") != 6 {
		t.Errorf("%v\n%s", err, said)
	}
	if err := os.Rename(filepath.Join(out, "bcd.edges.parquet"), filepath.Join(out, "admm.edges.parquet")); err != nil {
		t.Fatal(err)
	}
	said, err := check()
	if err == nil || !strings.Contains(said, "admm.edges.parquet: FAILED\n") || !strings.Contains(said, "bcd.edges.parquet: FAILED open") || strings.Count(said, ": OK\n") != 4 {
		t.Errorf("%v\n%s", err, said)
	}
}
