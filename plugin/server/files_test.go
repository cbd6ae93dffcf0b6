package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/solver/association/ranking"
	"github.com/gladflow/gladflow/solver/glad"
)

// marker stands in the files that no job may read.
const marker = "MARKER"

// A fence is a folder whose files jobs may name, and a folder beside it that has a
// file of the same name for every file in it.
type fence struct {
	folder, outside string
	sums            []string // of the files outside
}

// fenceFiles are the files of a fence by the field of the job that names them.
var fenceFiles = map[string]string{
	"input": "samples.csv", "reference": "reference.csv", "penalty_matrix": "penalties.csv", "regulators": "regulators.csv", "model": "model.json", "ranking_model": "ranking.json", "out": "out", "report": "report.html",
}

// isWritten says that a field names what is written.
func isWritten(field string) bool { return field == "out" || field == "report" }

func newFence(t testing.TB) fence {
	t.Helper()
	parent, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := fence{folder: filepath.Join(parent, "in"), outside: filepath.Join(parent, "outside")}
	for _, folder := range []string{f.folder, f.outside} {
		for _, sub := range []string{"", "sub"} {
			mark := ""
			if folder == f.outside {
				mark = marker
			}
			at := filepath.Join(folder, sub)
			if err := os.MkdirAll(filepath.Join(at, fenceFiles["out"]), 0o700); err != nil {
				t.Fatal(err)
			}
			for name, text := range contents(t, mark) {
				if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if mark != "" {
					sum := sha256.Sum256([]byte(text))
					f.sums = append(f.sums, hex.EncodeToString(sum[:]))
				}
			}
		}
	}
	return f
}

// contents are the files that a job names, with a mark in each.
func contents(t testing.TB, mark string) map[string]string {
	rng := rand.New(rand.NewPCG(1, uint64(len(mark))))
	samples := mark + "a,b,c\n"
	for range 20 {
		samples += fmt.Sprintf("%v,%v,%v\n", rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64())
	}
	m, err := glad.Builtin(glad.DefaultModelName)
	if err != nil {
		t.Fatal(err)
	}
	m.Name = mark + "mine"
	var model bytes.Buffer
	if err := m.Write(&model); err != nil {
		t.Fatal(err)
	}
	r, err := ranking.Builtin(ranking.DefaultModelName)
	if err != nil {
		t.Fatal(err)
	}
	r.Name = mark + "mine"
	var ranked bytes.Buffer
	if err := r.Write(&ranked); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		fenceFiles["input"]:          samples,
		fenceFiles["reference"]:      "source,target,label\na,b,1\na,c,0\nb,c,0\n" + strings.Repeat(mark+"x,"+mark+"y,1\n", len(mark)),
		fenceFiles["penalty_matrix"]: mark + "a,b,c\n0.1,0.1,0.1\n0.1,0.1,0.1\n0.1,0.1,0.1\n",
		fenceFiles["regulators"]:     "a\nb\n" + mark + "x\n",
		fenceFiles["model"]:          model.String(),
		fenceFiles["ranking_model"]:  ranked.String(),
	}
}

// job is one whose files are those of the folder but for one field's.
func (f fence) job(field, path string) map[string]any {
	j := map[string]any{"input": fenceFiles["input"], "solvers": []string{"bcd"}}
	switch field {
	case "model":
		j["solvers"] = []string{"glad"}
	case "ranking_model":
		j["solvers"] = []string{"expression"}
	case "penalty_matrix":
	default:
		j["penalty"] = "0.1"
	}
	j[field] = path
	return j
}

// check reports what got out, or could have.
func (f fence) check(t testing.TB, what, said string) {
	t.Helper()
	for _, secret := range append([]string{marker}, f.sums...) {
		if strings.Contains(said, secret) {
			t.Errorf("%s: a file outside is read: %s", what, said)
		}
	}
}

