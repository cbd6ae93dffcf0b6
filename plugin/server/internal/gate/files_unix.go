//go:build unix

package gate

import "syscall"

// openFiles is how many files this process may have open; 0 if unknown. Go has
// raised the limit to what the process may have.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
