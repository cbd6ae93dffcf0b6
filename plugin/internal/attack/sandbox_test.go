package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// secret is the name of a variable of files that callers may not read.
const secret = "zqsecretqz"

// A sandbox is the folder of --files, and one beside it with files that jobs must
// neither read nor write.
type sandbox struct{ in, out string }

func newSandbox(t *testing.T) sandbox {
	t.Helper()
	// The files lie where the process has them: a link on the way would be another test.
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := sandbox{filepath.Join(root, "in"), filepath.Join(root, "out")}
	hidden := strings.ReplaceAll(string(csvTable(5, 40)), "g0", secret)
	square := ",g0,g1,g2,g3,g4\n"
	for i := range 5 {
		square += fmt.Sprintf("g%d,.1,.1,.1,.1,.1\n", i)
	}
	model, err := os.ReadFile("../../../solver/glad/models/er-d100-m100-literal.json")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		b.in + "/table.csv": string(csvTable(5, 40)), b.in + "/deep/er/table.csv": string(csvTable(5, 40)),
		b.out + "/secret.csv": hidden, b.out + "/table.csv": hidden, b.out + "/square.csv": square, b.out + "/deep/secret.csv": hidden,
		b.out + "/reference.csv": "g0,g1,1\ng1,g2,0\n", b.out + "/model.json": strings.Replace(string(model), "er-d100-m100-literal", secret, 1),
		b.out + "/network/keep": "it was there",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"folder": b.out, "relative": "../out", "deep/er/up": "../../../out", "file.csv": b.out + "/secret.csv", "twice": "folder",
		"inner": "deep/er", "root": "/", "self": "self", "dangling": b.out + "/new", "deeper": b.out + "/deep", "fd": "/proc/self/fd", "cwd": "/proc/self/cwd",
	} {
		if err := os.Symlink(to, filepath.Join(b.in, link)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// untouched fails if anything outside has changed.
func (b sandbox) untouched(t *testing.T, after string) {
	t.Helper()
	var list []string
	filepath.WalkDir(b.out, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, strings.TrimPrefix(path, b.out))
		}
		return nil
	})
	if got := len(list); got != 8-1 {
		t.Errorf("after %s there are %d files outside: %v", after, got, list)
	}
	if text, err := os.ReadFile(b.out + "/network/keep"); string(text) != "it was there" {
		t.Errorf("after %s a file outside has %q, %v", after, text, err)
	}
}

// escapes are ways out of the folder to a file of out, as jobs may write them.
func (b sandbox) escapes(name string) []string {
	var all []string
	for _, path := range []string{
		b.out + "/" + name, "../out/" + name, b.in + "/../out/" + name, "folder/" + name, "relative/" + name, "deep/er/up/" + name, "twice/" + name,
		"inner/up/" + name, "root" + b.out + "/" + name, "deep/../../out/" + name, "./folder/./" + name, "folder//" + name, "cwd/../out/" + name,
		"deep/er/../../../out/" + name, "deeper/../" + name,
	} {
		all = append(all, path, filepath.FromSlash(b.in)+"/"+strings.TrimPrefix(path, b.in+"/"), "file://"+b.in+"/"+path, "file://localhost"+b.in+"/"+path)
	}
	return append(all, "file://"+b.out+"/"+name, "FILE://"+b.out+"/"+name, "file://"+b.in+"/%2e%2e/out/"+name, "file://"+b.in+"/..%2fout/"+name,
		"file://"+b.in+"/folder%2f"+name, "fd/../../../"+b.out+"/"+name, "self/"+name)
}

// does does a job and returns all that it gave, as text.
func (b sandbox) does(t *testing.T, s *service, job map[string]any) (string, error) {
	t.Helper()
	text, err := s.action(t, protocol.ActionRecover, job)
	if err != nil {
		return "", err
	}
	text, err = s.action(t, protocol.ActionResult, jsonRun(t, text))
	return string(text), err
}

