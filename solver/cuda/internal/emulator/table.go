//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	kernelName   = regexp.MustCompile(`\bextern\s+"C"\s+__global__\s+void\s+(\w+)\s*\(([^)]*)\)`)
	kernelWord   = regexp.MustCompile(`\b__global__\b`)
	constant     = regexp.MustCompile(`\b__constant__\s+[\w:]+(?:\s+\w+)*?\s+(\w+)\s*[\[;={]`)
	constantWord = regexp.MustCompile(`\b__constant__\b`)
)

// preprocess is the text of kernels with their includes and macros resolved, in which
// __global__ and __constant__ stand as they are.
func preprocess(files map[string][]byte, main string) (string, error) {
	folder, err := os.MkdirTemp("", "emulator-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return "", err
		}
	}
	if err := run(folder, "g++", "-std=c++17", "-E", "-P", "-x", "c++", "-DEMULATOR", "-DEMULATOR_NAMES", "-o", "preprocessed", main); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(folder, "preprocessed"))
	return string(text), err
}

// names finds the kernels and the constants of a preprocessed source.
func names(source string) (kernels, constants []string, err error) {
	for _, m := range kernelName.FindAllStringSubmatch(source, -1) {
		kernels = append(kernels, m[1])
	}
	for _, m := range constant.FindAllStringSubmatch(source, -1) {
		constants = append(constants, m[1])
	}
	if n := len(kernelWord.FindAllString(source, -1)); n != len(kernels) {
		return nil, nil, fmt.Errorf(`the source has %d times __global__, and %d kernels that read: extern "C" __global__ void NAME(...)`, n, len(kernels))
	}
	if n := len(constantWord.FindAllString(source, -1)); n != len(constants) {
		return nil, nil, fmt.Errorf("the source has %d times __constant__, and %d constants that read: __constant__ TYPE NAME[...]", n, len(constants))
	}
	return kernels, constants, nil
}

// table is the C++ source of the tables that table.h declares.
func table(main string, kernels, constants []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#include %q\n\n#include \"table.h\"\n\nnamespace emulator {\n\n", main)
	// No array of C++ is empty.
	b.WriteString("const Kernel kernels[] = {\n")
	for _, name := range kernels {
		fmt.Fprintf(&b, "\tEMULATOR_KERNEL(%s),\n", name)
	}
	fmt.Fprintf(&b, "\t{},\n};\nconst size_t kernel_count = %d;\n\nconst Constant constants[] = {\n", len(kernels))
	for _, name := range constants {
		fmt.Fprintf(&b, "\tEMULATOR_CONSTANT(%s),\n", name)
	}
	fmt.Fprintf(&b, "\t{},\n};\nconst size_t constant_count = %d;\n\n}  // namespace emulator\n", len(constants))
	return b.String()
}
