//go:build !cuda

package recovery

// processGPUs is nil: this build has no code for GPUs.
func processGPUs() *gpuPool { return nil }
