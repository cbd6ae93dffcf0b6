package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/training/rankings"
)

const smallRanking = "train ranking --networks 12 --validation-networks 8 --members 1 --epochs 6 --others 60 --seed 2 --out "

// A ranking is trained, its card read, and the model used, by the commands that are
// proposed.
func TestTrainRankingThenRecover(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mine.json")
	code, stdout, stderr := gladflow(t, strings.Fields(smallRanking+out)...)
	if code != exitDone {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	for _, want := range []string{
		"mine: 193 parameters\ntrained on 12 simulated networks with ", "seed 2; ", "\nchecked on ", "\nall ", "\n0.0 to 0.1 ",
		"\nexpected calibration error 0.", "\nmodel in " + out + "\ntry next:\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if !strings.Contains(stderr, "simulating: 12 networks (") || !strings.Contains(stderr, "training: 6 epochs, loss 0.") {
		t.Errorf("standard error\n%s", stderr)
	}
	_, next, _ := strings.Cut(stdout, "try next:\n")
	commands := strings.Split(strings.TrimSpace(next), "\n")
	if len(commands) != 2 {
		t.Fatalf("proposes %q", next)
	}
	code, stdout, stderr = gladflow(t, strings.Fields(commands[0])[1:]...)
	if code != exitDone || !strings.Contains(stdout, "\n  kind         ranking, 193 parameters\n") || !strings.Contains(stdout, "\n  command      gladflow train ranking --networks 12 ") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	command := strings.Replace(commands[1], "YOUR-TABLE.csv", file(t, "table.csv", expression())+" --id-column id --format csv", 1)
	folder := t.TempDir()
	command = strings.Replace(command, "--out network", "--out "+folder, 1)
	if code, stdout, stderr = gladflow(t, strings.Fields(command)[1:]...); code != exitDone || !strings.Contains(stdout, "\nexpression ") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	edges, err := os.ReadFile(filepath.Join(folder, "expression.edges.csv"))
	if err != nil || !strings.HasPrefix(string(edges), "source,target,score,sign,edge_probability\n") || strings.Count(string(edges), "\n") != 1+6*5/2 {
		t.Errorf("%v\n%s", err, edges)
	}
	code, stdout, stderr = gladflow(t, strings.Fields(smallRanking+out+" --json")...)
	var r rankings.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitDone || err != nil || r.Training.Networks != 12 || len(r.Families) < 2 || r.Calibration.Bins[0].Pairs == 0 {
		t.Errorf("code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if names := noTemporaries(t, filepath.Dir(out)); len(names) != 1 {
		t.Errorf("files %v", names)
	}
}

func TestTrainRankingUsage(t *testing.T) {
	for args, want := range map[string]string{
		"train ranking":                            "--out: no model file is named",
		"train ranking er --out x":                 `"er" is too much; ranking takes no arguments`,
		"train ranking --out x --networks many":    `--networks: "many" is not a whole number`,
		"train ranking --out x --networks -3":      "--networks: -3 is too few; give at least 1",
		"train ranking --out x --learning-rate -1": "--learning-rate: -1 is no learning rate",
		"train ranking --out x --epoch 3":          "did you mean --epochs?",
		"train ranking --out " + os.DevNull + "/x": "--out: the folder cannot be made",
		"recover x --ranking-model":                "--ranking-model has no value",
	} {
		code, stdout, stderr := gladflow(t, strings.Fields(args)...)
		first, _, _ := strings.Cut(stderr, "\n")
		if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "gladflow: ") || !strings.Contains(first, want) {
			t.Errorf("gladflow %s: code %d, prints %q and %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// Every field is a flag.
func TestTrainRankingFlags(t *testing.T) {
	c, _, err := command(t, "train").Find([]string{"ranking"})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"help": true}
	for _, f := range job.Fields(&job.RankingTraining{}, job.Facts{}) {
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
}
