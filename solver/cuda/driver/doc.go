// Package driver is NVIDIA's driver as package cuda uses it: devices with a thread of
// their own, memory, streams, events, kernels, and errors that say what to do. It has
// no mathematics.
//
// It is built with the tag cuda only, by cgo, with the header cuda.h of CUDA 12 in
// CGO_CFLAGS; CUDA 13's does not do. Calls go through gorgonia.org/cu; what that lacks goes
// through purego. Neither links libcuda: a program that holds this package starts
// without a driver, and Open says what is missing.
//
//	if err := driver.Open(); err != nil {
//		return err // a sentence: no driver, no GPU, too old ...
//	}
//	d, err := driver.Use(0)
//	...
//	defer d.Close()
//	err = d.Do(func() error {
//		p, err := d.Alloc(8 * n)
//		...
//		return stream.Upload(p, values)
//	})
package driver
