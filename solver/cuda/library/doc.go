// Package library is cuBLAS and cuSOLVER as package cuda uses them, for matrices in a
// GPU's memory. They are opened at run time, where the machine has them, without their
// headers.
//
//	l, err := library.Open()
//	h, err := l.NewHandle(device, stream)
//	err = h.Gemm(false, true, n, n, k, 1, a, n, b, n, 0, c, n)
//
// Matrices are column-major, as the libraries have them. Calls belong inside
// driver.Device's Do. They queue their work on the stream of the handle and return,
// Dot and Nrm2 apart, and check no more than the libraries do: sizes and strides are
// the caller's to get right. A handle whose calls come in the same order gives the
// same bits.
//
// Like package driver it is built with the tag cuda only.
package library
