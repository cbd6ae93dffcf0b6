package recovery

import (
	"context"
	"errors"
	"sync"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver/dense"
)

// A gpuPool opens GPUs for runs. Those that are at work at the same time share one; the
// last closes it.
type gpuPool struct {
	from gpuCode

	mu    sync.Mutex
	inUse map[int]*openGPU
}

// An openGPU is one that runs have, or wait for.
type openGPU struct {
	users int
	ready chan struct{} // closed when gpu and err are set
	gpu   gpu
	err   error
	panic *dense.Panic
}

func newGPUPool(from gpuCode) *gpuPool { return &gpuPool{from: from, inUse: map[int]*openGPU{}} }

// list describes the GPUs of the machine, one at least, or says why there is none. The
// pool may be nil: that of a build without code for GPUs.
func (p *gpuPool) list() ([]job.GPUInfo, error) {
	if p == nil {
		return nil, errors.New(noGPUCode)
	}
	found, err := p.from.list()
	if err == nil && len(found) == 0 {
		err = errors.New("the driver lists no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi, or run on the CPU")
	}
	return found, err
}

// take returns the GPU with that number, which the run has until it calls release, once.
// To open one can take seconds: where ctx ends first, take returns its error.
func (p *gpuPool) take(ctx context.Context, index int) (g gpu, release func(), err error) {
	p.mu.Lock()
	o, shared := p.inUse[index]
	if !shared {
		o = &openGPU{ready: make(chan struct{})}
		p.inUse[index] = o
		go func() {
			defer close(o.ready)
			o.panic = dense.Catch(func() { o.gpu, o.err = p.from.open(index) })
		}()
	}
	o.users++
	p.mu.Unlock()
	select {
	case <-o.ready:
	case <-ctx.Done():
		go func() {
			<-o.ready
			p.leave(index, o)
		}()
		return nil, nil, ctx.Err()
	}
	if o.panic != nil {
		p.leave(index, o)
		panic(o.panic)
	}
	if o.err != nil {
		p.leave(index, o)
		return nil, nil, o.err
	}
	return o.gpu, sync.OnceFunc(func() { p.leave(index, o) }), nil
}

// leave is one user less.
func (p *gpuPool) leave(index int, o *openGPU) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o.users--
	if o.users > 0 {
		return
	}
	delete(p.inUse, index)
	if o.gpu != nil && o.err == nil {
		// A GPU that cannot be closed is one that is lost, and the results are there.
		_ = o.gpu.Close()
	}
}
