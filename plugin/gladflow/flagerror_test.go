package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// goText is what Go's packages say, which tells a user nothing.
var goText = regexp.MustCompile(`runtime error|reflect:|json: (cannot|unknown|invalid|unsupp|error)|strconv\.|invalid UTF-8|proto:|\bEOF\b|grpc: |rpc error|invalid character|goroutine|<nil>|%!|nil pointer|\bopen /|\bl?stat |\bmkdir |\.go:|unmarshal|context canceled|yaml|parse error|lookup |dial tcp|listen tcp`)

// Whatever the value of a flag is, the command ends with code 2 and one sentence
// without a word of Go's, or takes it. What waits or works ends at once here.
func TestEveryFlagWithNonsense(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	table := file(t, "table.csv", expression())
	arguments := map[string][]string{
		"recover": {table, "--id-column=id", "--solvers=bcd", "--penalty=0.5"}, "evaluate": {table, table}, "simulate": {"chain"}, "train": {"chain"}, "experiment": {"none"},
		"run": {file(t, "job.yaml", "input: "+table+"\n")}, "serve": {"--insecure", "--listen=127.0.0.1:0"},
	}
	values := []string{"", "x", "-1", "1e999", "NaN", "0", "\x00", "\xff\xfe", "a\nb", strings.Repeat("x", 100_000), strings.Repeat("9", 100), "%s%d", "../..", "s3://", "[]", "{"}
	for _, v := range values {
		for _, args := range [][]string{{"recover", v}, {"evaluate", v, table}, {"evaluate", table, v}, {"run", v}, {"train", v}, {"simulate", v}, {"experiment", v}, {"models", "--card", v}, {"help", v}, {v}} {
			if args[0] == "" || args[0] == "help" && v == "" {
				continue
			}
			code, _, stderr := gladflow(t, args...)
			if code != exitUsage || goText.MatchString(stderr) || len(stderr) > 1500 {
				t.Errorf("%.40q: code %d, %.300s", args, code, stderr)
			}
		}
	}
	refused := 0
	for _, c := range commands(newRoot(nil, nil, nil)) {
		name := strings.TrimPrefix(c.CommandPath(), "gladflow ")
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			for _, v := range values {
				args := append(strings.Fields(name), arguments[name]...)
				args = append(args, "--"+f.Name+"="+v)
				if c.Flags().Lookup("out") != nil && f.Name != "out" {
					args = append(args, "--out="+t.TempDir())
				} else if f.Name == "out" {
					t.Chdir(t.TempDir())
				}
				what := fmt.Sprintf("%s --%s=%.20q", name, f.Name, v)
				ctx := ended
				if kind := f.Value.Type(); (name == "recover" || name == "simulate genes") && (strings.Contains(kind, "FILE") || kind == "FOLDER") {
					ctx = t.Context() // opened it must be
				}
				code, _, stderr := gladflowWith(ctx, "", args...)
				first, rest, _ := strings.Cut(stderr, "\n")
				switch {
				case goText.MatchString(stderr):
					t.Errorf("%s: code %d, %.500s", what, code, stderr)
				case code == exitUsage:
					refused++
					if !strings.HasPrefix(first, "gladflow: ") || len(stderr) > 1500 || rest != "" && !strings.HasPrefix(rest, "see gladflow ") {
						t.Errorf("%s: %.500s (%d bytes)", what, stderr, len(stderr))
					}
				case v == "":
					t.Errorf("%s: code %d, %.300s", what, code, stderr)
				case code != exitDone && code != exitInterrupted:
					t.Errorf("%s: code %d, %.300s", what, code, stderr)
				default:
					t.Logf("taken: %s", what)
				}
			}
		})
	}
	if refused < 200 {
		t.Errorf("%d command lines are refused", refused)
	}
}
