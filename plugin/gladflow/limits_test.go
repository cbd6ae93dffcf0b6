package main

import (
	"testing"

	"github.com/gladflow/gladflow/plugin/server"
)

func TestPluginSettings(t *testing.T) {
	c, err := pluginSettings([]string{"--max-message-size", "8MiB", "--files=none", "--idle-timeout=30s"})
	want := server.DefaultLimits()
	want.MessageBytes, want.IdleSeconds = 8<<20, 30
	if err != nil || c.Limits != want || c.Files != server.FilesNone {
		t.Errorf("%v, %+v", err, c)
	}
	if c, err := pluginSettings(nil); err != nil || c.Limits != server.DefaultLimits() {
		t.Errorf("%v, %+v", err, c)
	}
	const advice = "; a plugin takes limits, such as --max-variables=50000 and --files=none, and nothing else"
	for args, want := range map[string]string{
		"--listen=x":           "the argument --listen is unknown" + advice,
		"serve":                `the argument "serve" is unknown` + advice,
		"-x":                   "the argument -x is unknown" + advice,
		"--help":               "the argument --help is unknown" + advice,
		"--drain-timeout=5s":   "the argument --drain-timeout is unknown" + advice,
		"--max-variables":      "the arguments of the plugin: --max-variables has no value; write --max-variables VALUE",
		"--max-variables=0":    "--max-variables: 0 leaves nothing; choose 2 at least",
		"--max-variables=1e9":  "the arguments of the plugin: --max-variables: \"1e9\" is not a whole number, or too large for one",
		"--max-message-size=5": "--max-message-size: 5B is too little for any job; choose 64KiB at least",
		"--result-age=long":    "the arguments of the plugin: --result-age: \"long\" is not a duration; write it as 90s, 5m or 1h30m",
		"--files=":             "the arguments of the plugin: --files: the value is empty; give one, or leave the flag out",
	} {
		if _, err := pluginSettings([]string{args}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", args, err)
		}
	}
}
