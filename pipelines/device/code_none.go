//go:build !cuda

package device

// Process is nil: this build has no code for GPUs.
func Process() *Pool { return nil }
