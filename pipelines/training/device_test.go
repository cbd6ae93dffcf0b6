package training

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gladflow/gladflow/pipelines/device"
	"github.com/gladflow/gladflow/pipelines/device/devicetest"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/solver/glad"
)

// quick is a training with a checkpoint after every second step. The GPUs of devicetest
// are the engine gonum in truth.
func quick(t *testing.T, device string) job.Training {
	tr := small(filepath.Join(t.TempDir(), "m.json"))
	tr.Steps, tr.ValidateEvery, tr.Engine, tr.Device = 6, 3, "gonum", device
	return tr
}

// trainedOn trains with the GPUs there are, and returns the weights too.
func trainedOn(t *testing.T, tr job.Training, gpus *device.Pool) (*Result, *glad.Model) {
	t.Helper()
	r, err := runOn(t.Context(), tr, Host{}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	m, err := recovery.OpenModel("model", tr.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// A training on a GPU is done there, and the result and the card say so.
func TestTrainOnAGPU(t *testing.T) {
	_, want := trainedOn(t, quick(t, "cpu"), nil)
	if want.Card.Backend != "gonum" && !strings.Contains(strings.ToLower(want.Card.Backend), "gonum") {
		t.Errorf("the card says %q", want.Card.Backend)
	}
	for asked, on := range map[string]string{"cuda:1": "cuda:1", "cuda": "cuda:0", "auto": "cuda:0", "": "cuda:0"} {
		m := &devicetest.Machine{Number: 2}
		r, got := trainedOn(t, quick(t, asked), m.Pool())
		name := fmt.Sprintf("card %c with libraries", on[len(on)-1])
		if r.Device != on || r.DeviceName != name || r.DeviceNote != "" || got.Card.Backend != name {
			t.Errorf("%q: device %q, %q, %q, the card says %q", asked, r.Device, r.DeviceName, r.DeviceNote, got.Card.Backend)
		}
		if inCommand := strings.Contains(got.Card.Command, " --device "+asked); inCommand != strings.HasPrefix(asked, "cuda") {
			t.Errorf("%q: command %s", asked, got.Card.Command)
		}
		if used := m.Used(); !used["glad"] || !used["gradients"] {
			t.Errorf("%q: used %v", asked, used)
		}
		if !slices.Equal(got.Values(), want.Values()) || got.Threshold != want.Threshold {
			t.Errorf("%q: the model is another one", asked)
		}
		m.Ends(t)
	}
}

// Auto takes the first GPU that works, else the CPU, and says why in one line. A build
// without code for GPUs says nothing.
func TestTrainAuto(t *testing.T) {
	for name, c := range map[string]struct {
		machine      *devicetest.Machine
		device, note string
	}{
		"none":       {&devicetest.Machine{Missing: errors.New("there is no driver; install one")}, "cpu", "the CPU was taken: there is no driver; install one"},
		"first busy": {&devicetest.Machine{Number: 2, Broken: map[int]error{0: devicetest.ErrFull}}, "cuda:1", ""},
		"all busy":   {&devicetest.Machine{Number: 1, Broken: map[int]error{0: devicetest.ErrFull}}, "cpu", "the CPU was taken: " + devicetest.ErrFull.Text},
		"no code":    {nil, "cpu", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var pool *device.Pool
			if c.machine != nil {
				pool = c.machine.Pool()
				defer c.machine.Ends(t)
			}
			var lines []string
			r, err := runOn(t.Context(), quick(t, "auto"), Host{Progress: func(u Update) {
				if u.Done && u.Stage == progress.Opening {
					lines = append(lines, u.Detail)
				}
			}}, pool)
			if err != nil || r.Device != c.device || r.DeviceNote != c.note {
				t.Fatalf("%v, %+v", err, r)
			}
			if want := min(1, strings.Count(name, " ")+len(c.note)); c.machine != nil && len(lines) != want || c.machine == nil && len(lines) > 0 {
				t.Errorf("lines %q", lines)
			}
			for _, l := range lines {
				if !strings.HasPrefix(l, c.device) {
					t.Errorf("line %q", l)
				}
			}
		})
	}
}

// A GPU that is named and cannot be used is an error before anything is drawn, and leaves
// nothing.
func TestTrainRefusesADevice(t *testing.T) {
	for name, c := range map[string]struct {
		machine      *devicetest.Machine
		device, want string
		full         bool
	}{
		"no library": {&devicetest.Machine{Missing: errors.New("there is no libcuda.so.1; install the driver")}, "cuda", "cuda:0: there is no libcuda.so.1; install the driver", false},
		"number":     {&devicetest.Machine{Number: 1}, "cuda:99", "cuda:99: there is no such GPU; this machine has 1 GPU, cuda:0", false},
		"full":       {&devicetest.Machine{Number: 1, Broken: map[int]error{0: devicetest.ErrFull}}, "cuda:0", "cuda:0: " + devicetest.ErrFull.Text, true},
	} {
		t.Run(name, func(t *testing.T) {
			tr := quick(t, c.device)
			_, err := runOn(t.Context(), tr, Host{Progress: func(u Update) {
				if u.Stage != progress.Opening {
					t.Errorf("stage %s", u.Stage)
				}
			}}, c.machine.Pool())
			var wrong *job.Error
			var of *job.DeviceError
			if !errors.As(err, &wrong) || wrong.Field != "device" || wrong.Reason != c.want || !errors.As(err, &of) || of.Full != c.full {
				t.Errorf("%v", err)
			}
			if files := testtable.List(t, filepath.Dir(tr.Out)); len(files) > 0 {
				t.Errorf("files %v", files)
			}
			c.machine.Ends(t)
		})
	}
	var wrong *job.Error
	for _, name := range []string{"gpu", "cuda:", "cuda:01"} {
		if err := Validate(quick(t, name)); !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, "choose auto, cpu, cuda or cuda:N") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if device.Process() == nil {
		if err := Validate(quick(t, "cuda")); !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, "gladflow-cuda") {
			t.Errorf("%v", err)
		}
	}
}

// A GPU may fail at any time. One that was named is an error in one sentence, and what it
// had done can be resumed. With auto the CPU does it all, or, from the first checkpoint
// on, it is the same error. Nothing is rolled back.
func TestTrainOnAGPUThatFails(t *testing.T) {
	clean := quick(t, "cuda")
	machine := &devicetest.Machine{Number: 1}
	_, _ = trainedOn(t, clean, machine.Pool())
	want := read(t, clean.Out)
	machine.Ends(t)
	_, onCPU := trainedOn(t, quick(t, "cpu"), nil)
	fallen, halted, ended := 0, 0, false
	for after := 0; !ended; after++ {
		for _, asked := range []string{"cuda", "auto"} {
			cause := []*devicetest.Fault{devicetest.ErrLost, devicetest.ErrFull}[after%2]
			m := &devicetest.Machine{Number: 1, Cells: cause, After: after}
			pool := m.Pool()
			tr := quick(t, asked)
			r, err := runOn(t.Context(), tr, Host{}, pool)
			var of *job.DeviceError
			var halt *Halt
			var wrong *job.Error
			switch isOf, isHalt := errors.As(err, &of), errors.As(err, &halt); {
			case err == nil && r.Device == "cuda:0":
				ended = true
			case err == nil:
				fallen++
				got, err := recovery.OpenModel("model", tr.Out, nil)
				if err != nil {
					t.Fatal(err)
				}
				if asked != "auto" || r.Device != "cpu" || r.DeviceName != "" || r.DeviceNote != "the CPU was taken: cuda:0: "+cause.Text ||
					!slices.Equal(got.Values(), onCPU.Values()) || got.Card.Backend != onCPU.Card.Backend || r.RolledBack > 0 {
					t.Errorf("%s after %d: %+v", asked, after, r)
				}
			case !isOf || of.Full != cause.Full || errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "cuda:0: "+cause.Text):
				t.Fatalf("%s after %d: %v", asked, after, err)
			case !isHalt:
				if files := testtable.List(t, filepath.Dir(tr.Out)); asked == "auto" || len(files) > 0 {
					t.Errorf("%s after %d: %v, files %v", asked, after, err, files)
				}
			default:
				halted++
				if !strings.HasSuffix(err.Error(), "; the training can be resumed from its checkpoint "+halt.Checkpoint) || !strings.Contains(halt.Command, " --resume") {
					t.Errorf("%v, %+v", err, halt)
				}
				tr.Resume = true
				again := &devicetest.Machine{Number: 1}
				r, err := runOn(t.Context(), tr, Host{}, again.Pool())
				if err != nil || !r.Resumed || r.Device != "cuda:0" {
					t.Fatalf("%s after %d: %v, %+v", asked, after, err, r)
				}
				if got := read(t, tr.Out); asked == "cuda" && !bytes.Equal(got, want) {
					t.Errorf("after %d: the resumed training gives another model", after)
				}
				again.Ends(t)
			}
			if ended {
				m.Ends(t)
				break
			}
			m.StillOpen(t) // also before the end: it has failed
		}
	}
	if fallen == 0 || halted == 0 {
		t.Errorf("%d went on with the CPU, %d halted", fallen, halted)
	}
}

