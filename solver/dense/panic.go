package dense

import (
	"fmt"
	"runtime/debug"
)

// A Panic is a panic that is forwarded from one goroutine to another, which waits
// for it and can recover: a panic that is not recovered in its own goroutine ends
// the process. Whoever starts a goroutine runs its work in Catch, and after
// waiting panics with what Catch returned.
//
//	var p *dense.Panic
//	wg.Go(func() { p = dense.Catch(work) })
//	wg.Wait()
//	if p != nil {
//		panic(p)
//	}
type Panic struct {
	// Value is what the first panic was called with.
	Value any
	// Stack is the stack of the goroutine that panicked first, as
	// debug.Stack prints it.
	Stack []byte
}

// Error gives both the value and the stack: it is what the runtime prints for a
// Panic that nobody recovers from.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error, such as a runtime.Error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Catch runs f and returns its panic, or nil if f returned. A panic that was
// forwarded before stays as it is, with the value and the stack of its origin.
func Catch(f func()) (caught *Panic) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Panic:
			caught = v
		default:
			caught = &Panic{v, debug.Stack()}
		}
	}()
	f()
	return nil
}
