package simulation

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/output"
	"github.com/gladflow/gladflow/pipelines/simulate/genes"
)

// A geneWriter writes set k of a run.
type geneWriter struct {
	geneRun
	set   *genes.Set
	model *genes.Model // nil for families without one
	k     int
	files []job.WrittenFile
}

func (w *geneWriter) write() (GeneSet, error) {
	name := stem(w.Name, w.k, w.Sets)
	n := GeneSet{
		Name:       name,
		Samples:    name + "." + w.Format,
		Network:    name + ".network." + w.Format,
		Genes:      name + ".genes." + w.Format,
		SIF:        name + ".network.sif",
		Reference:  name + ".reference.csv",
		Regulators: name + ".regulators.txt",
		Variables:  len(w.set.Names),
		Background: w.set.Background,
		Edges:      len(w.set.Edges),
		Listed:     len(w.set.Regulators),
	}
	n.Pairs = n.Listed * (n.Variables - n.Background - 1)
	for _, t := range []struct {
		file    string
		columns []arrowio.Column
	}{
		{n.Samples, sampleColumns(w.set.Names, w.set.Values)},
		{n.Network, w.edges()},
		{n.Genes, w.genes()},
	} {
		files, err := arrowio.TableFormats().For(w.Format).Write(w.folder.Root(), t.file, t.columns, w.metadata())
		if err != nil {
			return n, err
		}
		w.files = append(w.files, output.Listed(files)...)
	}
	for _, t := range []struct {
		file string
		text func(out io.Writer) error
	}{
		{n.SIF, w.sif},
		{n.Reference, w.reference},
		{n.Regulators, w.regulators},
	} {
		written, err := arrowio.ReplaceFileIn(w.folder.Root(), t.file, func(out io.Writer) error {
			buffer := bufio.NewWriter(out)
			if err := t.text(buffer); err != nil {
				return err
			}
			return buffer.Flush()
		})
		if err != nil {
			return n, err
		}
		w.files = append(w.files, job.WrittenFile(written))
	}
	n.Files = w.files
	return n, nil
}

// metadata says how a table was made: wherever the folder and however many other
// sets there are, the same bytes.
func (w *geneWriter) metadata() map[string]string {
	s := w.GeneSimulation
	s.Out, s.Name, s.Sets, s.JSON = "", "", 0, false
	job.Redact(&s, arrowio.Redacted)
	return map[string]string{
		output.MetaVersion:  job.Version(),
		"gladflow.genes":    output.JSON(s),
		output.MetaSeed:     strconv.Itoa(w.Seed),
		"gladflow.set":      strconv.Itoa(w.k + 1),
		output.MetaSamples:  strconv.Itoa(w.Samples),
		output.MetaDirected: "true",
	}
}

// edges has an edge a row. With a model self-loops and the background are among
// them, and the parameters that the rate law of the target has for the source.
func (w *geneWriter) edges() []arrowio.Column {
	var source, target []string
	var sign []int8
	if w.model == nil {
		for _, e := range w.set.Edges {
			source, target, sign = append(source, w.set.Names[e.Source]), append(target, w.set.Names[e.Target]), append(sign, e.Sign)
		}
		return []arrowio.Column{{Name: "source", Values: source}, {Name: "target", Values: target}, {Name: "sign", Values: sign}}
	}
	var half, exponent, rate []float64
	for j, regulators := range w.model.Regulators {
		l := w.model.Laws[j]
		if l.Form == "" {
			continue
		}
		for k, i := range regulators {
			source, target, sign = append(source, w.model.Names[i]), append(target, w.model.Names[j]), append(sign, l.Signs[k])
			half, rate = append(half, l.Half[k]), append(rate, l.Strength[k])
			n := 1.0
			if l.Exponent != nil {
				n = l.Exponent[k]
			}
			exponent = append(exponent, n)
		}
	}
	return []arrowio.Column{
		{Name: "source", Values: source}, {Name: "target", Values: target}, {Name: "sign", Values: sign},
		{Name: "half", Values: half}, {Name: "exponent", Values: exponent}, {Name: "rate", Values: rate},
	}
}

// genes has a gene a row: whether it is listed as a regulator and whether it is
// background, and with a model its rate law ("input" for none), the basal rate, the
// cooperation of synergy, the input that it follows and its highest expression.
func (w *geneWriter) genes() []arrowio.Column {
	d := len(w.set.Names)
	listed, background := make([]bool, d), make([]bool, d)
	for j := range d {
		_, listed[j] = slices.BinarySearch(w.set.Regulators, j)
		background[j] = j >= d-w.set.Background
	}
	columns := []arrowio.Column{
		{Name: "gene", Values: w.set.Names}, {Name: "regulator", Values: listed}, {Name: "background", Values: background},
	}
	if w.model == nil {
		return columns
	}
	laws, follows := make([]string, d), make([]string, d)
	basal, cooperation, highest := make([]float64, d), make([]float64, d), slices.Repeat([]float64{1}, d)
	for j, l := range w.model.Laws {
		laws[j], basal[j], cooperation[j] = l.Form, l.Basal, l.Cooperation
		if l.Form == "" {
			laws[j] = "input"
		}
		if leader := w.model.Leaders[j]; leader >= 0 {
			follows[j] = w.model.Names[leader]
		}
	}
	copy(highest, w.model.Highest)
	return append(columns,
		arrowio.Column{Name: "law", Values: laws},
		arrowio.Column{Name: "basal", Values: basal},
		arrowio.Column{Name: "cooperation", Values: cooperation},
		arrowio.Column{Name: "follows", Values: follows},
		arrowio.Column{Name: "highest", Values: highest},
	)
}

// sif has the edges without background, and at the end the genes without an edge.
func (w *geneWriter) sif(out io.Writer) error {
	kinds := map[int8]string{1: "ac", -1: "re", 0: "un"}
	joined := make([]bool, len(w.set.Names))
	for _, e := range w.set.Edges {
		joined[e.Source], joined[e.Target] = true, true
		if _, err := fmt.Fprintf(out, "%s\t%s\t%s\n", w.set.Names[e.Source], kinds[e.Sign], w.set.Names[e.Target]); err != nil {
			return err
		}
	}
	for j, name := range w.foreground() {
		if joined[j] {
			continue
		}
		if _, err := fmt.Fprintln(out, name); err != nil {
			return err
		}
	}
	return nil
}

// reference lists every pair of a listed regulator and another gene.
func (w *geneWriter) reference(out io.Writer) error {
	text := csv.NewWriter(out)
	if err := text.Write([]string{"source", "target", "label"}); err != nil {
		return err
	}
	edges := make(map[[2]int]bool)
	for _, e := range w.set.Edges {
		edges[[2]int{e.Source, e.Target}] = true
	}
	for _, i := range w.set.Regulators {
		for j, name := range w.foreground() {
			if i == j {
				continue
			}
			label := "0"
			if edges[[2]int{i, j}] {
				label = "1"
			}
			if err := text.Write([]string{w.set.Names[i], name, label}); err != nil {
				return err
			}
		}
	}
	text.Flush()
	return text.Error()
}

func (w *geneWriter) regulators(out io.Writer) error {
	for _, i := range w.set.Regulators {
		if _, err := fmt.Fprintln(out, w.set.Names[i]); err != nil {
			return err
		}
	}
	return nil
}

// foreground are the names of the genes without background.
func (w *geneWriter) foreground() []string { return w.set.Names[:len(w.set.Names)-w.set.Background] }
