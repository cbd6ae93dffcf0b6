package plugin

import (
	"runtime/debug"
	"testing"
)

func TestInstallVersion(t *testing.T) {
	other := debug.Module{Path: "example.com/host", Version: "v9.9.9"}
	for name, test := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"no build information": {nil, "latest"},
		"a dependency":         {&debug.BuildInfo{Main: other, Deps: []*debug.Module{{Path: "example.com/a", Version: "v1.0.0"}, {Path: module, Version: "v0.3.1"}}}, "v0.3.1"},
		"a commit":             {&debug.BuildInfo{Main: other, Deps: []*debug.Module{{Path: module, Version: "v0.3.2-0.20260102030405-0123456789ab"}}}, "v0.3.2-0.20260102030405-0123456789ab"},
		"a folder":             {&debug.BuildInfo{Main: other, Deps: []*debug.Module{{Path: module, Version: "v0.3.1", Replace: &debug.Module{Path: "../gladflow"}}}}, "latest"},
		"no dependency":        {&debug.BuildInfo{Main: other}, "latest"},
		"a checkout":           {&debug.BuildInfo{Main: debug.Module{Path: module, Version: "(devel)"}}, "latest"},
		"a changed checkout":   {&debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.1+dirty"}}, "latest"},
		"a clean checkout":     {&debug.BuildInfo{Main: debug.Module{Path: module, Version: "v0.3.1"}}, "v0.3.1"},
	} {
		if got := installVersion(test.info); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
