package batch

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// StreamName is what errors call a table that comes in batches.
const StreamName = "the stream"

// A CorruptError says that a stream of batches is not what a correct writer
// sends. It is the sender who can put it right.
type CorruptError struct {
	// Reason is one sentence that says what is wrong and what to do.
	Reason string
	// Err is the cause; nil if there was no error.
	Err error
}

// Error is "the stream: REASON".
func (e *CorruptError) Error() string { return StreamName + ": " + e.Reason }

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Guard runs f and turns its panics into errors: Arrow's readers panic on
// bytes that no correct writer makes.
func Guard(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *LimitError:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	return f()
}

// Bounded is mem, but it panics over single allocations that only a corrupt
// length can ask for: compressed buffers state the size they unpack to. It is
// for readers under Guard.
func Bounded(mem memory.Allocator) memory.Allocator { return bounded{mem} }

type bounded struct{ memory.Allocator }

const largestBuffer = 1 << 30

func tooLong(size int64) error {
	return fmt.Errorf("a buffer states %d bytes; write smaller batches", size)
}

func (b bounded) Allocate(size int) []byte {
	if size > largestBuffer || size < 0 {
		panic(tooLong(int64(size)).Error())
	}
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	if size > largestBuffer || size < 0 {
		panic(tooLong(int64(size)).Error())
	}
	return b.Allocator.Reallocate(size, old)
}
