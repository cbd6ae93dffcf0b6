package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/simulation"
)

// Everything that a user can do wrong ends with code 2 and one sentence that
// says what to do.
func TestWrongUsage(t *testing.T) {
	table := file(t, "table.csv", expression())
	covariance := file(t, "s.csv", "a,b\n2,0.5\n0.5,2\n")
	strangers := file(t, "strangers.tsv", "x\ty\t1\nx\tz\t0\n")
	whole := compressed(t, expression())
	truncated := file(t, "t.csv.gz", string(whole[:len(whole)/2]))
	parquet := demoSamples(t)
	truncatedParquet := file(t, "t.parquet", string(parquet[:len(parquet)/2]))
	j := file(t, "job.yaml", "input: "+table+"\npenlty: 0.1\n")
	labelled := file(t, "labelled.yaml", "input: "+table+"\n")

	for _, c := range []struct {
		args string // separated by blanks
		want string // in the sentence
		hint string // the command whose help is named
	}{
		{"frobnicate", `no command "frobnicate"; choose from`, "gladflow"},
		{"recovr x.csv", "did you mean recover?", "gladflow"},
		{"help frobnicate", `no command "frobnicate"; choose from`, "gladflow"},
		{"completion foo", `no script for "foo"; choose from bash, fish, powershell, zsh`, "gladflow completion"},
		{"completion bash x", `"x" is too much; bash takes no arguments`, "gladflow completion bash"},
		{"recover", "INPUT is missing; write gladflow recover INPUT", "gladflow recover"},
		{"recover a b", `"b" is too much; recover takes INPUT`, "gladflow recover"},
		{"evaluate a", "REFERENCE is missing", "gladflow evaluate"},
		{"solvers x", "takes no arguments", "gladflow solvers"},
		{"recover x --pnalty 1", "did you mean --penalty?", "gladflow recover"},
		{"recover x -q", "no flag -q", "gladflow recover"},
		{"recover x --penalty", "--penalty has no value", "gladflow recover"},
		{"recover x --gap small", `--gap: "small" is not a number`, "gladflow recover"},
		{"recover x --time-limit 90", "--time-limit: \"90\" is not a duration; write it as 90s", "gladflow recover"},
		{"recover x --penalty -0.1", "--penalty: -0.1 is negative", "gladflow recover"},
		{"recover x --penalty NaN", "--penalty: \"NaN\" is neither", "gladflow recover"},
		{"recover x --penalty Inf", "--penalty: \"Inf\" is neither", "gladflow recover"},
		{"recover x --solvers glad,foo", `--solvers: "foo" is unknown; choose from glad, bcd, gista, admm, am`, "gladflow recover"},
		{"recover x --reference y --population some", "--population: \"some\" is unknown; choose labelled or all", "gladflow recover"},
		{"recover x --population all", "--population: there is no reference", "gladflow recover"},
		{"recover x --device gpu", `--device: "gpu" is unknown; choose auto, cpu, cuda or cuda:N with the number of a GPU from 0`, "gladflow recover"},
		{"recover x --device cuda:", `--device: "cuda:" is unknown`, "gladflow recover"},
		{"recover x --device cuda:-1", `--device: "cuda:-1" is unknown`, "gladflow recover"},
		{"recover x --adapt much", `"much" is too much; recover takes INPUT`, "gladflow recover"},
		{"recover x --adapt=much", `--adapt: "much" is unknown; choose experts, equal-scales or train`, "gladflow recover"},
		{"recover x --adapt train --correlation none", "--adapt: train works on correlations", "gladflow recover"},
		{"recover --adapt x --solvers bcd", "--adapt: only glad is fitted to the table", "gladflow recover"},
		{"recover x --label run", `--label: "run" has no value; write it as KEY=VALUE`, "gladflow recover"},
		{"recover x --label a=b --label a=c", `--label: the key "a" is there twice`, "gladflow recover"},
		{"recover x --label a=b --label é=c", `--label: the key "é" has other characters`, "gladflow recover"},
		{"recover x --label =c", "--label: a label has no key", "gladflow recover"},
		{"recover x --input table.csv", "--input: \"table.csv\" is unknown", "gladflow recover"},
		{"recover x --input-kind table.csv", "--input: \"table.csv\" is unknown", "gladflow recover"},
		{"recover " + covariance + " --input covariance", "--samples: the number of samples is missing", "gladflow recover"},
		{"recover " + covariance + " --input correlation --samples 9", "--input: the diagonal entry of \"a\" is 2", "gladflow recover"},
		{"recover " + table + " --id-column id --model nothing", "--model: \"nothing\" is neither", "gladflow recover"},
		{"recover " + table + " --id-column id --out " + filepath.Join(table, "out"), "--out: the folder cannot be made", "gladflow recover"},
		{"demo --out " + filepath.Join(table, "out"), "--out: the folder cannot be made", "gladflow demo"},
		{"models --card nothing", "\"nothing\" is neither a built-in model", ""},
		{"recover missing.csv", "missing.csv: there is no such file", ""},
		{"recover " + t.TempDir(), "folder", ""},
		{"recover " + table + "/", "table.csv/: it is a file and no folder; leave out the slash at the end", ""},
		{"recover file://" + table + "/", "table.csv/: it is a file and no folder; leave out the slash at the end", ""},
		{"recover " + table + "/x.csv", "a part of the path is a file", ""},
		{"recover " + strings.Repeat("x", 5000) + ".csv", "the name is too long", ""},
		{"recover " + table + " --id-column id --reference " + table + "/", "it is a file and no folder", ""},
		{"recover " + table + " --id-column id --model " + table + "/", "table.csv/: it cannot be read: not a directory", "gladflow recover"},
		{"run " + table + "/", "table.csv/: it cannot be read: not a directory", ""},
		{"evaluate " + table + "/ " + strangers, "it is a file and no folder", ""},
		{"recover " + table, "--id-column id", ""},
		{"recover " + truncated + " --id-column id", "truncated", ""},
		{"recover " + truncatedParquet + " --id-column sample", "truncated", ""},
		{"recover " + table + " --id-column id --reference missing.tsv", "missing.tsv: there is no such file", ""},
		{"recover " + table + " --id-column id --reference " + strangers, "names no pair of the table's variables; check", ""},
		{"run missing.yaml", "missing.yaml: there is no such file", ""},
		{"run " + j, "job.yaml: line 2: penlty: the key is unknown; did you mean penalty?", ""},
		{"run " + labelled, "pass id_column id,", ""},
		{"evaluate missing.tsv " + strangers, "missing.tsv: there is no such file", ""},
		{"evaluate " + table + " " + strangers + " --rank x", "--rank: \"x\" is unknown; choose auto, order or score", "gladflow evaluate"},
	} {
		code, stdout, stderr := gladflow(t, strings.Fields(c.args)...)
		want := ""
		if c.hint != "" {
			want = "see " + c.hint + " --help\n"
		}
		first, rest, _ := strings.Cut(withoutDevice(stderr), "\n")
		if code != exitUsage || stdout != "" || !strings.HasPrefix(first, "gladflow: ") || !strings.Contains(first, c.want) || rest != want {
			t.Errorf("gladflow %s: code %d, prints %q and\n%swant code 2, %q and then %q", c.args, code, stdout, stderr, c.want, want)
		}
	}
}