// A job reads and writes nothing outside of the folder of --files, by whatever name.
func TestSandbox(t *testing.T) {
	onLinux(t)
	b := newSandbox(t)
	s := serve(t, "--files", b.in, "--result-age", "5s")
	good := map[string]any{"input": b.in + "/table.csv", "solvers": []string{"bcd"}, "penalty": 0.3}
	if _, err := b.does(t, s, good); err != nil {
		t.Fatalf("a job within the folder: %v", err)
	}
	tried, left := 0, 0
	try := func(key, path string) {
		tried++
		job := map[string]any{key: path}
		for k, v := range good {
			if _, ok := job[k]; !ok {
				job[k] = v
			}
		}
		switch key {
		case "model":
			job["solvers"] = []string{"glad"}
		case "penalty_matrix":
			delete(job, "penalty")
		}
		text, err := b.does(t, s, job)
		if key == "out" && err == nil {
			return // within the folder, perhaps: the files outside tell
		}
		if err == nil || strings.Contains(text+err.Error(), secret) && !strings.Contains(path, secret) {
			left++
			t.Errorf("%s %s: it is used: %v %.300s", key, path, err, text)
			return
		}
		f := fault(t, key+" "+path, err)
		if f.Code != codes.PermissionDenied.String() && f.Code != codes.InvalidArgument.String() {
			t.Errorf("%s %s: %+v", key, path, f)
		}
	}
	for key, name := range map[string]string{"input": "secret.csv", "penalty_matrix": "square.csv", "regulators": "reference.csv", "reference": "reference.csv", "model": "model.json"} {
		for _, path := range b.escapes(name) {
			try(key, path)
		}
	}
	for _, path := range []string{"s3://bucket/key", "https://127.0.0.1:1/x.csv", "gs://b/k", "http://169.254.169.254/latest/meta-data", "file.csv", b.in + "/file.csv", "file://" + b.in + "/file.csv"} {
		try("input", path)
	}
	for _, path := range append(b.escapes("network"), b.escapes("new")...) {
		try("out", path)
	}
	for _, path := range []string{"dangling", b.in + "/dangling", "file://" + b.in + "/dangling", "s3://bucket/x", "folder", b.in + "/folder"} {
		try("out", path)
	}
	b.untouched(t, "the attempts")
	t.Logf("%d attempts, %d have left the folder", tried, left)
}

// A folder that is exchanged for a link, over and over, while jobs name what is in it.
func TestSandboxRace(t *testing.T) {
	onLinux(t)
	b := newSandbox(t)
	s := serve(t, "--files", b.in, "--result-age", "5s")
	swap := filepath.Join(b.in, "swap")
	folder, link := filepath.Join(b.in, "swap.folder"), filepath.Join(b.in, "swap.link")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder+"/table.csv", csvTable(5, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.out, link); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, with := range []string{folder, link} {
				os.Rename(with, swap)
				time.Sleep(20 * time.Microsecond)
				os.Rename(swap, with)
			}
		}
	})
	read, refused := 0, 0
	for i := range times(60, 1500) {
		job := map[string]any{"input": swap + "/table.csv", "solvers": []string{"bcd"}, "penalty": 0.3}
		if i%2 == 1 {
			job = map[string]any{"input": b.in + "/table.csv", "out": swap + "/" + fmt.Sprint(i%5), "solvers": []string{"bcd"}, "penalty": 0.3}
		}
		text, err := b.does(t, s, job)
		if err != nil {
			refused++
		} else {
			read++
		}
		if strings.Contains(text, secret) || err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("attempt %d has read the file outside: %s, %v", i, text, err)
		}
	}
	close(stop)
	swapping.Wait()
	b.untouched(t, "the race")
	t.Logf("%d jobs were done, %d refused", read, refused)
	if read == 0 || refused == 0 {
		t.Error("there was no race")
	}
}

// A plugin and a service with --files none open nothing.
func TestNoFiles(t *testing.T) {
	b := newSandbox(t)
	s := serve(t, "--files", "none")
	for _, key := range []string{"input", "out", "model", "reference", "penalty_matrix", "regulators"} {
		for _, path := range []string{b.in + "/table.csv", "table.csv", "file://" + b.in + "/table.csv", "s3://b/k", "/dev/stdin", "/proc/self/environ"} {
			job := map[string]any{"solvers": []string{"bcd"}, key: path}
			if _, ok := job["input"]; !ok {
				job["input"] = "x.csv"
			}
			_, err := b.does(t, s, job)
			url := key == "out" && strings.Contains(path, "://") // which is refused as such
			if f := fault(t, key+" "+path, err); !url && (f.Code != codes.PermissionDenied.String() || f.Reason != protocol.ReasonForbidden) {
				t.Errorf("%s %s: %+v", key, path, f)
			}
		}
	}
	b.untouched(t, "the attempts")
}
