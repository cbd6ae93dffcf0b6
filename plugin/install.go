package plugin

import (
	"runtime/debug"
	"strings"
)

// module is the module of this package.
const module = "github.com/gladflow/gladflow"

// installCommand is the command that installs the binary of the version that
// this host was built with.
func installCommand() string {
	info, _ := debug.ReadBuildInfo()
	return "go install " + module + "/plugin/gladflow@" + installVersion(info)
}

// installVersion is this module's version in a build, or latest where go install
// does not find that: it is unknown, replaced, or not committed. info may be nil.
func installVersion(info *debug.BuildInfo) string {
	const latest = "latest"
	if info == nil {
		return latest
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		known := strings.HasPrefix(m.Version, "v") && !strings.HasSuffix(m.Version, "+dirty")
		if m.Path == module && m.Replace == nil && known {
			return m.Version
		}
	}
	return latest
}