func compressed(t *testing.T, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func demoSamples(t *testing.T) []byte {
	j, err := simulation.Demo(t.Context(), t.TempDir(), recovery.SelfSufficient())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(j.Input)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every field of a job but its input has a flag, and every flag is a field, but for the
// memory of the process, of which a job knows nothing.
func TestFlagsAreFields(t *testing.T) {
	for name, fields := range map[string][]job.Field{
		"recover":  job.Fields(&job.Job{}, recovery.Facts())[1:],
		"evaluate": job.Fields(&job.Evaluation{}, job.Facts{})[2:],
	} {
		c := command(t, name)
		known := map[string]bool{"help": true, memoryFlag: name == "recover"}
		for _, f := range fields {
			flag := c.Flags().Lookup(f.Flag)
			known[f.Flag] = true
			if flag == nil || !strings.HasPrefix(flag.Usage, f.Description) {
				t.Errorf("%s: the flag of %s is %+v", name, f.Key, flag)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !known[f.Name] {
				t.Errorf("%s: --%s is no field", name, f.Name)
			}
		})
	}
}

// commands are those of c, and theirs.
func commands(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, child := range c.Commands() {
		all = append(append(all, child), commands(child)...)
	}
	return all
}

func command(t *testing.T, name string) *cobra.Command {
	t.Helper()
	for _, c := range newRoot(nil, nil, nil).Commands() {
		if c.Name() == name {
			return c
		}
	}
	t.Fatalf("there is no command %s", name)
	return nil
}

// Flags fill the fields of their name.
func TestFlagsFillTheJob(t *testing.T) {
	for flag, value := range map[string]string{
		"--penalty": "0.25", "--penalise-diagonal": "", "--penalize-diagonal": "", "--time-limit": "90s",
		"--solvers": "bcd, am", "--samples": "12", "--input": "covariance", "--gap": "1e-3", "--edges": "top:5",
		"--label": "a=b,c=d",
	} {
		var j job.Job
		c := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
		bind(c, &j, recovery.Facts(), "input")
		arg := flag + "=" + value
		if value == "" {
			arg = flag
		}
		c.SetArgs([]string{arg})
		if err := c.Execute(); err != nil {
			t.Errorf("%s: %v", arg, err)
			continue
		}
		changed := 0
		for _, zero := range []bool{
			j.Penalty == "", !j.PenaliseDiagonal, j.TimeLimit == 0, j.Solvers == nil, j.Samples == 0,
			j.InputKind == "", j.Gap == 0, j.Edges == "", j.Labels["a"] != "b,c=d",
		} {
			if !zero {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("%s fills %+v", arg, j)
		}
	}
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	for _, c := range commands(newRoot(nil, nil, nil)) {
		if c.Name() == "help" || strings.Contains(c.CommandPath(), "completion") {
			continue
		}
		if !strings.Contains(c.Example, c.CommandPath()) || c.Short == "" {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		code, stdout, stderr := gladflow(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if code != exitDone || !strings.Contains(stdout, "Usage:") || !strings.Contains(stdout, c.Example) || stderr != "" {
			t.Errorf("%s --help: code %d\n%s%s", c.CommandPath(), code, stdout, stderr)
		}
	}
	if code, stdout, stderr := gladflow(t, "help", "demo"); code != exitDone || !strings.Contains(stdout, "gladflow demo") || stderr != "" {
		t.Errorf("gladflow help demo: code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := gladflow(t); code != exitDone || !strings.Contains(stdout, "recover") || stderr != "" {
		t.Errorf("gladflow: code %d\n%s%s", code, stdout, stderr)
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"recover x --solvers glad,b":     "glad,bcd\t",
		"recover x --population ":        "labelled\nall\n",
		"recover x --model ":             "constant-untrained\n",
		"models --card ":                 "constant-untrained\n",
		"evaluate x y --rank ":           "auto\norder\nscore\n",
		"recover x --penalty ":           "refit\nebic\nbic\ncv\nstars\nric\n",
		"recover x --edges ":             "support\nall\ntop:\n",
		"recover x --device ":            "auto\ncpu\ncuda\ncuda:\n",
		"recover x --shrinkage ":         "ledoit-wolf\n",
		"recover x --engine ":            "auto\nopenblas\ngonum\n",
		"recover x --reference ":         ":0\n", // files
		"recover x --out ":               ":16\n",
		"recover x --id-column ":         ":4\n", // nothing
		"recover x --solvers glad,glad,": "glad,bcd\t",
	} {
		code, stdout, _ := gladflow(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if code != exitDone || !strings.Contains(stdout, want) {
			t.Errorf("%q completes to %q, want %q", args, stdout, want)
		}
	}
}
