package dense

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

var errCulprit = errors.New("division of a gene by zero")

// culprit is what the stacks must name.
//
//go:noinline
func culprit() { panic(errCulprit) }

func wantCulprit(t *testing.T, p *Panic) {
	t.Helper()
	if p == nil {
		t.Fatal("the panic is lost")
	}
	if p.Value != error(errCulprit) || !errors.Is(p, errCulprit) {
		t.Errorf("value %v", p.Value)
	}
	if !strings.Contains(string(p.Stack), "dense.culprit") {
		t.Errorf("the stack does not name the culprit:\n%s", p.Stack)
	}
	if text := p.Error(); !strings.HasPrefix(text, errCulprit.Error()+"\n") || !strings.Contains(text, "dense.culprit") {
		t.Errorf("Error is %q", text)
	}
}

func TestCatch(t *testing.T) {
	if p := Catch(func() {}); p != nil {
		t.Errorf("out of nothing: %v", p)
	}
	p := Catch(culprit)
	wantCulprit(t, p)

	again := Catch(func() { panic(p) })
	if again != p {
		t.Error("a forwarded panic is another one")
	}

	p = Catch(func() { panic(nil) })
	var none *runtime.PanicNilError
	if !errors.As(p, &none) {
		t.Errorf("panic(nil) gives %v", p)
	}
	if p = Catch(func() { panic("text") }); p.Unwrap() != nil || !strings.HasPrefix(p.Error(), "text\n") {
		t.Errorf("%v", p)
	}
}

func TestAwaitForwardsPanics(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wantCulprit(t, Catch(func() { Await(ctx, culprit) }))
	wantCulprit(t, Catch(func() { Await(context.Background(), culprit) }))
	wantCulprit(t, Catch(func() {
		Await(ctx, func() { Await(ctx, culprit) }) // twice forwarded
	}))
}

// A kernel that is left to the background may panic there.
func TestAwaitLosesLatePanics(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	proceed, ending := make(chan struct{}), make(chan struct{})
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := Await(ctx, func() {
		defer close(ending)
		<-proceed
		culprit()
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(proceed)
	<-ending
	time.Sleep(20 * time.Millisecond) // had it not been caught, this would be the end
}
