package memory

import (
	"os"
	"runtime"
	"testing"
	"testing/fstest"
)

func TestMachineOf(t *testing.T) {
	const meminfo = "MemTotal:        8000000 kB\nMemFree:          123456 kB\n"
	const total = 8000000 << 10
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const v1 = "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" +
		"36 25 0:31 / /sys/fs/cgroup/memory rw shared:14 - cgroup cgroup rw,memory\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no files":          {nil, 0},
		"the machine":       {map[string]string{"proc/meminfo": meminfo}, total},
		"a damaged meminfo": {map[string]string{"proc/meminfo": "MemTotal: many kB\nMemTotal: 99999999999999999999 kB\n"}, 0},
		"v2, its own limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 1000000},
		"v2, the limit of one above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/b/c/memory.max": "3000000\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2000000\n",
		}, 2000000},
		"v2, no limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "max\n",
		}, total},
		"v2, more than the machine": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "99000000000000\n",
		}, total},
		"v2, a namespace": {map[string]string{ // the group is mounted as the root
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "4000000\n",
		}, 4000000},
		"v2, outside of what is mounted": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "4000000\n",
		}, 4000000},
		"v1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory,hugetlb:/docker/x\n3:cpu:/y\n0::/\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/docker/memory.limit_in_bytes":   "5000000\n",
		}, 5000000},
		"v1, mounted from within": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/docker/x/y\n",
			"proc/self/mountinfo":                          "36 25 0:31 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/y/memory.limit_in_bytes": "6000000\n",
		}, 6000000},
		"v1 and v2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/a\n0::/b\n", "proc/self/mountinfo": v1 + "40 25 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "7000000\n", "sys/fs/cgroup/unified/b/memory.max": "6500000\n",
		}, 6500000},
		"damaged": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0:/\n\nx\n0::/a\n", "proc/self/mountinfo": "- cgroup2\n1 2 3 - a\n" + v2, "sys/fs/cgroup/a/memory.max": "-5\n",
		}, total},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := machineOf(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAvailableOf(t *testing.T) {
	const meminfo = "MemTotal:        8000000 kB\nMemAvailable:    5000000 kB\n"
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const v1 = "36 25 0:31 / /sys/fs/cgroup/memory rw shared:14 - cgroup cgroup rw,memory\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no files":    {nil, 0},
		"the machine": {map[string]string{"proc/meminfo": meminfo}, 5000000 << 10},
		"v2": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "900\n",
			"sys/fs/cgroup/a/memory.max": "10000\n", "sys/fs/cgroup/a/memory.current": "6000\n",
			"sys/fs/cgroup/a/memory.stat": "anon 17\ninactive_file 1500\nactive_file 5\n",
		}, 5500},
		"v2, more than its limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "10000\n", "sys/fs/cgroup/memory.current": "12000\n", "sys/fs/cgroup/memory.stat": "inactive_file x\n",
		}, 1},
		"v2, no figures": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "10000\n",
		}, 5000000 << 10},
		"v1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/x\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "10000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "7000\n",
			"sys/fs/cgroup/memory/x/memory.stat": "inactive_file 1\ntotal_inactive_file 2000\n",
		}, 5000},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := availableOf(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if free := Available(); free > Default() || free <= Process && Default() > 2*Process {
		t.Errorf("%d are free, and the limit is %d", free, Default())
	}
}

// The machine of the tests has memory, and the default leaves some of it.
func TestDefault(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system does not tell")
	}
	if _, err := os.Stat("/proc/meminfo"); runtime.GOOS == "linux" && err != nil {
		t.Skip(err)
	}
	all, byDefault := Machine(), Default()
	if all < 64<<20 || byDefault >= all || byDefault < all/2 {
		t.Errorf("of %d bytes the default is %d", all, byDefault)
	}
}
