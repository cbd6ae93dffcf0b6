package job

import (
	"runtime/debug"
	"strings"
	"sync"
)

// module is the path of the module that Version is about.
const module = "github.com/gladflow/gladflow"

// Version is the version of gladflow, as it stands in every file it writes:
// that of the module in the build information of the program, such as 1.2.3;
// "devel" where Go noted none, as in a test.
func Version() string { return version() }

var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return devel
	}
	return versionIn(info)
})

const devel = "devel"

// versionIn is the version of the module in a program, whose main module or
// dependency it is.
func versionIn(info *debug.BuildInfo) string {
	m := &info.Main
	for _, dep := range info.Deps {
		if dep.Path == module {
			m = dep
		}
	}
	if m.Replace != nil {
		m = m.Replace
	}
	if m.Path != module || m.Version == "" || m.Version == "(devel)" {
		return devel
	}
	return strings.TrimPrefix(m.Version, "v")
}
