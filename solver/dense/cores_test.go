package dense

import (
	"runtime"
	"testing"
)

func TestSpareProcessor(t *testing.T) {
	cores := Cores()
	before := runtime.GOMAXPROCS(0) // one more already when the test runs again
	for range 2 {
		SpareProcessor()
		if Cores() != cores || runtime.GOMAXPROCS(0) != cores+1 {
			t.Errorf("%d cores and GOMAXPROCS %d, want %d and %d", Cores(), runtime.GOMAXPROCS(0), cores, cores+1)
		}
	}
	if before != cores && before != cores+1 {
		t.Errorf("GOMAXPROCS was %d with %d cores", before, cores)
	}
}

// One P still leaves one core to compute on.
func TestCoresAreAtLeastOne(t *testing.T) {
	SpareProcessor()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if Cores() != 1 {
		t.Errorf("%d cores with GOMAXPROCS 1", Cores())
	}
}