// A checkpoint is resumed only on the backend that it began on, and with auto there.
func TestResumeOnADevice(t *testing.T) {
	interrupted := func(device string, gpus *device.Pool) job.Training {
		t.Helper()
		tr := quick(t, device)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err := runOn(ctx, tr, Host{Progress: func(u Update) {
			if u.Step.Step >= 3 {
				cancel()
			}
		}}, gpus)
		var interruption *Interruption
		if !errors.As(err, &interruption) || interruption.Checkpoint == "" {
			t.Fatalf("%s: %v", device, err)
		}
		tr.Resume = true
		return tr
	}
	for _, c := range []struct{ began, then, want string }{
		{"cuda:1", "auto", "cuda:1"},
		{"cuda:1", "cuda:1", "cuda:1"},
		{"cpu", "auto", "cpu"},
		{"cpu", "cpu", "cpu"},
		{"cuda:1", "cuda:0", "began on cuda:1 (card 1 with libraries) and this is cuda:0 (card 0 with libraries), which rounds differently; go on there, or remove the file"},
		{"cuda:1", "cpu", "began on cuda:1 (card 1 with libraries) and this is cpu ("},
		{"cpu", "cuda", "and this is cuda:0 (card 0 with libraries), which rounds differently"},
	} {
		m := &devicetest.Machine{Number: 2}
		tr := interrupted(c.began, m.Pool())
		m.Ends(t)
		tr.Device = c.then
		opened := m.Opened()
		r, err := runOn(t.Context(), tr, Host{}, m.Pool())
		var wrong *job.Error
		switch {
		case err == nil:
			if r.Device != c.want || !r.Resumed || (r.Device == "cpu") != (m.Opened() == opened) {
				t.Errorf("%+v: %+v", c, r)
			}
			if r.DeviceNote != "" != (c.began == "cpu" && c.then == "auto") {
				t.Errorf("%+v: note %q", c, r.DeviceNote)
			}
		case !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, c.want):
			t.Errorf("%+v: %v", c, err)
		}
		m.Ends(t)
	}

	// Without that GPU auto says what is missing, and where there is no code for one too.
	m := &devicetest.Machine{Number: 1}
	tr := interrupted("auto", m.Pool())
	m.Ends(t)
	var wrong *job.Error
	_, err := runOn(t.Context(), tr, Host{}, (&devicetest.Machine{Missing: errors.New("there is no driver; install one")}).Pool())
	if !errors.As(err, &wrong) || wrong.Field != "device" || wrong.Reason != "cuda:0: there is no driver; install one" {
		t.Errorf("%v", err)
	}
	_, err = runOn(t.Context(), tr, Host{}, nil)
	if !errors.As(err, &wrong) || wrong.Field != "device" || !strings.Contains(wrong.Reason, "began on cuda:0 (card 0 with libraries) and this is cpu (") {
		t.Errorf("%v", err)
	}
	// One of a version that trained on the CPU only.
	tr = interrupted("cpu", nil)
	path := strings.TrimSuffix(tr.Out, ".json") + ".checkpoint"
	if err := os.WriteFile(path, bytes.Replace(read(t, path), []byte(`,"device":"cpu"`), nil, 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(read(t, path), []byte(`"device":`)) {
		t.Error("the checkpoint names a device")
	}
	tr.Device = "auto"
	if r, err := runOn(t.Context(), tr, Host{}, (&devicetest.Machine{Number: 1}).Pool()); err != nil || r.Device != "cpu" || !r.Resumed {
		t.Errorf("%+v, %v", r, err)
	}
}

// A training that is cancelled while its GPU is opened, or on it, ends soon and gives it
// back.
func TestTrainingOnAGPUIsCancelled(t *testing.T) {
	m := &devicetest.Machine{Number: 1, Opening: make(chan struct{})}
	pool := m.Pool()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interruption *Interruption
	_, err := runOn(ctx, quick(t, "cuda"), Host{Progress: func(u Update) {
		if u.Stage == progress.Opening {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
	}}, pool)
	if !errors.As(err, &interruption) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(m.Opening)
	for began := time.Now(); m.Opened() == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the GPU is never opened")
		}
	}
	running, stop := context.WithCancel(t.Context())
	defer stop()
	_, err = runOn(running, quick(t, "cuda"), Host{Progress: func(u Update) {
		if u.Stage == progress.Training {
			stop()
		}
	}}, pool)
	if !errors.As(err, &interruption) || interruption.Checkpoint != "" {
		t.Errorf("%v", err)
	}
	m.Ends(t)
}