// state is all that is not in the folder.
func (f fence) state(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(filepath.Dir(f.folder), func(path string, d fs.DirEntry, err error) error {
		if path == f.folder {
			return fs.SkipDir
		}
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// overFlight does a job of a service, and returns what it says.
func overFlight(ctx context.Context, c flight.Client, j map[string]any) (string, error) {
	started, err := act(ctx, c, protocol.ActionRecover, string(encode(j)))
	if err != nil {
		return "", err
	}
	result, err := act(ctx, c, protocol.ActionResult, string(started[0]))
	if err != nil {
		return "", err
	}
	events, err := act(ctx, c, protocol.ActionWatch, string(started[0]))
	return string(bytes.Join(append(events, result...), nil)), err
}

// direct does a job without a service, and so without a look at its files before
// they are opened.
func direct(ctx context.Context, root *arrowio.Root, document map[string]any) (string, error) {
	j, err := job.Read(bytes.NewReader(encode(document)))
	if err != nil {
		return "", err
	}
	result, err := recovery.Run(ctx, j, recovery.Host{Files: table.Files{Root: root}})
	text, _ := json.Marshal(result)
	return string(text), err
}

// rooted is the folder of a fence.
func (f fence) rooted(t testing.TB) *arrowio.Root {
	t.Helper()
	root, err := arrowio.OpenRoot(f.folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// Every way out is refused for every field: before the run, and by the run.
func TestFilesOutside(t *testing.T) {
	f := newFence(t)
	for name, to := range map[string]string{"abs": f.outside, "rel": "../outside", "deep": "../outside/sub", "inside": "sub", "cwd": "/proc/self/cwd"} {
		if err := os.Symlink(to, filepath.Join(f.folder, name)); err != nil {
			t.Skip(err)
		}
	}
	t.Chdir(f.outside)
	root := f.rooted(t)
	_, c := served(t, Config{Files: f.folder})
	_, none := served(t, Config{Files: FilesNone})
	for _, field := range job.Fields(&job.Job{}, job.Facts{}) {
		if _, ok := fenceFiles[field.Key]; !ok && field.File != job.NoFile {
			t.Errorf("the field %s names files, and is not tried", field.Key)
		}
	}
	before := f.state(t)
	for field, name := range fenceFiles {
		paths := []string{
			f.outside + "/" + name, "/proc/self/cwd/" + name, "/proc/self/fd/0", f.folder + "/../outside/" + name, "file://" + f.outside + "/" + name,
			"file://" + f.folder + "/%2e%2e/outside/" + name, "file://localhost" + f.folder + "%2F..%2Foutside/" + name, "s3://bucket/" + name,
			strings.ToUpper(f.folder) + "/" + name, f.folder + "-not/" + name,
		}
		for _, path := range []string{"../outside/" + name, "abs/" + name, "rel/" + name, "deep/../" + name, "inside/../rel/" + name, "sub/../../outside/" + name, "inside/../../outside/" + name, "cwd/" + name} {
			paths = append(paths, path, f.folder+"/"+path, "file://"+f.folder+"/"+path)
		}
		for _, path := range paths {
			j := f.job(field, path)
			_, err := act(bg(t), c, protocol.ActionValidate, string(encode(j)))
			wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, field)
			said, err := overFlight(bg(t), c, j)
			wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, field)
			f.check(t, path, said+err.Error())
			_, err = overFlight(bg(t), none, map[string]any{field: path})
			wantFault(t, err, codes.PermissionDenied, protocol.ReasonForbidden, field)

			said, err = direct(t.Context(), root, j)
			var wrong *job.Error
			if isURL := strings.Contains(path, "://"); !errors.As(err, &wrong) || wrong.Field != field || !isWritten(field) && !isURL && !errors.As(err, new(*arrowio.OutsideError)) {
				t.Errorf("%s is %s: %v", field, path, err)
			}
			f.check(t, path, said+err.Error())
		}
	}
	if after := f.state(t); after != before {
		t.Errorf("outside was\n%s\nand is\n%s", before, after)
	}
}

// Paths are relative to the folder, and what is in it can be named in several ways.
func TestFilesInside(t *testing.T) {
	f := newFence(t)
	for name, to := range map[string]string{f.folder + "/inside": "sub", filepath.Dir(f.folder) + "/named": f.folder} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip(err)
		}
	}
	t.Chdir(f.outside)
	named := filepath.Join(filepath.Dir(f.folder), "named")
	_, c := served(t, Config{Files: named})
	before := f.state(t)
	for field, name := range fenceFiles {
		paths := []string{name, "./" + name, "sub/" + name, "sub/../" + name, "inside/" + name, "inside/../" + name, f.folder + "/" + name, named + "/inside/" + name}
		if !isWritten(field) && field != "model" && field != "ranking_model" {
			paths = append(paths, "file://"+f.folder+"/"+name, "file://localhost"+named+"/sub/"+name, "file://"+f.folder+"%2Fsub%2f%2E%2e/"+name)
		}
		for _, path := range paths {
			said, err := overFlight(bg(t), c, f.job(field, path))
			if err != nil {
				t.Errorf("%s is %s: %v", field, path, err)
			}
			f.check(t, path, said)
			var written []string
			switch field {
			case "out":
				written = []string{"run.json", "bcd.edges.parquet"}
			case "report":
				written = []string{""}
			}
			for _, file := range written {
				if err := os.Remove(filepath.Join(f.folder, strings.TrimPrefix(strings.TrimPrefix(path, f.folder), named), file)); err != nil {
					t.Errorf("%s is %s: %v", field, path, err)
				}
			}
		}
	}
	if after := f.state(t); after != before {
		t.Errorf("outside was\n%s\nand is\n%s", before, after)
	}
}
