package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// machineOf is Machine of a Linux system whose root folder is given: 0 if its files
// say nothing.
func machineOf(root fs.FS) int64 {
	least := total(root)
	for _, g := range groups(root) {
		least = min(least, g.limit(root))
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// availableOf is what is free of the machine and of the limits of its groups; 0 if its files
// say nothing.
func availableOf(root fs.FS) int64 {
	least := meminfo(root, "MemAvailable:")
	for _, g := range groups(root) {
		least = min(least, g.free(root))
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// total is MemTotal of /proc/meminfo.
func total(root fs.FS) int64 { return meminfo(root, "MemTotal:") }

// meminfo is a figure of /proc/meminfo; the largest number where that has none.
func meminfo(root fs.FS, key string) int64 {
	for line := range lines(root, "proc/meminfo") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == key && f[2] == "kB" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil && kib > 0 && kib < math.MaxInt64>>10 {
				return kib << 10
			}
		}
	}
	return math.MaxInt64
}

// A group is the cgroup of this process in one hierarchy.
type group struct {
	mount string // where the hierarchy is mounted
	path  string // of the group below it
	file  string // that has the limit
}

// limit is the smallest of the group and those above it, as far as they can be seen.
func (g group) limit(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	for at := path.Join(g.mount, g.path); ; at = path.Dir(at) {
		if text, err := fs.ReadFile(root, path.Join(at, g.file)); err == nil {
			// "max" of version 2 is no number; version 1 has one near 2^63.
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				least = min(least, n)
			}
		}
		if len(at) <= len(g.mount) {
			return least
		}
	}
}

// free is what the processes of the group and of those above it leave of their limits, as far
// as these can be seen. The pages of files that nobody has used for a while count as left.
func (g group) free(root fs.FS) int64 {
	used, inactive := "memory.current", "inactive_file"
	if g.file != "memory.max" {
		used, inactive = "memory.usage_in_bytes", "total_inactive_file"
	}
	number := func(at, file string) (int64, bool) {
		text, err := fs.ReadFile(root, path.Join(at, file))
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		return n, err == nil && n >= 0
	}
	least := int64(math.MaxInt64)
	for at := path.Join(g.mount, g.path); ; at = path.Dir(at) {
		limit, limited := number(at, g.file)
		if taken, known := number(at, used); limited && known {
			for line := range lines(root, path.Join(at, "memory.stat")) {
				if f := strings.Fields(line); len(f) == 2 && f[0] == inactive {
					if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n > 0 {
						taken -= min(n, taken)
					}
				}
			}
			least = min(least, max(1, limit-taken))
		}
		if len(at) <= len(g.mount) {
			return least
		}
	}
}

// groups are those of this process that can limit memory: that of version 2 and that
// of the memory controller of version 1.
func groups(root fs.FS) []group {
	var unified, controlled string
	for line := range lines(root, "proc/self/cgroup") {
		f := strings.SplitN(line, ":", 3)
		switch {
		case len(f) != 3:
		case f[1] == "":
			unified = f[2]
		case slices.Contains(strings.Split(f[1], ","), "memory"):
			controlled = f[2]
		}
	}
	var all []group
	for line := range lines(root, "proc/self/mountinfo") {
		// ID parent device root mount options [more...] - type source options
		before, after, ok := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(kind) < 3 {
			continue
		}
		mounted, mount := f[3], strings.TrimPrefix(f[4], "/")
		switch {
		case kind[0] == "cgroup2" && unified != "":
			all = append(all, group{mount, below(unified, mounted), "memory.max"})
		case kind[0] == "cgroup" && controlled != "" && slices.Contains(strings.Split(kind[2], ","), "memory"):
			all = append(all, group{mount, below(controlled, mounted), "memory.limit_in_bytes"})
		}
	}
	return all
}

// below is the path of a group below the one that is mounted. In a container the
// group may lie outside of what is mounted there: then that is all that is seen.
func below(group, mounted string) string {
	rest, ok := strings.CutPrefix(group, strings.TrimSuffix(mounted, "/"))
	if !ok || rest != "" && !strings.HasPrefix(rest, "/") || strings.Contains(rest, "/..") {
		return ""
	}
	return rest
}

// lines yields the lines of a file; none where it cannot be read.
func lines(root fs.FS, name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return
		}
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}
