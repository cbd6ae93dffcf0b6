package attack

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/internal/built"
	"github.com/gladflow/gladflow/plugin/plugintest"
)

// A file system without O_TMPFILE cannot be had everywhere: arrowio's tests of staged
// files have one.

// shell runs a script, with $gladflow, $table and $out, in a mount namespace of its
// own, of which it is root.
func shell(t *testing.T, script string, env ...string) (output string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-r", "-m", "sh", "-c", script)
	cmd.Env = append(os.Environ(), append(env, "gladflow="+built.Binary(t), "table="+file(t, "table.csv", csvTable(60, 80)))...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skipf("it cannot be started: %v", err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func namespaces(t *testing.T) {
	t.Helper()
	onLinux(t)
	dir := t.TempDir()
	if _, code := shell(t, `mount -t tmpfs -o size=64k none "$out" && umount "$out"`, "out="+dir); code != 0 {
		t.Skip("nothing can be mounted here")
	}
}

const recoverAll = `"$gladflow" recover "$table" --out "$out" --solvers bcd,glad --penalty 0.3 --edges all --precision dense`

// A full disk, a folder that cannot be written and a limit of the size of files end a
// run with code 1 or 2 and a sentence, leave what was there and nothing half-written.
func TestDisk(t *testing.T) {
	namespaces(t)
	const listed = `; code=$?; echo "left: $(ls -A "$out" | tr '\n' ' ')"; exit $code`
	for name, script := range map[string]string{
		"a full disk":           `mount -t tmpfs -o size=20k none "$out"; echo old >"$out/keep"; ` + recoverAll + listed,
		"nothing fits":          `mount -t tmpfs -o size=4k none "$out"; ` + recoverAll + listed,
		"no more files":         `mount -t tmpfs -o nr_inodes=4 none "$out"; ` + recoverAll + listed,
		"a read-only folder":    `mount -t tmpfs none "$out"; echo old >"$out/keep"; mount -o remount,ro "$out"; ` + recoverAll + listed,
		"a read-only parent":    `mount -t tmpfs -o ro none "$out"; out="$out/network"; ` + recoverAll + `; code=$?; echo "left: "; exit $code`,
		"a limit of files":      `ulimit -f 8; ` + recoverAll + listed,
		"a limit, in their way": `ulimit -f 30; ` + recoverAll + " --format csv" + listed,
	} {
		out := t.TempDir()
		output, code := shell(t, script, "out="+out)
		message, left, _ := strings.Cut(output, "left: ")
		if code != 1 && code != 2 {
			t.Errorf("%s: code %d: %s", name, code, output)
		}
		last := strings.TrimSpace(message)
		last = last[strings.LastIndexByte(last, '\n')+1:]
		if len(last) < 20 || strings.Contains(message, "goroutine ") || strings.Contains(message, "panic") {
			t.Errorf("%s: it says %q", name, message)
		}
		for _, entry := range strings.Fields(left) {
			if strings.HasPrefix(entry, ".") || strings.Contains(entry, ".tmp") {
				t.Errorf("%s: there is left %s", name, left)
			}
		}
		if left := plugintest.Leftovers(0, filepath.Join(out, "none"), out); len(left) > 0 {
			t.Errorf("%s: there is left %v", name, left)
		}
		t.Logf("%-22s code %d, %s, left: %s", name, code, last, strings.TrimSpace(left))
	}
}
