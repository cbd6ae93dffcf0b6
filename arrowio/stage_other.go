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
		create: func(string) (*os.File, error) { return nil, none },
		link:   func(*os.File, string) error { return none },
	}
}
