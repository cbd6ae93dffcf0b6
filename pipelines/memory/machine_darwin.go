package memory

import "golang.org/x/sys/unix"

func machine() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}

func available() int64 { return 0 }
