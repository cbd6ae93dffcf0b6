//go:build cuda && cgo

package driver

import (
	"sync/atomic"
	"unsafe"
)

// resultTexts is the library that knows the names of results, from when it is open,
// which is before the driver runs.
var resultTexts atomic.Pointer[libcuda]

// resultName is the name of a result, such as CUDA_ERROR_OUT_OF_MEMORY; "" for one
// that the driver does not know, and for 0.
func resultName(code int) string {
	if l := resultTexts.Load(); l != nil && code != 0 {
		return ask(l.errorName, code)
	}
	return ""
}

// resultText is the driver's description of a result, such as "out of memory".
func resultText(code int) string {
	if l := resultTexts.Load(); l != nil {
		return ask(l.errorString, code)
	}
	return ""
}

func ask(function uintptr, code int) string {
	text := new(unsafe.Pointer)
	if call(function, uintptr(code), uintptr(unsafe.Pointer(text))) != 0 || *text == nil {
		return ""
	}
	return cString(*text)
}

// cString copies the zero-terminated string at p, in C's memory.
func cString(p unsafe.Pointer) string {
	var b []byte
	for ; *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
		b = append(b, *(*byte)(p))
	}
	return string(b)
}
