//go:build !linux

package arrowio

import "os"

// wholeSuffix is that of files that only Linux links.
const wholeSuffix = ".tmp"

func sweep(*os.Root, string) {}

func hold(*os.Root, string) *os.File { return nil }
