package plugintest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kitFor says, in a process of the test binary, which port TestPort tests.
const kitFor = "PLUGINTEST_KIT"

// TestPort is the kit, for TestKitFindsDefects to run.
func TestPort(t *testing.T) {
	defect := os.Getenv(kitFor)
	if defect == "" {
		t.Skip("runs within TestKitFindsDefects")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stopWithin := 200 * time.Millisecond
	if defect == "none" {
		stopWithin = time.Second // it has the race detector, or machines that are busy
	}
	endWithin := time.Second
	if defect == "orphan" {
		endWithin = 100 * time.Millisecond // it never ends
	}
	// With the race detector programs wait before they end.
	Run(t, path, WithEnv(portDefect+"="+defect, "GORACE=atexit_sleep_ms=0"), StopWithin(stopWithin), EndWithin(endWithin))
}

// runKit runs cases of the kit on a port and returns what it says.
func runKit(t *testing.T, defect, cases string) (passed bool, output string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-test.v", "-test.run=^TestPort$/^("+strings.ReplaceAll(cases, " ", "_")+")$")
	cmd.Env = append(os.Environ(), kitFor+"="+defect)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	return err == nil, string(out)
}

// Every defect is found by its case, and said; without it the case passes.
func TestKitFindsDefects(t *testing.T) {
	needsSignals(t)
	var cases []string
	for _, c := range []struct{ defect, name, want string }{
		{"early chatter", "handshake", "the first line on standard output must be the handshake"},
		{"chatter", "handshake", "nothing may follow the handshake"},
		{"cookieless", "no cookie, no plugin", "must not serve as a plugin"},
		{"plain log", "log", `every line on standard error must be a JSON object with @level and @message, as hclog writes it; there is "starting"`},
		{"no details", "wrong calls", `the status must carry an ErrorInfo of the domain "gladflow" with the reason INVALID_CALL`},
		{"small messages", "echo", "the exchange with the path echo"},
		{"slow", "cancel while samples come in", "within 200ms; it took ["},
		{"deaf", "cancelled stream", "after the caller has cancelled the exchange with bcd its run must have ended"},
		{"interrupted", "interrupt", "so the binary must go on after one"},
		{"silent", "forms of a table", "only 0 edges were found"},
		{"loads", "files of a run", `the page of a run must load nothing, and it has "src=\"https://example.org/x.js"`},
		{"blind", "look", "of a table with one null"},
		{"orphan", "host killed", "after the death of the host there must be no process"},
	} {
		if c.defect != "orphan" { // nobody watches the host, ever
			cases = append(cases, c.name)
		}
		t.Run(c.defect, func(t *testing.T) {
			t.Parallel()
			passed, output := runKit(t, c.defect, c.name)
			if passed || !strings.Contains(output, c.want) {
				t.Errorf("passed: %v; the kit does not say %q but\n%s", passed, c.want, output)
			}
		})
	}
	// The others start when this has ended.
	if passed, output := runKit(t, "none", strings.Join(cases, "|")); !passed {
		t.Errorf("a sound port does not pass:\n%s", output)
	}
}

func TestEdgeWrong(t *testing.T) {
	good := edge{"a", "b", 0.5, -0.7, 0.5, 1}
	if why := good.wrong(); why != "" {
		t.Errorf("%+v: %s", good, why)
	}
	for _, change := range []func(*edge){
		func(e *edge) { e.target = "a" },
		func(e *edge) { e.score = 1.5 },
		func(e *edge) { e.score = -0.5 },
		func(e *edge) { e.partial = -1.5; e.sign = -1 },
		func(e *edge) { e.precision = 0.7 },
		func(e *edge) { e.sign = 0 },
		func(e *edge) { e.sign = -1 },
	} {
		bad := good
		change(&bad)
		if bad.wrong() == "" {
			t.Errorf("%+v passes", bad)
		}
	}
	if a, b := good, (edge{"a", "c", 0.5, -0.7, 0.5, 1}); !less(a, b) || less(b, a) || less(a, a) {
		t.Error("edges of the same score go by name")
	}
}

// What is left is found, and files that are cut at any place are.
func TestLeftovers(t *testing.T) {
	temp, out := t.TempDir(), t.TempDir()
	if left := Leftovers(time.Second, temp, out); len(left) > 0 {
		t.Errorf("nothing is left, but %q", left)
	}
	if err := os.WriteFile(filepath.Join(temp, "plugin123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"run.json": `{"a": 1`, ".bcd.edges.csv.12-0.tmp": "a,b\n", "bcd.edges.csv": "a,b\n1,2\n3", "x.edges.csv": "a,b\n1\n",
		"bcd.edges.arrow": "ARROW1\x00\x00", "bcd.edges.parquet": "PAR1", "core": "",
	} {
		if err := os.WriteFile(filepath.Join(out, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if left := Leftovers(0, temp, out); len(left) != 8 {
		t.Errorf("8 things are left, and %d are told of: %q", len(left), left)
	}
}

// A process is found by its folder for temporary files.
func TestLeftoversFindsProcesses(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("needs /proc")
	}
	temp := t.TempDir()
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"A=b", "TMPDIR=" + temp}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// Start may return a moment before the system shows the new environment.
	var left []string
	for began := time.Now(); len(left) == 0 && time.Since(began) < 5*time.Second; {
		left = Leftovers(0, temp, "")
	}
	if len(left) != 1 || !strings.Contains(left[0], "sleep 60") {
		t.Errorf("a process is left, but %q", left)
	}
	if left = Leftovers(0, temp+"/", ""); len(left) != 0 {
		t.Errorf("of another folder nothing is left, but %q", left)
	}
}
