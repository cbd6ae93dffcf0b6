package dense

import (
	"fmt"
	"runtime/debug"
)

// A Panic is a panic of one goroutine on its way to another, the one that waits
// for it and can recover from it: a panic that nobody recovers from in its own
// goroutine ends the process. Who starts a goroutine runs its work in Catch and
// panics with what that returned where the goroutine is waited for.
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
	// debug.Stack prints it: it names the culprit.
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
