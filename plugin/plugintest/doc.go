// Package plugintest tests a binary that claims to be a gladflow plugin: the
// project's own, or a port in any language. It starts the binary as a host
// does, over and over, and asks for everything that package protocol promises,
// the broken callers included. The test of a port is a whole file:
//
//	package port
//
//	import (
//		"testing"
//
//		"github.com/gladflow/gladflow/plugin/plugintest"
//	)
//
//	func TestConformance(t *testing.T) {
//		plugintest.Run(t, "path/to/the/binary")
//	}
//
// go test -run 'TestConformance/deadline' runs one case, go test -v prints what
// was measured too. What fails says what the protocol requires and what came
// instead, with the end of the binary's log.
//
// The binary must have the solvers glad and bcd; others that it lists are
// cancelled too. Cases that need sh and SIGKILL are skipped where there are
// none, and processes that are left are found on Linux only, by /proc.
//
// It is not a test of solvers: networks are easy, and their edges must be the
// right ones, but no figure is compared with a reference.
package plugintest
