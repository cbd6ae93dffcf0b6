//go:build (linux || darwin) && (amd64 || arm64)

package dense

import (
	"slices"

	"github.com/ebitengine/purego"
	machine "golang.org/x/sys/cpu"
)

// coreVariable is where OpenBLAS looks for the name of the kernels that it is to use.
const coreVariable = "OPENBLAS_CORETYPE"

// betterCore is the name of the kernels that an OpenBLAS should be told to use, or "" where it has
// chosen well or the user has chosen. Releases choose by tables of processors, and take one that
// is newer than they are for an older one without AVX-512: 0.3.21 all of AMD, for which the
// kernels with AVX-512 take two thirds to three quarters of the time.
func betterCore(chosen string, avx512 bool, getenv func(string) string) string {
	if avx512 && getenv(coreVariable) == "" && slices.Contains(lesserCores, chosen) {
		return "SkylakeX"
	}
	return ""
}

// lesserCores are kernels without AVX-512 that OpenBLAS falls back to on processors that it does
// not know.
var lesserCores = []string{"Prescott", "Core2", "Nehalem", "Sandybridge", "Haswell", "Excavator", "Zen"}

// haveAVX512 reports whether the processor, and the system, have all that the kernels called
// SkylakeX use.
func haveAVX512() bool {
	x := machine.X86
	return x.HasAVX2 && x.HasFMA && x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL
}

// coreName is the name of the kernels that an open library has chosen, or "".
func coreName(handle uintptr) string {
	f, err := purego.Dlsym(handle, "openblas_get_corename")
	if err != nil {
		return ""
	}
	name, _, _ := purego.SyscallN(f)
	return cString(name)
}
