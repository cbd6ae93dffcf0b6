package arrowio

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// killedWriter tells the process that a test starts what to write, and where.
const killedWriter = "GLADFLOW_TEST_KILLED_WRITER"

// TestKilledWriter is the process that is killed; alone it does nothing.
func TestKilledWriter(t *testing.T) {
	what, folder, _ := strings.Cut(os.Getenv(killedWriter), ":")
	switch what {
	case "halfway": // stops in the middle of a file of 8 MB
		ReplaceFile(filepath.Join(folder, "large"), func(w io.Writer) error {
			w.Write(make([]byte, 8<<20))
			os.Stdout.WriteString("ready\n")
			select {}
		})
	case "staged": // stops between the last byte and the name
		s, err := stage(rootOf(folder), "large", func(w io.Writer) error {
			_, err := w.Write(make([]byte, 8<<20))
			return err
		})
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString("ready\n")
		time.Sleep(time.Hour)
		s.discard()
	case "busy": // replaces files for ever
		os.Stdout.WriteString("ready\n")
		for v := 0.0; ; v++ {
			column := make([]float64, 20_000)
			for i := range column {
				column[i] = v
			}
			for _, format := range []string{Parquet, CSV} {
				if err := WriteTable(filepath.Join(folder, "x."+format), format, []Column{{"a", column}}, nil); err != nil {
					panic(err)
				}
			}
		}
	}
}

// kill starts TestKilledWriter and kills it after it has got ready.
func kill(t *testing.T, what, folder string, after time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
	c.Env = append(os.Environ(), killedWriter+"="+what+":"+folder)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	time.Sleep(after)
	c.Process.Kill()
	c.Wait()
	if line != "ready\n" {
		t.Fatalf("the writer said %q, %v", line, err)
	}
}

func TestKilledInTheMiddle(t *testing.T) {
	for _, what := range []string{"halfway", "staged"} {
		folder := t.TempDir()
		skipUnlessNameless(t, folder)
		kill(t, what, folder, 0)
		if left, _ := os.ReadDir(folder); len(left) != 0 {
			t.Errorf("%s: the folder holds %v", what, left)
		}
	}
}

// Whatever the moment, what is there is whole.
func TestKilledAtAnyMoment(t *testing.T) {
	folder := t.TempDir()
	skipUnlessNameless(t, folder)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		kill(t, "busy", folder, time.Duration(rng.IntN(60))*time.Millisecond)
		left, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			path := filepath.Join(folder, f.Name())
			// Between a name that is not its own and the other a whole file
			// may be caught; it is not half of one.
			format := ""
			switch {
			case strings.Contains(f.Name(), sidecarSuffix):
				continue
			case strings.HasSuffix(f.Name(), ".tmp"):
				format = strings.Split(f.Name(), ".")[2]
				defer os.Remove(path)
			}
			r, err := readAll(context.Background(), path, SampleOptions{Format: format, Memory: arrowtest.Checked(t)})
			if err != nil || r.rows != 20_000 || r.values[0] != r.values[19_999] {
				t.Errorf("%s: %d rows, %v", f.Name(), r.rows, err)
			}
		}
	}
}

// A writer that was killed between the link and the name leaves a file that is whole;
// A folder is checked without a name in it, which a process that is killed would leave.
func TestCheckWritableUsesNoName(t *testing.T) {
	folder := t.TempDir()
	root := rootOf(folder)
	defer root.Close()
	if f, err := namelessFiles().create(root); err != nil {
		t.Skip("the file system of temporary files has none without a name")
	} else {
		f.Close()
	}
	checked := make(chan error)
	go func() {
		for range 2000 {
			if err := CheckWritable(root); err != nil {
				checked <- err
			}
		}
		close(checked)
	}()
	for {
		select {
		case err, more := <-checked:
			if more {
				t.Fatal(err)
			}
			return
		default:
		}
		if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
			t.Fatalf("there is %v, %v", names, err)
		}
	}
}

// the next one removes it, and not that of a writer that lives.
func TestLeftoversAreSwept(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x")
	replace := func() {
		t.Helper()
		if err := ReplaceFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
			t.Fatal(err)
		}
	}
	replace()
	for _, name := range []string{".x.1-0.whole.tmp", ".x.2-0.whole.tmp", ".xy.1-0.whole.tmp", ".x.1-0.tmp"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	alive, err := os.Open(filepath.Join(folder, ".x.2-0.whole.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if !lock(alive) {
		t.Skip("there are no locks here")
	}
	if err := unix.Mkfifo(filepath.Join(folder, ".x.3-0.whole.tmp"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := ".x.1-0.tmp .x.2-0.whole.tmp .x.3-0.whole.tmp .xy.1-0.whole.tmp x"; strings.Join(names, " ") != want {
		t.Errorf("there are %q, want %s", names, want)
	}
}
