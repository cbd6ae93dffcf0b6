//go:build linux && (amd64 || arm64)

package kernels

import (
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Tiles are counted so that none is left out and none comes twice.
func TestTilesOfLargeMatrices(t *testing.T) {
	dev := emulated(t)
	const rows = 1300 // of tiles: d = 41,600
	number := 0
	for column := range rows {
		for row := range column + 1 {
			top, _, _ := purego.SyscallN(dev.cornerAt, uintptr(number), 0)
			left, _, _ := purego.SyscallN(dev.cornerAt, uintptr(number), 1)
			if int(top) != row*tile || int(left) != column*tile {
				t.Fatalf("tile %d begins at (%d, %d), want (%d, %d)", number, top, left, row*tile, column*tile)
			}
			number++
		}
	}
	if got := Tiles(rows * tile); got != int64(number) {
		t.Errorf("there are %d tiles, want %d", got, number)
	}
}

// huge is memory for n numbers, all 0, of which only what is written takes room.
func huge(t *testing.T, n int) vector {
	t.Helper()
	data, err := syscall.Mmap(-1, 0, 8*(n+2*guard), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skipf("the system does not give addresses for %d numbers: %v", n, err)
	}
	t.Cleanup(func() { syscall.Munmap(data) })
	return vector{unsafe.Slice((*float64)(unsafe.Pointer(&data[0])), n+2*guard)}
}

// No index overflows at d = 50,000, where a matrix has more entries than 2³¹: the last
// block computes the last entries.
func TestLastBlockOfLargeMatrices(t *testing.T) {
	dev := emulated(t)
	const d, end = 50_000, 50_000*50_000 - 1
	tiles := int(Tiles(d))
	a, b, to := huge(t, d*d), huge(t, d*d), huge(t, d*d)
	rows := huge(t, int(6*d))
	partial, two := huge(t, tiles), filled([]float64{2})
	fill := func(v vector, value float64) {
		for k := range 40 { // the last entries of the last rows
			for j := range 40 {
				v.values()[end-k*d-j] = value
			}
		}
	}
	last := func(k Kernel, blocks int, args ...any) {
		t.Helper()
		dev.start(t, k, blocks, 1, false, blocks-1, args...)
	}
	want := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	at := func(v vector, i, j int) float64 { return v.values()[end-i*d-j] }

	fill(a, 3)
	fill(b, 1)
	blocks := ThetaArgument.Blocks(d)
	dev.start(t, ThetaArgument, blocks, 1, false, end%(blocks*threads)/threads, to, a, b, null{}, two, d)
	want("theta_argument", at(to, 0, 0), 0.5)
	last(SetIdentity, d, to, two, d)
	want("set_identity", at(to, 0, 0), 2)
	want("set_identity, off the diagonal", at(to, 0, 1), 0)
	last(RowNorms, d, rows, a, d)
	want("row_norms", rows.values()[d-1], 40*3)
	last(HalfDifference, tiles, to, a, b, d)
	want("half_difference", at(to, 0, 0), 1)
	want("half_difference, below the diagonal", at(to, 0, 3), 1)
	fill(to, 0)
	a.values()[end-5*d] = 7 // above the diagonal
	last(Mirror, tiles, a, 0, d)
	want("mirror", at(a, 0, 5), 7)
	fill(a, 3)

	weights := make([]float64, weightsLength) // a network of which the output is 0
	weights[40] = 0.5                         // the scale of paper_cell_3
	dev.weights(weights)
	last(PaperCell3, tiles, to, null{}, partial, a, a, b, null{}, d)
	want("paper_cell", at(to, 0, 0), 3-0.25)
	want("paper_cell, below the diagonal", at(to, 0, 3), 3-0.25)
	want("paper_cell, the sum", partial.values()[tiles-1], 0.25*0.25*((d%tile)*(d%tile)))

	for i := range rows.values() {
		rows.values()[i] = 1
	}
	fill(to, 5)
	last(PosteriorEntries9, tiles, to, partial, a, a, rows, two, two, 0.25, d)
	want("posterior_entries", at(to, 0, 1), 1.5)
	want("posterior_entries, below the diagonal", at(to, 3, 1), 1.5)
	want("posterior_entries, on the diagonal", at(to, 0, 0), 5)
	last(PosteriorRows, d, rows, b, a, a, two, d)
	want("posterior_rows", rows.values()[6*d-1], math.Log(0.1+39*9))
}
