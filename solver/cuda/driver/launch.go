//go:build cuda && cgo

package driver

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// maxArguments is how many arguments a kernel may have here.
const maxArguments = 32

// The largest grid of every GPU that there is a CUDA 12 for, and the largest block.
const (
	maxGridX = math.MaxInt32
	maxGridY = math.MaxUint16
	maxBlock = 1024
)

// Launch queues a kernel on gridX by gridY blocks of so many threads. Arguments are of
// eight bytes each: Pointer, int64, int or float64. It keeps no argument and takes no
// memory of Go's. That the kernel failed, a later call says.
func (s *Stream) Launch(f *Function, gridX, gridY, block int, arguments ...any) error {
	if err := s.ready(); err != nil {
		return err
	}
	if gridX < 1 || gridX > maxGridX || gridY < 1 || gridY > maxGridY || block < 1 || block > maxBlock {
		return s.misused(f, fmt.Sprintf("%d by %d blocks of %d threads cannot be", gridX, gridY, block))
	}
	if len(arguments) > maxArguments {
		return s.misused(f, fmt.Sprintf("%d arguments are too many", len(arguments)))
	}
	var (
		values   [maxArguments]uint64
		pointers [maxArguments]unsafe.Pointer
	)
	for i, a := range arguments {
		switch a := a.(type) {
		case Pointer:
			values[i] = uint64(a)
		case int64:
			values[i] = uint64(a)
		case int:
			values[i] = uint64(a)
		case float64:
			values[i] = math.Float64bits(a)
		case nil:
			return s.misused(f, "argument "+fmt.Sprint(i)+" is nil")
		default:
			return s.misused(f, "argument "+fmt.Sprint(i)+" is of type "+reflect.TypeOf(a).String())
		}
		pointers[i] = unsafe.Pointer(&values[i])
	}
	return s.card.failed("cuLaunchKernel", f.f.Launch(gridX, gridY, 1, block, 1, 1, 0, s.s, pointers[:len(arguments)]))
}

func (s *Stream) misused(f *Function, what string) error {
	return &Error{Op: "cuLaunchKernel", Kind: Failed, Message: fmt.Sprintf("%s: the kernel %s cannot be launched: %s", s.card.properties, f.name, what)}
}
