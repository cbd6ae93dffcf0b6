package experiment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
)

// write leaves the table, the figure and the text in folder.
func (o *Outcome) write(folder string) error {
	name := o.Experiment.Name
	path := filepath.Join(folder, name)
	metadata := map[string]string{
		output.MetaVersion:    job.Version(),
		"gladflow.experiment": name,
		"gladflow.setting":    o.Report.Setting,
		output.MetaSeed:       strconv.Itoa(o.Options.Seed),
		"gladflow.quick":      strconv.FormatBool(o.Options.Quick),
		"gladflow.command":    o.Options.command(name),
		"gladflow.machine":    o.Machine,
	}
	if err := arrowio.WriteTable(path+".parquet", arrowio.Parquet, o.Report.Columns, metadata); err != nil {
		return err
	}
	if err := o.Report.Figure.Write(path); err != nil {
		return fmt.Errorf("the figure %s: %w", path, err)
	}
	err := arrowio.ReplaceFile(path+".md", func(w io.Writer) error {
		_, err := io.WriteString(w, o.Markdown(name+".svg", 1))
		return err
	})
	o.Files = []string{name + ".parquet", name + ".svg", name + ".png", name + ".md"}
	return err
}

// Markdown is the section of the outcome with its heading at level, its figure
// linked as image.
func (o *Outcome) Markdown(image string, level int) string {
	var b strings.Builder
	r := o.Report
	fmt.Fprintf(&b, "%s %s: %s\n\n", strings.Repeat("#", level), o.Experiment.Name, o.Experiment.Title)
	if o.Experiment.Claim != "" {
		fmt.Fprintf(&b, "*The paper:* %s\n\n", o.Experiment.Claim)
	}
	if o.Options.Quick {
		b.WriteString("**Quick run: smaller sizes and fewer graphs than the experiment asks for. These figures are not for comparison.**\n\n")
	}
	fmt.Fprintf(&b, "%s\n\n", r.Paragraph)
	b.WriteString(markdownTable(r.Main))
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n%s:\n\n%s", s.Title, markdownTable(s.Rows))
	}
	fmt.Fprintf(&b, "\n![%s](%s)\n\n", o.Experiment.Title, image)
	errors := r.Errors
	if errors == "" {
		errors = "one standard error over test graphs"
	}
	fmt.Fprintf(&b, "Setting: %s; seed %d; ± is %s. `%s` took %s on %s.\n",
		r.Setting, o.Options.Seed, errors, o.Options.command(o.Experiment.Name), duration(o.Elapsed), o.Machine)
	return b.String()
}

func markdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("---:|", len(row)-1))
		}
	}
	return b.String()
}

func duration(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

// writeDocument writes the sections of all outcomes into one file.
func writeDocument(path string, outcomes []Outcome) error {
	folder := outcomes[0].Options.Out
	relative, err := filepath.Rel(filepath.Dir(path), folder)
	if err != nil {
		relative = folder
	}
	command := outcomes[0].Options.command("--all")
	var total time.Duration
	for _, o := range outcomes {
		total += o.Elapsed
	}
	peers, err := sectionOfPeers(path)
	if err != nil {
		return err
	}
	return arrowio.ReplaceFile(path, func(w io.Writer) error {
		var b strings.Builder
		fmt.Fprintf(&b, `# The paper's synthetic experiments

Written by %s, all of it but the last section, if that is on peers; do not edit. Seed %d; %s in all on %s.

All of it was computed on the CPU. The code for GPUs (docs/gpu.md) was tested on an emulated driver only: of a card there are no figures yet.

NMSE is 10·log10(E‖Z − Θ\*‖²/E‖Θ\*‖²) in dB, the paper's formula, of the sparse estimate Z, the lower the better. Parameters of classical solvers are tuned on validation graphs, figures are of test graphs; training, validation and test graphs come from separate random streams. "sym" draws one weight for an edge, "avg" averages two: see `+"`gladflow simulate --help`"+`. Of the paper, Table 1 and the AUC are quoted as numbers; what else it claims is told in words.

`, "`"+command+"`", outcomes[0].Options.Seed, duration(total), outcomes[0].Machine)
		for _, o := range outcomes {
			fmt.Fprintf(&b, "- [%s](#%s): %s\n", o.Experiment.Name, anchor(o.Experiment), o.Experiment.Title)
		}
		for _, o := range outcomes {
			image := filepath.ToSlash(filepath.Join(relative, o.Experiment.Name+".svg"))
			b.WriteString("\n" + o.Markdown(image, 2))
		}
		b.WriteString(peers)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// sectionOfPeers is the last section of the document that is there, if any: make bench-peers
// writes it, not an experiment.
func sectionOfPeers(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if at := strings.Index(string(text), "\n## peers: "); at >= 0 {
		return string(text[at:]), nil
	}
	return "", nil
}

// anchor is the identifier that GitHub gives the heading of e: letters in lower
// case, blanks as dashes, punctuation left out.
func anchor(e Experiment) string {
	var b strings.Builder
	for _, c := range strings.ToLower(e.Name + ": " + e.Title) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > 127:
			b.WriteRune(c)
		}
	}
	return b.String()
}
