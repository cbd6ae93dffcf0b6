//go:build !linux

package arrowio

import (
	"errors"
	"os"
)

// namelessFiles are Linux's alone.
func namelessFiles() nameless {
	none := errors.ErrUnsupported
	return nameless{
		create: func(*os.Root) (*os.File, error) { return nil, none },
		link:   func(*os.File, *os.Root, string) error { return none },
	}
}
