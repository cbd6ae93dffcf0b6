package main

import (
	"strings"
	"testing"

	"github.com/gladflow/gladflow/plugin/server"
)

func TestPluginSettings(t *testing.T) {
	c, err := pluginSettings([]string{"anything", "--max-message-size", "8MiB", "--files=none", "--idle-timeout=30s"})
	want := server.DefaultLimits()
	want.MessageBytes, want.IdleSeconds = 8<<20, 30
	if err != nil || c.Limits != want || c.Files != server.FilesNone {
		t.Errorf("%v, %+v", err, c)
	}
	if c, err := pluginSettings(nil); err != nil || c.Limits != server.DefaultLimits() {
		t.Errorf("%v, %+v", err, c)
	}
	for args, word := range map[string]string{
		"--listen=x":        "unknown flag",
		"--max-variables=0": "leaves nothing",
		"--result-age=long": "result-age",
	} {
		if _, err := pluginSettings([]string{args}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
