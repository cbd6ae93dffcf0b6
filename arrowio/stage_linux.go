package arrowio

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// namelessFiles are files opened with O_TMPFILE (open(2)): when the process
// ends, however it ends, the system takes them back.
func namelessFiles() nameless {
	return nameless{
		create: func(folder *os.Root) (*os.File, error) {
			f, err := folder.OpenFile(".", unix.O_TMPFILE|os.O_RDWR, 0o666)
			if err == nil {
				lock(f) // for sweep; without it there may be another's leftover one day
			}
			return f, err
		},
		link: func(f *os.File, folder *os.Root, name string) error {
			d, err := folder.Open(".")
			if err != nil {
				return err
			}
			defer d.Close()
			from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
			if err := unix.Linkat(unix.AT_FDCWD, from, int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW); err != nil {
				return &os.LinkError{Op: "linkat", Old: from, New: name, Err: err}
			}
			return nil
		},
	}
}
