//go:build cuda

package device

import (
	"errors"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/cuda"
	"github.com/gladflow/gladflow/solver/cuda/driver"
	"github.com/gladflow/gladflow/solver/cuda/library"
)

// process is the pool that all runs of the process share.
var process = NewPool(cudaCode{})

// Process is the pool that all runs of the process share; nil in a build without code for
// GPUs.
func Process() *Pool { return process }

// cudaCode is the Code of this build.
type cudaCode struct{}

func (cudaCode) List() ([]job.GPUInfo, error) {
	found, err := cuda.Devices()
	if err != nil {
		return nil, err
	}
	libraries, err := library.Open()
	if err != nil {
		return nil, err
	}
	version := driver.Version()
	gpus := make([]job.GPUInfo, len(found))
	for i, p := range found {
		gpus[i] = job.GPUInfo{
			Device: job.Device{CUDA: true, Index: i}.String(), Found: true,
			Name:              p.Name,
			ComputeCapability: fmt.Sprintf("%d.%d", p.Major, p.Minor),
			Multiprocessors:   p.Multiprocessors,
			MemoryBytes:       p.Memory,
			UUID:              p.UUID,
			Driver:            fmt.Sprintf("%d.%d", version/1000, version%1000/10),
			Libraries:         fmt.Sprintf("%v, %v", libraries.BLAS, libraries.Solver),
		}
	}
	return gpus, nil
}

func (cudaCode) Open(index int) (GPU, error) {
	b, err := cuda.New(index)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (cudaCode) Fault(err error) (cause error, full bool) {
	// Of errors that are joined the first.
	var failed *driver.Error
	if !errors.As(err, &failed) {
		return nil, false
	}
	return failed, failed.Kind == driver.OutOfMemory
}
