package plugin

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/plugin/internal/built"
)

// A folder that is not there and arguments that are none of a plugin's end in an
// error that names them, at once.
func TestLaunchNamesWhatIsWrong(t *testing.T) {
	path := built.Binary(t)
	missing := filepath.Join(t.TempDir(), "missing")
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		config Config
		want   string // all of the error, %s the binary
	}{
		"missing folder": {Config{Dir: missing}, "plugin: there is no folder " + missing + "; make it, or correct Config.Dir"},
		"a file":         {Config{Dir: path}, "plugin: " + path + " is no folder; correct Config.Dir"},
		"a command":      {Config{Args: []string{"serve"}}, `plugin: %s has refused to start: the argument "serve" is unknown; a plugin takes limits, such as --max-variables=50000 and --files=none, and nothing else`},
		"a flag of serve": {Config{Args: []string{"--listen", "127.0.0.1:0"}},
			"plugin: %s has refused to start: the argument --listen is unknown; a plugin takes limits, such as --max-variables=50000 and --files=none, and nothing else"},
		"a value":        {Config{Args: []string{"--max-variables=many"}}, `plugin: %s has refused to start: the arguments of the plugin: --max-variables: "many" is not a whole number, or too large for one`},
		"too little":     {Config{Args: []string{"--max-message-size=5"}}, "plugin: %s has refused to start: --max-message-size: 5B is too little for any job; choose 64KiB at least"},
		"missing files":  {Config{Args: []string{"--files=" + missing}}, "plugin: %s has refused to start: --files: the folder for files, " + missing + ": no such file or directory; make it, or choose another"},
		"a long one":     {Config{Args: []string{"--" + long}}, ""},
		"one with quote": {Config{Args: []string{"\"\n"}}, `plugin: %s has refused to start: the argument "\"\n" is unknown; a plugin takes limits, such as --max-variables=50000 and --files=none, and nothing else`},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Path = path
			start := time.Now()
			client, err := Launch(t.Context(), c.config)
			if err == nil {
				client.Close()
				t.Fatal("it has started")
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			want := strings.Replace(c.want, "%s", path, 1)
			if c.want == "" {
				if text := err.Error(); len(text) > 2000 || !strings.Contains(text, "has refused to start: the argument --xxx") {
					t.Errorf("error %.300s", text)
				}
			} else if err.Error() != want {
				t.Errorf("error %v\nwant  %s", err, want)
			}
		})
	}
}
