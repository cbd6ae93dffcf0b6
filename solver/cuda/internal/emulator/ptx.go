//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// PTX writes what the emulated driver wants to see of a module's PTX: the version,
// the target, the constants and the kernels with their parameters, for the kernels of a
// file in the style of solver/cuda/kernels/kernels.cu. It has no code: no card takes
// it. It serves tests with kernels of their own, see [Kernels].
func PTX(t testing.TB, file string) string {
	t.Helper()
	_, source, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := declarations(source)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return text
}

func declarations(source string) (string, error) {
	if _, _, err := names(source); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("// Declarations only, for the emulated driver.\n.version 8.0\n.target sm_80\n.address_size 64\n\n")
	for _, m := range constantSize.FindAllStringSubmatch(source, -1) {
		fmt.Fprintf(&b, ".const .align 8 .b8 %s[%s];\n", m[1], times8(m[2]))
	}
	for _, m := range kernelName.FindAllStringSubmatch(source, -1) {
		fmt.Fprintf(&b, "\n.visible .entry %s(", m[1])
		for i, parameter := range parameters(m[2]) {
			if i > 0 {
				b.WriteString(",")
			}
			kind := ".u64"
			if !strings.Contains(parameter, "*") && strings.Contains(parameter, "double") {
				kind = ".f64"
			}
			fmt.Fprintf(&b, "\n\t.param %s %s_param_%d", kind, m[1], i)
		}
		b.WriteString("\n)\n{\n\tret;\n}\n")
	}
	return b.String(), nil
}

func parameters(list string) []string {
	if strings.TrimSpace(list) == "" || strings.TrimSpace(list) == "void" {
		return nil
	}
	return strings.Split(list, ",")
}

// constantSize finds constants of doubles whose size is a number.
var constantSize = regexp.MustCompile(`__constant__\s+double\s+(\w+)\s*\[(\d+)\]`)

func times8(digits string) string {
	n, _ := strconv.Atoi(digits)
	return strconv.Itoa(8 * n)
}
