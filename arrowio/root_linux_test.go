package arrowio

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// What a root opens is what the kernel opens that is told to stay beneath the folder
// (openat2(2), RESOLVE_BENEATH), and nothing else.
func TestRootAgreesWithTheKernel(t *testing.T) {
	m := newMaze(t)
	folder, err := os.Open(m.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	beneath := func(path string) (*os.File, error) {
		fd, err := unix.Openat2(int(folder.Fd()), path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
		if err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(fd), path), nil
	}
	if f, err := beneath("ok.csv"); err != nil {
		t.Skip("the kernel does not know how: ", err)
	} else {
		f.Close()
	}
	elements := []string{
		"..", ".", "", "sub", "deep", "ok.csv", "secret.csv", "in", "outside", "nothing", "abs", "rel", "inside", "inside-abs", "there-and-back",
		"chain", "up", "home", "abs.csv", "rel.csv", "inside.csv", "nothing-out.csv", "nothing-in.csv", "loop", "proc", "hard.csv",
	}
	opened, outside := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(elements), 1, 7).Draw(t, "path"), "/")
		if strings.HasPrefix(path, "/") {
			path = "." + path // a root takes a whole path for one that begins with its name
		}
		want, kernel := beneath(path)
		if kernel == nil {
			defer want.Close()
		}
		got, err := m.root.Open(path)
		if err == nil {
			defer got.Close()
		}
		switch {
		case path == "":
		case (err == nil) != (kernel == nil):
			t.Fatalf("%s: %v, the kernel: %v", path, err, kernel)
		case err == nil:
			opened++
			a, _ := want.Stat()
			if b, _ := got.Stat(); !os.SameFile(a, b) {
				t.Fatalf("%s is another file", path)
			}
		case errors.Is(kernel, unix.EXDEV):
			outside++
			if !errors.As(err, new(*OutsideError)) {
				t.Fatalf("%s: %v, the kernel: %v", path, err, kernel)
			}
		case errors.As(err, new(*OutsideError)):
			t.Fatalf("%s: %v, the kernel: %v", path, err, kernel)
		}
	})
	if opened == 0 || outside == 0 {
		t.Errorf("%d paths were opened, %d led out", opened, outside)
	}
}
