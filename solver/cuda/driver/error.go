//go:build cuda && cgo

package driver

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// An Error says what went wrong on the way to a GPU or on it, and what to do.
type Error struct {
	// Op is the function that failed, such as "cuMemAlloc" or "cublasDgemm".
	Op string
	// Code is what it returned, and Name the name of that; 0 and "" where the
	// error is not the driver's or a library's.
	Code int
	Name string
	Kind Kind
	// Message is a sentence: what is wrong, and what to do.
	Message string
	// Log is what the compiler of PTX wrote, for the kinds Refused and TooOld.
	Log string
}

// Error is Message, with the compiler's log behind it, in one line.
func (e *Error) Error() string {
	if e.Log == "" {
		return e.Message
	}
	return e.Message + ": " + strings.Join(strings.FieldsFunc(e.Log, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// Kind says what a caller can do about an Error.
type Kind int

const (
	// Failed: anything else. The call is at fault, and the device goes on.
	Failed Kind = iota + 1
	// NoLibrary: libcuda.so.1, or a library of CUDA's, is not there.
	NoLibrary
	// NoDriver: the library is there, but the driver does not run.
	NoDriver
	// NoDevice: the driver has no such GPU.
	NoDevice
	// TooOld: the driver or the GPU is too old for this program.
	TooOld
	// Busy: another process has the GPU for itself, or nobody may use it.
	Busy
	// Lost: the GPU has failed, and with it all that this process had on it.
	Lost
	// OutOfMemory: there is too little memory on the GPU, or of the host's.
	OutOfMemory
	// Refused: the driver does not compile the PTX.
	Refused
)

var kinds = [...]string{"unknown", "failed", "no library", "no driver", "no device", "too old", "busy", "lost", "out of memory", "refused"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kinds) {
		k = 0
	}
	return kinds[k]
}

// KindOf is the Kind of the Error that err is or wraps, or 0.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}

// Results of the driver that something is done about.
const (
	invalidValue        = 1
	outOfMemory         = 2
	notInitialized      = 3
	stubLibrary         = 34
	deviceUnavailable   = 46
	noDevice            = 100
	invalidDevice       = 101
	invalidImage        = 200
	invalidContext      = 201
	noBinary            = 209
	eccUncorrectable    = 214
	invalidPTX          = 218
	nvlinkUncorrectable = 220
	noCompiler          = 221
	unsupportedPTX      = 222
	compilerDisabled    = 223
	contained           = 226
	invalidSource       = 300
	notFound            = 500
	notReady            = 600
	illegalAddress      = 700
	launchTimeout       = 702
	contextDestroyed    = 709
	assertion           = 710
	stackError          = 714
	launchFailed        = 719
	notPermitted        = 800
	notSupported        = 801
	systemNotReady      = 802
	driverMismatch      = 803
	compatNotSupported  = 804
	unknown             = 999
)

// sticky reports whether a result says that the context is gone: whatever is called
// next answers the same.
func sticky(code int) bool {
	switch code {
	case eccUncorrectable, nvlinkUncorrectable, contained, illegalAddress, launchTimeout, contextDestroyed, assertion, unknown:
		return true
	}
	// Faults of a kernel: the stack, an instruction, an address, its launch.
	return code >= stackError && code <= launchFailed
}

// code is the result behind an error of gorgonia.org/cu, whose type is not exported.
func code(err error) int {
	if v := reflect.ValueOf(err); v.CanInt() {
		return int(v.Int())
	}
	return unknown
}

// words names a result, as in "CUDA_ERROR_OUT_OF_MEMORY (2, out of memory)".
func words(code int) string {
	name, text := resultName(code), resultText(code)
	switch {
	case name == "":
		return fmt.Sprintf("the error %d", code)
	case text == "":
		return fmt.Sprintf("%s (%d)", name, code)
	}
	return fmt.Sprintf("%s (%d, %s)", name, code, text)
}

// gigabytes writes a number of bytes for people.
func gigabytes(bytes int64) string {
	switch {
	case bytes >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
