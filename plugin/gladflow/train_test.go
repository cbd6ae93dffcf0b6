package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/progress"
	"github.com/gladflow/gladflow/pipelines/training"
	"github.com/gladflow/gladflow/solver/glad/train"
)

const smallTraining = "train er --dimension 10 --density 0.2 --samples 30 --graphs 3 --validation-graphs 2 --steps 20 --seed 5 --out "

// A model is trained, its card read, and the model used, by the commands that are
// proposed.
func TestTrainThenRecover(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.json")
	code, stdout, stderr := gladflow(t, strings.Fields(smallTraining+out)...)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"er-d10-m30: 634 parameters, architecture pm\n",
		"trained on er p=0.2, d=10, weights U[-1, 1) sym, smallest eigenvalue 1: 6 covariances of 30 samples, 3 networks, seed 5\n",
		"best by nmse at step ",
		"validation: 4 covariances of 2 networks; NMSE: 10 log10(",
		"model in " + out + "\ntry next:\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	lines := strings.Split(withoutDevice(stderr), "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "simulating: 3 networks and 2 for validation, with 2 covariances each (") ||
		!strings.HasPrefix(lines[1], "training: step 0 of 20, validation NMSE -") || !strings.HasPrefix(lines[len(lines)-2], "training: 20 steps, NMSE -") {
		t.Errorf("standard error\n%s", stderr)
	}
	_, next, _ := strings.Cut(stdout, "try next:\n")
	commands := strings.Split(strings.TrimSpace(next), "\n")
	if len(commands) != 2 {
		t.Fatalf("proposes %q", next)
	}
	code, stdout, stderr = gladflow(t, strings.Fields(commands[0])[1:]...)
	if code != exitDone || !strings.Contains(stdout, "\n  command      gladflow train er --dimension 10") ||
		!strings.Contains(stdout, "\n  kind         glad-pm, 5 cells, 634 parameters\n") || !strings.Contains(stdout, "\n  validation   aupr 0.") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	command := strings.Replace(commands[1], "YOUR-TABLE.csv", file(t, "table.csv", expression())+" --id-column id", 1)
	command = strings.Replace(command, "--out network", "--out "+t.TempDir(), 1)
	if code, stdout, stderr = gladflow(t, strings.Fields(command)[1:]...); code != exitDone || !strings.Contains(stdout, "glad") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	if names := noTemporaries(t, filepath.Dir(out)); len(names) != 1 {
		t.Errorf("files %v", names)
	}
}

