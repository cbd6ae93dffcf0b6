//go:build unix

package processor

import "syscall"

// spent is what the process has taken of all processors, in nanoseconds.
func spent() (int64, bool) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return r.Utime.Nano() + r.Stime.Nano(), err == nil
}
