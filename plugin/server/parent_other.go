//go:build !unix

package server

// brokenPipe cannot be told here.
func brokenPipe(int) bool { return false }