// What simulate proposes for its folder works, word for word but for the files'
// names and the number of steps.
func TestTrainOnSimulatedFolder(t *testing.T) {
	folder, out := t.TempDir(), filepath.Join(t.TempDir(), "m.json")
	code, stdout, stderr := gladflow(t, strings.Fields("simulate er --dimension 8 --samples 30 --graphs 3 --out "+folder)...)
	_, rest, _ := strings.Cut(stdout, "  gladflow train ")
	proposed, _, _ := strings.Cut("gladflow train "+rest, "\n")
	if code != exitDone || !strings.Contains(proposed, "--data "+folder) || !strings.Contains(proposed, "model.json") {
		t.Fatalf("code %d\n%s%s", code, stdout, stderr)
	}
	words := strings.Fields(strings.Replace(proposed, "model.json", out+" --steps 2 --json", 1))
	code, stdout, stderr = gladflow(t, words[1:]...)
	var r training.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || r.Examples != 2 || r.Training.Data != folder {
		t.Errorf("code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	words = strings.Fields("train --from " + out + " --data " + folder + " --steps 2 --out " + out)
	if code, stdout, stderr = gladflow(t, words...); code != exitDone || !strings.Contains(stdout, "\nbefore ") || !strings.Contains(stdout, "\nafter ") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

// Ctrl-C leaves a checkpoint, says how to go on and exits with 3.
func TestTrainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	folder := t.TempDir()
	checkpoint := filepath.Join(folder, "m.checkpoint")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(checkpoint); !errors.Is(err, fs.ErrNotExist) {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	line := strings.Replace(smallTraining, "--steps 20", "--steps 1000000", 1) + filepath.Join(folder, "m.json")
	code, stdout, stderr := gladflowWith(ctx, "", strings.Fields(line)...)
	want := "the state of the training is in " + checkpoint + "; go on with\n  gladflow train er --dimension 10"
	if code != exitInterrupted || stdout != "" || !strings.Contains(stderr, "interrupted") || !strings.Contains(stderr, want) || !strings.Contains(stderr, " --out "+filepath.Join(folder, "m.json")+" --resume\n") {
		t.Errorf("code %d, prints %q and\n%swant\n%s", code, stdout, stderr, want)
	}
	if names := noTemporaries(t, folder); len(names) != 1 {
		t.Errorf("files %v", names)
	}
}

// Without a checkpoint nothing is kept, and nobody is told otherwise.
func TestTrainInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	folder := t.TempDir()
	code, stdout, stderr := gladflowWith(ctx, "", strings.Fields(smallTraining+filepath.Join(folder, "m.json"))...)
	const want = "gladflow: interrupted before the first checkpoint; nothing was written, start the training again\n"
	if code != exitInterrupted || stdout != "" || !strings.HasSuffix(stderr, want) || strings.Contains(stderr, "kept") {
		t.Errorf("code %d, prints %q and\n%s", code, stdout, stderr)
	}
	if names := noTemporaries(t, folder); len(names) != 0 {
		t.Errorf("files %v", names)
	}
}

// A step that is rolled back is told of at once, and lines come every other second.
func TestTrainProgress(t *testing.T) {
	var b bytes.Buffer
	p := newTrainProgress(&b)
	now := training.Update{Update: progress.Update{Stage: progress.Training, Detail: "one"}}
	now.Step.Steps = 9
	p.show(now)
	now.Detail = "two"
	p.show(now)
	now.Step.RolledBack, now.Detail = true, "three"
	p.show(now)
	now.Done, now.Detail = true, "four"
	p.show(now)
	if got, want := b.String(), "training: one\ntraining: three\ntraining: four (0.00 s)\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
}

// What stands beside a bar leaves room for the bar.
func TestTrainBesideBar(t *testing.T) {
	var now training.Update
	now.Step = train.Progress{Steps: 160, Loss: 0.43677, Validation: -10.0689, Left: 83*time.Second + 400*time.Millisecond}
	for _, figure := range []string{"nmse_db", "mean_nmse_db"} {
		now.Figure = figure
		if got := besideBar(now); got != "loss 0.437, -10.07 dB, 1m23s left" {
			t.Errorf("%s: prints %q", figure, got)
		}
	}
	now.Step = train.Progress{Steps: 160, Loss: math.NaN(), Validation: math.NaN()}
	if got := besideBar(now); got != "" {
		t.Errorf("prints %q", got)
	}
}

func TestTrainUsage(t *testing.T) {
	model := file(t, "broken.json", "{}")
	there := file(t, "m.checkpoint", "{}")
	for args, want := range map[string]string{
		"train":                                    "FAMILY is missing; write gladflow train FAMILY",
		"train er":                                 "--out: no model file is named",
		"train er grid --out x":                    `"grid" is too much; train takes FAMILY`,
		"train er --data x --out x":                `"er" is too much; train takes no arguments`,
		"train rgn --out x":                        `family: "rgn" is unknown; choose er, grid,`,
		"train er --out x --dimension ten":         `--dimension: "ten" is not a whole number`,
		"train er --out x --samples 10,0":          "--samples: 0 samples are too few",
		"train er --out x --density 2":             "--density: 2 is no probability",
		"train er --out x --architecture lstm":     `--architecture: "lstm" is unknown; choose literal,`,
		"train er --out x --select f1":             `--select: "f1" is unknown; choose nmse, mean-nmse, floored-nmse, ps, auc or aupr`,
		"train er --out x --step 9":                "did you mean --steps?",
		"train er --out x --from nothing":          `--from: "nothing" is neither a built-in model`,
		"train er --out x --from " + model:         "--from: " + model + ": ",
		"train --data nowhere --out x":             "--data: nowhere: there is no such file",
		"train er --out " + t.TempDir():            "is not a regular file",
		"train er --out " + os.DevNull + "/x":      "--out: the folder cannot be made",
		"train er --out x --engine mkl":            `--engine: "mkl" is unknown`,
		"train er --out x --checkpoint " + there:   "--checkpoint: " + there + " is there already",
		"train er --out x --support-cost much":     `--support-cost: "much" is neither decibels`,
		"train er --out x --correlation spearman":  "--correlation: spearman is not simulated; choose pearson or none",
		"train mixed --out x --correlation none":   "--correlation: there is no folder of data",
		"train er --out x --checkpoint no/where/x": "--checkpoint: no/where: there is no such folder",
	} {
		code, stdout, stderr := gladflow(t, strings.Fields(args)...)
		first, _, _ := strings.Cut(withoutDevice(stderr), "\n")
		if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "gladflow: ") || !strings.Contains(first, want) {
			t.Errorf("gladflow %s: code %d, prints %q and %q, want %q", args, code, stdout, stderr, want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a file is left")
	}
}

// Every field but the family is a flag, and help calls files files.
func TestTrainFlags(t *testing.T) {
	c := command(t, "train")
	known := map[string]bool{"help": true}
	for _, f := range job.Fields(&job.Training{}, training.Facts())[1:] {
		known[f.Flag] = true
		if flag := c.Flags().Lookup(f.Flag); flag == nil || !strings.HasPrefix(flag.Usage, f.Description) {
			t.Errorf("the flag of %s is %+v", f.Key, flag)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !known[f.Name] {
			t.Errorf("--%s is no field", f.Name)
		}
	})
	if got := c.Flags().Lookup("out").Value.Type(); got != "FILE" {
		t.Errorf("--out takes a %s", got)
	}
}

// A training whose GPU has failed ends with one sentence, the code 1 and the command that
// resumes it.
func TestHaltedTraining(t *testing.T) {
	halt := &training.Halt{Checkpoint: "m.checkpoint", Command: "gladflow train er --out m.json --resume",
		Err: &job.DeviceError{Device: "cuda:0", Err: errors.New("GPU 0 is lost; restart the program")}}
	var stderr strings.Builder
	const want = "gladflow: cuda:0: GPU 0 is lost; restart the program; the training can be resumed from its checkpoint m.checkpoint\n"
	if code := report(t.Context(), halt, &stderr); code != exitFailed || stderr.String() != want {
		t.Errorf("code %d, %s", code, &stderr)
	}
	if checkpoint, command := resumption(fmt.Errorf("besides: %w", halt)); checkpoint != halt.Checkpoint || command != halt.Command {
		t.Errorf("%s, %s", checkpoint, command)
	}
	if _, command := resumption(halt.Err); command != "" {
		t.Errorf("%s", command)
	}
}
