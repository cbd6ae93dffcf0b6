//go:build linux && (amd64 || arm64)

package emulator

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed source
var sources embed.FS

// recipe is how the libraries are made: another way makes other libraries.
//
//go:embed compile.go
var recipe string

// An Option changes what Build makes.
type Option func(*plan)

// Kernels compiles the kernels of another file than
// solver/cuda/kernels/kernels.cu. Besides emulator.h it may include what ends in .cuh
// in its folder.
func Kernels(file string) Option { return func(p *plan) { p.kernels = file } }

// Sanitized builds with AddressSanitizer and UndefinedBehaviorSanitizer, for
// processes that [Sanitizers] prepares. Device memory then has no guard pages:
// a kernel's access outside an allocation ends the process with a report.
func Sanitized() Option {
	return func(p *plan) {
		p.sanitized = true
		p.flags = append(p.flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
	}
}

type plan struct {
	kernels string
	flags   []string

	sanitized bool
}

// libraries are the files made, in their order, and what each is made of.
var libraries = []struct{ file, prefix string }{
	{"libemulator", ""}, // what the others share: every source without their prefixes
	{"libcuda.so.1", "driver_"},
	{"libcublas.so.12", "cublas_"},
	{"libcusolver.so.11", "cusolver_"},
}

// Build returns a folder that holds libcuda.so.1, libcublas.so.12 and
// libcusolver.so.11. The libraries are compiled once for each version of the sources,
// the kernels and the compiler, and kept in the user's cache.
//
// The test is skipped where there is no g++ or no OpenBLAS, and fails where the
// kernels do not compile.
func Build(t testing.TB, options ...Option) string {
	t.Helper()
	p := plan{kernels: shippedKernels()}
	for _, o := range options {
		o(&p)
	}
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("the emulated CUDA driver needs g++, which is not installed")
	}
	folder, err := p.build()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(filepath.Join(folder, "probe")).Run(); err != nil {
		t.Skip("the emulated CUDA driver needs OpenBLAS with LAPACK, which is not installed")
	}
	return folder
}

// shippedKernels is the file of this repository's kernels.
func shippedKernels() string {
	_, file, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(file) { // built with -trimpath
		file = strings.TrimPrefix(file, "github.com/gladflow/gladflow/")
		for dir, err := os.Getwd(); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				file = filepath.Join(dir, file)
				break
			}
		}
	}
	return filepath.Join(filepath.Dir(file), "..", "..", "kernels", "kernels.cu")
}

type result struct {
	folder string
	err    error
}

// built is what this process has built, or failed to: the compiler would say the
// same to every test.
var (
	building sync.Mutex
	built    = make(map[string]result)
)

func (p plan) build() (string, error) {
	files, text, err := read(p.kernels)
	if err != nil {
		return "", err
	}
	kernels, constants, err := names(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.kernels, err)
	}
	files["table.cpp"] = []byte(table(filepath.Base(p.kernels), kernels, constants))
	flags := append([]string{"-std=c++17", "-O2", "-g1", "-fPIC", "-DEMULATOR", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-Wno-unused-function", "-Wno-missing-field-initializers"}, p.flags...)
	version, err := exec.Command("g++", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("g++ --version: %w", err)
	}
	key := hash(files, sorted(files), string(version)+recipe, flags)
	building.Lock()
	defer building.Unlock()
	if b, done := built[key]; done {
		return b.folder, b.err
	}
	folder, err := install(compilation{key: key, files: files, version: string(version), flags: flags, sanitized: p.sanitized})
	if err != nil {
		err = fmt.Errorf("%s for the emulated driver: %w", p.kernels, err)
	}
	built[key] = result{folder, err}
	return folder, err
}

// read reads the emulator's sources and a file of kernels with its neighbours, and
// returns the preprocessed text of the kernels besides.
func read(kernels string) (files map[string][]byte, text string, err error) {
	files = make(map[string][]byte)
	add := func(system fs.FS, pattern string) error {
		names, err := fs.Glob(system, pattern)
		for _, name := range names {
			if files[path.Base(name)], err = fs.ReadFile(system, name); err != nil {
				return err
			}
		}
		return err
	}
	folder := os.DirFS(filepath.Dir(kernels))
	if err := errors.Join(add(sources, "source/*"), add(folder, filepath.Base(kernels)), add(folder, "*.cuh")); err != nil {
		return nil, "", err
	}
	if files[filepath.Base(kernels)] == nil {
		return nil, "", fmt.Errorf("there are no kernels in %s", kernels)
	}
	if text, err = preprocess(files, filepath.Base(kernels)); err != nil {
		return nil, "", fmt.Errorf("%s: %w", kernels, err)
	}
	return files, text, nil
}

// install compiles into the cache, unless it is there.
func install(c compilation) (string, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, c.key)
	if _, err := os.Stat(folder); err == nil {
		now := time.Now()
		os.Chtimes(folder, now, now) // in use: see prune; where it cannot be said, it is made anew some day
		return folder, nil
	}
	prune(root, time.Now().Add(-keep))
	// Several processes may build at once: each does in a folder of its own, and the first
	// to be ready gives it the name.
	work, err := os.MkdirTemp(root, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	c.work, c.objects = work, filepath.Join(root, "objects")
	made, err := compile(c)
	if err != nil {
		return "", err
	}
	if err := os.Rename(made, folder); err != nil {
		if _, missing := os.Stat(folder); missing != nil {
			return "", err
		}
	}
	return folder, nil
}

// keep is how long builds and objects stay that nobody uses.
const keep = 14 * 24 * time.Hour

// prune removes builds and objects that are older. One that is in use somewhere would only be
// made again.
func prune(root string, before time.Time) {
	for _, folder := range []string{root, filepath.Join(root, "objects")} {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && e.Name() != "objects" && info.ModTime().Before(before) {
				os.RemoveAll(filepath.Join(folder, e.Name()))
			}
		}
	}
}

func cacheRoot() (string, error) {
	root, err := os.UserCacheDir()
	if err != nil {
		root = filepath.Join(os.TempDir(), fmt.Sprintf("cache-%d", os.Getuid()))
	}
	root = filepath.Join(root, "gladflow-emulator")
	return root, os.MkdirAll(root, 0o755)
}
