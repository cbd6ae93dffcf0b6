package experiment

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// watchPeak begins to watch the memory of the process, and returns how many bytes it has
// grown by at most since then. Both are NaN's where the system does not tell (Linux does).
func watchPeak() (grown func() float64) {
	debug.FreeOSMemory()
	// 5 sets VmHWM back to VmRSS: see proc(5).
	reset := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	before := statusBytes("VmRSS")
	return func() float64 {
		if reset != nil {
			return math.NaN()
		}
		return statusBytes("VmHWM") - before
	}
}

// statusBytes is a size of /proc/self/status; NaN where there is none.
func statusBytes(key string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return math.NaN()
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == key+":" {
			if kib, err := strconv.ParseFloat(f[1], 64); err == nil {
				return kib * 1024
			}
		}
	}
	return math.NaN()
}
