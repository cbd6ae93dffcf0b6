package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/gladflow/gladflow/plugin/internal/proctest"
)

func TestChecksumOf(t *testing.T) {
	a, b := strings.Repeat("0a", 32), strings.Repeat("B1", 32)
	list := a + "  gladflow_0.2.0_linux_amd64\r\n\n" + b + " *gladflow_0.2.0_windows_amd64.exe\n" + a + "  with blanks\n"
	for name, want := range map[string]string{
		"gladflow_0.2.0_linux_amd64": a, "gladflow_0.2.0_windows_amd64.exe": strings.ToLower(b), "with blanks": a,
	} {
		if sum, err := ChecksumOf(strings.NewReader(list), name); sum != want || err != nil {
			t.Errorf("%s: %q, %v", name, sum, err)
		}
	}
	if sum, err := ChecksumOf(strings.NewReader(list+list), "with blanks"); sum != a || err != nil {
		t.Errorf("the same twice: %q, %v", sum, err)
	}
	for want, text := range map[string]string{
		`none for "gladflow"; it has those of gladflow_0.2.0_linux_amd64, gladflow_0.2.0_windows`: list,
		"is empty; give the file SHA256SUMS":                                                      "\r\n\n",
		"the list of checksums is empty":                                                          "",
		"two for gladflow":                                                                        a + "  gladflow\n" + b + "  gladflow\n",
		`line 1 of the list of checksums is`:                                                      "<!DOCTYPE html>\n",
		"line 2 of the list":                                                                      a + "  gladflow\n" + a[1:] + "  gladflow\n",
		"more than 1048576 bytes":                                                                 strings.Repeat(a+"  gladflow\n", 20_000),
	} {
		if sum, err := ChecksumOf(strings.NewReader(text), "gladflow"); sum != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, error %v, which is to say %q", sum, err, want)
		}
	}
	if _, err := ChecksumOf(iotest.ErrReader(errSource), "gladflow"); !errors.Is(err, errSource) {
		t.Errorf("error %v", err)
	}
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	return hex.EncodeToString(sum[:])
}

// A mismatch is one sentence with both sums.
func TestChecksumDiffers(t *testing.T) {
	path, other := script(t, "exit 0"), strings.Repeat("ab", 32)
	_, err := Launch(t.Context(), Config{Path: path, Checksum: other})
	want := fmt.Sprintf("plugin: the SHA-256 of %s is not Config.Checksum %s but %s; fetch the build that was meant", path, other, sumOf(t, path))
	if !errors.Is(err, goplugin.ErrChecksumsDoNotMatch) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

// What was checked is started, and not what was put in its place.
func TestChecksumIsOfWhatStarts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are started by their descriptors on Linux")
	}
	for name, test := range map[string]struct{ first, second, want string }{
		"script": {script(t, "echo first"), script(t, "echo second"), "first\n"},
		"binary": {"/bin/echo", "/bin/false", "first\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gladflow")
			for _, from := range []string{test.first, test.second} {
				content, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+".new", content, 0o755); err != nil {
					t.Fatal(err)
				}
				if from == test.first {
					if err := os.Rename(path+".new", path); err != nil {
						t.Fatal(err)
					}
				}
			}
			cmd, done, err := Config{Path: path, Args: []string{"first"}, Checksum: sumOf(t, path)}.command(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			if out, err := cmd.Output(); string(out) != test.want || err != nil {
				t.Errorf("it prints %q, %v", out, err)
			}
		})
	}
}

// A plugin that was checked knows the path of its binary, which others may lie
// beside, and is called by its name in the log.
func TestCheckedKnowsItsPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are started by their descriptors on Linux")
	}
	path := proctest.Self(t)
	c := launch(t, Config{Checksum: sumOf(t, path)})
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.PID())); err != nil || exe != path {
		t.Errorf("/proc/%d/exe is %s, %v", c.PID(), exe, err)
	}
}
