package job

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	other := debug.Module{Path: "example.org/host", Version: "v9.9.9"}
	for want, info := range map[string]debug.BuildInfo{
		"1.2.3": {Main: debug.Module{Path: module, Version: "v1.2.3"}},
		"1.2.4": {Main: other, Deps: []*debug.Module{{Path: "example.org/x", Version: "v3.0.0"}, {Path: module, Version: "v1.2.4"}}},
		"1.2.5": {Main: other, Deps: []*debug.Module{{Path: module, Version: "v1.0.0", Replace: &debug.Module{Path: module, Version: "v1.2.5"}}}},
	} {
		if got := versionIn(&info); got != want {
			t.Errorf("version %q, want %q", got, want)
		}
	}
	for name, info := range map[string]debug.BuildInfo{
		"a checkout":        {Main: debug.Module{Path: module, Version: "(devel)"}},
		"a test":            {Main: debug.Module{Path: module}},
		"another program":   {Main: other},
		"a folder":          {Main: other, Deps: []*debug.Module{{Path: module, Version: "v1.0.0", Replace: &debug.Module{Path: "../gladflow"}}}},
		"a fork of another": {Main: other, Deps: []*debug.Module{{Path: module, Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v7.0.0"}}}},
	} {
		if got := versionIn(&info); got != devel {
			t.Errorf("%s has the version %q", name, got)
		}
	}
}
