package arrowio

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// A maze is a folder with links in it, and what lies beside it.
type maze struct {
	folder, named, outside string // named is a link to folder
	root                   *Root
}

const (
	goodTable   = "a,b\n1,2\n2,1\n3,5\n"
	deepTable   = "deep,b\n1,2\n2,1\n3,5\n"
	secretTable = "MARKER,b\n1,2\n2,1\n3,5\n"
)

// newMaze makes a folder in every test's own way to lead out of it.
func newMaze(t *testing.T) maze {
	t.Helper()
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := maze{folder: filepath.Join(parent, "in"), named: filepath.Join(parent, "named"), outside: filepath.Join(parent, "outside")}
	for _, folder := range []string{"in/sub/deep", "outside/sub", "inx"} {
		if err := os.MkdirAll(filepath.Join(parent, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"in/ok.csv": goodTable, "in/sub/ok.csv": deepTable, "in/sub/deep/ok.csv": deepTable, "in/name with space%2e.csv": goodTable,
		"outside/secret.csv": secretTable, "outside/sub/secret.csv": secretTable, "inx/secret.csv": secretTable, "secret.csv": secretTable,
		"outside/linked.csv": goodTable,
	} {
		if err := os.WriteFile(filepath.Join(parent, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"named":               m.folder,
		"in/abs":              m.outside,
		"in/rel":              "../outside/sub",
		"in/inside":           "sub/deep",
		"in/inside-abs":       filepath.Join(m.folder, "sub"),
		"in/there-and-back":   "../in/sub",
		"in/chain":            "sub/up",
		"in/sub/up":           "../../outside",
		"in/sub/home":         "..",
		"in/abs.csv":          filepath.Join(m.outside, "secret.csv"),
		"in/rel.csv":          "../outside/secret.csv",
		"in/inside.csv":       "sub/deep/../ok.csv",
		"in/nothing-out.csv":  "../outside/nothing.csv",
		"in/nothing-in.csv":   "nothing.csv",
		"in/loop":             "loop",
		"in/proc":             "/proc/self/cwd",
		"in/sub/deep/far.csv": "../../../outside/secret.csv",
	} {
		if err := os.Symlink(to, filepath.Join(parent, name)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Link(filepath.Join(m.outside, "linked.csv"), filepath.Join(m.folder, "hard.csv")); err != nil {
		t.Skip(err)
	}
	if m.root, err = OpenRoot(m.named); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.root.Close() })
	return m
}

// escapes are paths that lead out of the folder.
func (m maze) escapes() []string {
	paths := []string{
		"..", "../in/ok.csv", "../outside/secret.csv", "sub/../../outside/secret.csv", "./../secret.csv", "sub/./../../secret.csv",
		"abs/secret.csv", "rel/secret.csv", "rel/../secret.csv", "abs/../secret.csv", "rel/../../secret.csv", "abs/sub/../secret.csv",
		"inside/../../../secret.csv", "inside-abs/ok.csv", "there-and-back/ok.csv", "chain/secret.csv", "chain/sub/../secret.csv",
		"sub/up/secret.csv", "sub/home/../secret.csv", "abs.csv", "rel.csv", "sub/deep/far.csv", "nothing-out.csv", "proc", "proc/ok.csv",
		strings.Repeat("sub/../", 20) + "../secret.csv",
		strings.Repeat("../", 40) + "etc/passwd",
	}
	for _, path := range paths {
		paths = append(paths, m.folder+"/"+path, m.named+"/"+path, "file://"+m.folder+"/"+path, "file://localhost"+m.named+"/"+path)
	}
	above := filepath.Dir(m.folder)
	return append(paths,
		above, "/", m.outside+"/secret.csv", "/etc/passwd", "/proc/self/cwd/ok.csv", "/proc/self/fd/0", "/proc/self/root/etc/passwd",
		m.folder+"x/secret.csv", "/"+m.folder+"/ok.csv", above+"/./in/ok.csv", above+"/outside/../in/ok.csv", strings.ToUpper(m.folder)+"/ok.csv",
		"file://"+m.outside+"/secret.csv", "file://"+m.folder+"/%2e%2e/outside/secret.csv", "file://"+m.folder+"%2F..%2Foutside%2Fsecret.csv",
		"file://"+m.folder+"/rel%2F..%2Fsecret.csv", "file://"+m.folder+"/rel/%2e%2E/secret.csv", "file://"+m.folder+"/sub%2f%2e%2e%2f%2e%2e/secret.csv",
		"file://host"+m.folder+"/ok.csv", "file://user@localhost"+m.folder+"/ok.csv", "file://"+m.folder+"/ok.csv?x", "file://"+m.folder+"/ok.csv#x",
		"file://"+m.folder+"/%zz", "file://", "file:///", "file://../secret.csv", "file://in/ok.csv",
		"s3://bucket/ok.csv", "https://127.0.0.1:1/ok.csv", "gs://bucket/ok.csv", "azblob://bucket/ok.csv", "nosuch://x/y", "file+x://"+m.folder+"/ok.csv",
		"file:/ok.csv", "file:"+m.outside+"/secret.csv", "file:"+m.folder+"/../outside/secret.csv", "s3:/bucket/ok.csv",
	)
}

func TestRootOpens(t *testing.T) {
	m := newMaze(t)
	folder, err := filepath.EvalSymlinks(m.folder)
	if err != nil || m.root.Name() != folder {
		t.Errorf("the folder is %s, want %s, %v", m.root.Name(), folder, err)
	}
	for path, first := range map[string]string{
		"ok.csv": "a", "./ok.csv": "a", "sub/../ok.csv": "a", "sub/deep/../../ok.csv": "a", "sub//ok.csv": "deep", "hard.csv": "a",
		// A link is followed before the ".." that comes after it.
		"inside/ok.csv": "deep", "inside/../ok.csv": "deep", "inside/../../ok.csv": "a", "sub/home/ok.csv": "a", "inside.csv": "deep",
		"name with space%2e.csv": "a",
	} {
		paths := []string{path, m.folder + "/" + path, m.named + "/" + path, m.folder + "//" + path}
		if !strings.ContainsAny(path, "% ") {
			paths = append(paths, "file://"+m.folder+"/"+path, "file:"+m.folder+"/"+path, "file://localhost"+m.named+"/"+path, "FILE://"+m.folder+"/"+strings.ReplaceAll(path, ".", "%2E"),
				"file://"+m.folder+"%2F"+strings.ReplaceAll(path, "/", "%2f"))
		}
		for _, path := range paths {
			f, err := m.root.Open(path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			line, _ := bufio.NewReader(f).ReadString(',')
			f.Close()
			if line != first+"," {
				t.Errorf("%s begins with %q", path, line)
			}
			if err := m.root.Check(path); err != nil {
				t.Errorf("%s is refused at first: %v", path, err)
			}
		}
	}
	for _, path := range []string{".", "", "sub", m.folder, m.folder + "/", m.named + "/.", "file://" + m.folder} {
		if err := m.root.Check(path); err != nil {
			t.Errorf("%q is refused at first: %v", path, err)
		}
	}
}

func TestRootRefuses(t *testing.T) {
	m := newMaze(t)
	t.Chdir(m.folder)
	before, opened := m.outsideFiles(t), arrowtest.Descriptors()
	for _, path := range m.escapes() {
		var outside *OutsideError
		if f, err := m.root.Open(path); !errors.As(err, &outside) {
			t.Errorf("open %s: %v", path, err)
			f.Close()
		}
		if err := m.root.Check(path); !errors.As(err, &outside) {
			t.Errorf("check %s: %v", path, err)
		}
		if folder, _, err := m.root.OpenFolder(path); !errors.As(err, &outside) {
			t.Errorf("folder %s: %v", path, err)
			if err == nil {
				folder.Close()
			}
		}
		_, err := OpenSamples(t.Context(), path, SampleOptions{Root: m.root, Stores: opensAnything{}})
		if wantInputError(t, err, "only files in "+m.folder); !errors.As(err, &outside) {
			t.Errorf("samples %s: %v", path, err)
		}
	}
	if after := m.outsideFiles(t); after != before {
		t.Errorf("outside were %s, and are %s", before, after)
	}
	if now := arrowtest.Descriptors(); now != opened {
		t.Errorf("%d files are open, %d before", now, opened)
	}
}

// What is said of a path that leads out does not depend on what is there.
func TestRootTellsNothing(t *testing.T) {
	m := newMaze(t)
	say := func() (said []string) {
		for _, path := range m.escapes() {
			_, err := OpenSamples(t.Context(), path, SampleOptions{Root: m.root})
			_, _, err2 := m.root.OpenFolder(path)
			said = append(said, path+": "+err.Error()+"; "+err2.Error())
		}
		return said
	}
	there := say()
	if err := errors.Join(os.RemoveAll(m.outside), os.Remove(filepath.Join(filepath.Dir(m.folder), "secret.csv"))); err != nil {
		t.Fatal(err)
	}
	for i, gone := range say() {
		if gone != there[i] {
			t.Errorf("with the file %q, without it %q", there[i], gone)
		}
	}
}

// Paths that stay in the folder and name no table.
func TestRootFaults(t *testing.T) {
	m := newMaze(t)
	for path, words := range map[string]string{
		"nothing.csv": "no such file", "nothing-in.csv": "no such file", "no/such/folder.csv": "no such file",
		"":  "no file is named",
		".": "folder", "sub": "folder", "inside": "folder", m.folder: "folder", m.folder + "/": "folder", "file://" + m.folder + "/": "folder",
	} {
		_, err := OpenSamples(t.Context(), path, SampleOptions{Root: m.root})
		wantInputError(t, err, words)
	}
	for _, path := range []string{"ok.csv/", "ok.csv/.", "ok.csv/..", "ok.csv/x", "ok.csv\x00", "\x00", "sub\x00/../ok.csv", "loop", "loop/x", strings.Repeat("x", 5000)} {
		_, err := OpenSamples(t.Context(), path, SampleOptions{Root: m.root})
		if err == nil {
			t.Errorf("%q is read", path)
		}
		if folder, _, err := m.root.OpenFolder(path); err == nil {
			t.Errorf("%q is opened", path)
			folder.Close()
		}
	}
}

func TestRootOpensFolders(t *testing.T) {
	m := newMaze(t)
	for path, lies := range map[string]string{
		"new": "new", "a/b/c": "a/b/c", "sub/x/": "sub/x", "inside/x": "sub/deep/x", "inside/../y": "sub/y", ".": ".",
		m.folder: ".", m.named + "/z": "z", "sub/home/w": "w",
	} {
		at := filepath.Join(m.folder, lies)
		_, missing := os.Stat(at)
		folder, remove, err := m.root.OpenFolder(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if err := errors.Join(folder.WriteFile("x", nil, 0o600), folder.Remove("x")); err != nil {
			t.Error(err)
		}
		is, _ := folder.Stat(".")
		if there, err := os.Stat(at); err != nil || !os.SameFile(is, there) {
			t.Errorf("%s is not the folder %s: %v", path, lies, err)
		}
		remove()
		if _, err := os.Stat(at); (err == nil) != (missing == nil) {
			t.Errorf("%s: after it was taken back: %v, before it was opened: %v", path, err, missing)
		}
		folder.Close()
	}
}

// The folder is the one that was opened, wherever it lies by now.
func TestRootThatIsMoved(t *testing.T) {
	m := newMaze(t)
	if err := errors.Join(os.Rename(m.folder, m.folder+"-moved"), os.Symlink(m.outside, m.folder), os.WriteFile(filepath.Join(m.outside, "ok.csv"), []byte(secretTable), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"ok.csv", m.folder + "/ok.csv", m.named + "/ok.csv"} {
		r, err := readAll(t.Context(), path, SampleOptions{Root: m.root})
		if err != nil || r.names[0] != "a" {
			t.Errorf("%s: %v, %v", path, r.names, err)
		}
	}
}

func TestOpenRootErrors(t *testing.T) {
	if _, err := OpenRoot(filepath.Join(t.TempDir(), "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := OpenRoot(put(t, "x.csv", "")); err == nil {
		t.Error("a file is a folder")
	}
	var none *Root
	if none.Name() != "" || none.Check("/etc/passwd") != nil || none.Close() != nil {
		t.Error("files of this machine are not all files")
	}
}

// A folder that was named relative to the working folder is called by what it was
// then, and "link/.." by the folder that it is.
func TestNamesOfRoots(t *testing.T) {
	m := newMaze(t)
	t.Chdir(filepath.Dir(m.folder))
	for _, as := range []string{"in", "./in/", "in/../in", filepath.Join(m.folder, "inside") + "/../.."} {
		root, err := OpenRoot(as)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{m.folder + "/ok.csv", "ok.csv"} {
			if f, err := root.Open(path); err != nil {
				t.Errorf("%s in %s: %v", path, as, err)
			} else {
				f.Close()
			}
		}
		root.Close()
	}
	root, err := OpenRoot("in/rel/..") // which is outside, and not in
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := root.Open(m.folder + "/ok.csv"); err == nil {
		t.Error("the folder is called by a name that is another's")
		f.Close()
	}
	whole, err := OpenRoot("/")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	if f, err := whole.Open(m.folder + "/ok.csv"); err != nil || whole.Name() != "/" {
		t.Errorf("%s: %v", whole.Name(), err)
	} else {
		f.Close()
	}
}

// outsideFiles lists what there is but for the folder.
func (m maze) outsideFiles(t *testing.T) string {
	var all []string
	err := filepath.WalkDir(filepath.Dir(m.folder), func(path string, d fs.DirEntry, err error) error {
		if path == m.folder {
			return fs.SkipDir
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// opensAnything is a store that has every object.
type opensAnything struct{}

// Open implements Opener.
func (opensAnything) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(secretTable)), nil
}
