package dense

import (
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	e, err := Open("gonum")
	if err != nil || e.Name() != "gonum" {
		t.Errorf("gonum: %v, %v", e, err)
	}
	for _, name := range []string{"", "auto"} {
		e, err := Open(name)
		if err != nil || e == nil {
			t.Errorf("%q: %v, %v", name, e, err)
		}
		if e != Default() {
			t.Errorf("%q is %s, the default %s", name, e.Name(), Default().Name())
		}
	}
	if _, err := Open("mkl"); err == nil || !strings.Contains(err.Error(), "choose auto, openblas or gonum") {
		t.Errorf("mkl: %v", err)
	}
	switch e, err := Open("openblas"); {
	case err != nil:
		if !strings.Contains(err.Error(), "install it") {
			t.Errorf("the error does not help: %v", err)
		}
		if Default() != (Gonum{}) {
			t.Errorf("without OpenBLAS the default is %s", Default().Name())
		}
	case !strings.HasPrefix(e.Name(), "OpenBLAS"):
		t.Errorf("OpenBLAS calls itself %q", e.Name())
	case Default() != e:
		t.Errorf("with OpenBLAS the default is %s", Default().Name())
	}
}

func BenchmarkDefault(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Default()
	}
}
