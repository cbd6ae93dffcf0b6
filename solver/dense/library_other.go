//go:build !((linux || darwin) && (amd64 || arm64))

package dense

import (
	"fmt"
	"runtime"
)

func findOpenBLAS() (Engine, error) {
	return nil, fmt.Errorf("libraries are not opened on %s/%s", runtime.GOOS, runtime.GOARCH)
}
