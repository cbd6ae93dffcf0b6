//go:build !linux || cuda

package main

// newHandover is nil: this build has GPU code, or there is none for this system.
func newHandover() *handover { return nil }

// pluginHandover is nil for the same reason.
func pluginHandover() *handover { return nil }
