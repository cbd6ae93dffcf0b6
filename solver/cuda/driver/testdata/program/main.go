//go:build cuda && cgo

// A program with package driver: it says what Open does, and calls gorgonia.org/cu
// before that and after.
package main

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/gladflow/gladflow/solver/cuda/driver"
)

func main() {
	_, before := cu.NumDevices()
	err := driver.Open()
	n, _ := driver.Count()
	// A function that the emulated driver does not have.
	_, missing := cu.MemAllocManaged(8, cu.AttachGlobal)
	fmt.Printf("%v %v\n%v\n%v\n%d %d\n", before, missing, driver.KindOf(err), err, driver.Version(), n)
}
