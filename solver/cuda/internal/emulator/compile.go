//go:build linux && (amd64 || arm64)

package emulator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A compilation makes the libraries of one set of files.
type compilation struct {
	key     string // its name
	work    string // an empty folder
	objects string // a folder that keeps objects from one compilation to the next
	files   map[string][]byte
	version string // of the compiler
	flags   []string
	// AddressSanitizer keeps its own account of what lies where: shared memory stays
	// where the compiler puts it.
	sanitized bool
}

func sorted(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// hash tells one set of named files and flags from another.
func hash(files map[string][]byte, names []string, version string, flags []string) string {
	h := sha256.New()
	fmt.Fprintln(h, version, flags, runtime.GOARCH)
	for _, name := range names {
		fmt.Fprintf(h, "%s %d\n", name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// compile makes the libraries and the probe, in a folder inside the work folder.
func compile(c compilation) (string, error) {
	source, made := filepath.Join(c.work, "source"), filepath.Join(c.work, "made")
	for _, dir := range []string{source, made, c.objects} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	for name, text := range c.files {
		if err := os.WriteFile(filepath.Join(source, name), text, 0o644); err != nil {
			return "", err
		}
	}
	objects, err := c.compileEach(source)
	if err != nil {
		return "", err
	}
	// What the others share has a name of its own in each compilation: the loader takes a
	// library that a process has already for another of the same name.
	shared := coreName(c.key)
	for _, l := range libraries {
		file := l.file
		if l.prefix == "" {
			file = shared
		}
		arguments := append(slices.Clone(c.flags), "-shared", "-Wl,-soname,"+file, "-Wl,-rpath,$ORIGIN", "-o", filepath.Join(made, file))
		for _, name := range sorted(c.files) {
			if object := objects[name]; object != "" && libraryOf(name) == l.file {
				arguments = append(arguments, object)
			}
		}
		if l.prefix != "" {
			arguments = append(arguments, "-L"+made, "-l:"+shared)
		}
		if err := run(source, "g++", append(arguments, "-ldl", "-lpthread")...); err != nil {
			return "", err
		}
	}
	return made, run(source, "g++", "-std=c++17", "-o", filepath.Join(made, "probe"), "probe.cpp", "-ldl")
}

// coreName is the file of what the libraries of a compilation share.
func coreName(key string) string { return libraries[0].file + "-" + key + ".so" }

// libraryOf is the library that a C++ file goes into.
func libraryOf(name string) string {
	for _, l := range libraries[1:] {
		if strings.HasPrefix(name, l.prefix) {
			return l.file
		}
	}
	return libraries[0].file
}

// compileEach makes an object of every C++ file but the probe, as many at a time as
// there are processors, and returns where they are.
func (c compilation) compileEach(source string) (map[string]string, error) {
	var (
		objects = make(map[string]string)
		group   sync.WaitGroup
		errs    = make([]error, len(c.files))
		slots   = make(chan struct{}, runtime.NumCPU())
		headers []string
		kernels []string
	)
	for _, name := range sorted(c.files) {
		switch filepath.Ext(name) {
		case ".h", ".ld":
			headers = append(headers, name)
		case ".cu", ".cuh":
			kernels = append(kernels, name)
		}
	}
	for i, name := range sorted(c.files) {
		if !strings.HasSuffix(name, ".cpp") || name == "probe.cpp" {
			continue
		}
		of := append(slices.Clone(headers), name)
		if name == "table.cpp" {
			of = append(of, kernels...)
		}
		object := filepath.Join(c.objects, hash(c.files, of, c.version, c.flags)+".o")
		objects[name] = object
		if _, err := os.Stat(object); err == nil {
			continue
		}
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			fresh := name + ".o"
			errs[i] = run(source, "g++", append(slices.Clone(c.flags), "-c", name, "-o", fresh)...)
			if errs[i] == nil && name == "table.cpp" && !c.sanitized {
				errs[i] = run(source, "ld", "-r", "--force-group-allocation", "-T", "shared.ld", "-o", "shared.o", fresh)
				fresh = "shared.o"
			}
			if errs[i] == nil {
				// Whole from the start, for whoever builds beside us.
				errs[i] = os.Rename(filepath.Join(source, fresh), object)
			}
		})
	}
	group.Wait()
	return objects, errors.Join(errs...)
}

// run runs a command, and returns what it wrote as the error if it fails.
func run(dir, name string, arguments ...string) error {
	c := exec.Command(name, arguments...)
	c.Dir = dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, out.String())
	}
	return nil
}
