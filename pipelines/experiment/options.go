package experiment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
)

// Options say what is performed and where its files go. The zero value of every
// field but Name and All is its default. Flags of the command line and their help
// come from the tags.
type Options struct {
	// Name is one of Names; All performs them all and writes the document.
	Name string `json:"name,omitzero" jsonschema_description:"experiment to perform"`
	All  bool   `json:"all,omitzero" jsonschema_description:"perform every experiment and write the document with all of them"`
	// Quick makes everything smaller: seconds instead of minutes, and figures that
	// are not for comparison.
	Quick bool `json:"quick,omitzero" jsonschema_description:"fewer, smaller graphs and shorter training: for a look, not for figures"`
	// Seed is that of everything random. The default is that of the committed
	// document; no training of a shipped model uses it.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0,default=2020" jsonschema_description:"seed of graphs, samples and trainings"`
	// Network is a file with a known network, such as a SIF, for the experiments that
	// need one. All leaves these out without it.
	Network string `json:"network,omitzero" file:"read" jsonschema_description:"file of a known network that is read, for experiments on one: a SIF, or a list of source and target; --all without it leaves them out"`
	// Challenge is a folder with the files of DREAM5, for the experiment on them.
	Challenge string `json:"challenge,omitzero" file:"read-folder" jsonschema_description:"folder with the files of the DREAM5 challenge, for the experiment dream5, see gladflow dream5; --all without it leaves that out"`
	// Table is a table of samples without missing values, which missing takes some from.
	Table string `json:"table,omitzero" file:"read" jsonschema_description:"missing: complete table of samples to remove values from besides simulated ones; its first column may label them"`
	// Sets and Root name tables with known networks, as job.Benchmark does, for selection.
	Sets string `json:"sets,omitzero" file:"read-folder" jsonschema_description:"selection: tables with known networks to judge rules on besides simulated ones, a folder or a list as gladflow benchmark takes it"`
	Root string `json:"root,omitzero" file:"read-folder" jsonschema_description:"selection: folder that paths in the list of sets are relative to; without it that of the list"`
	// The following are Part's, for the experiment general.
	Families []string `json:"families,omitzero" jsonschema:"uniqueItems=true" jsonschema_description:"general: families of graphs (er-0.02, er-0.1, grid, scale-free, hub, block, band, small-world; empty counts edges in noise); without it all"`
	Sizes    []string `json:"sizes,omitzero" jsonschema:"uniqueItems=true" jsonschema_description:"general and selection: numbers of variables and samples, such as 100x1000; without it, of general, 50x25, 100x100, 100x1000, 200x1000 and 400x200, and of selection, all of 20 to 300 variables and 20 to 1000 samples"`
	Scales   []string `json:"scales,omitzero" jsonschema:"uniqueItems=true" jsonschema_description:"general: spreads of the scales of variables, as simulate --scales takes one; without it 0 and 0.5"`
	Graphs   int      `json:"graphs,omitzero" jsonschema:"minimum=0" jsonschema_description:"general: graphs of each family and size; 0 is the default, 12"`
	Models   []string `json:"models,omitzero" jsonschema:"uniqueItems=true" jsonschema_description:"general: built-in models and model files to compare, the first of which the text is about; without it general"`
	Experts  string   `json:"experts,omitzero" file:"write-folder" jsonschema_description:"general: folder of models to compare with, FAMILY.json for all sizes or FAMILY-d100-m100.json for one; what is missing is trained and kept there"`
	Without  []string `json:"without,omitzero" jsonschema:"uniqueItems=true" jsonschema_description:"general: what to leave out: family (the models of families, of which most of the time is training) or adapt (--adapt)"`
	// Out is the folder for NAME.parquet, NAME.svg, NAME.png and NAME.md, made
	// where it is missing. Default: results, docs/results for All, or
	// results-quick if quick.
	Out string `json:"out,omitzero" file:"write-folder" jsonschema_description:"folder for tables and figures (default results, docs/results with --all, results-quick with --quick)"`
	// Document is the file that All writes; it links to the figures in Out.
	// Default: docs/RESULTS.md, or RESULTS.md in Out if quick.
	Document string `json:"document,omitzero" file:"write" jsonschema_description:"document that --all writes (default docs/RESULTS.md, in the folder --out with --quick)"`
	// Engine does the linear algebra.
	Engine string `json:"engine,omitzero" jsonschema:"enum=auto,enum=openblas,enum=gonum,default=auto" jsonschema_description:"linear algebra; auto is openblas where this machine has it"`
}

// Validate reports the first field that is wrong, as a *job.Error.
func (o Options) Validate() error {
	switch {
	case o.All && o.Name != "":
		return job.Errorf("name", "both %q and all experiments are asked for; leave one out", o.Name)
	case !o.All && o.Name == "":
		return job.Errorf("name", "no experiment is named; choose from %s", strings.Join(Names(), ", "))
	case !o.All && !slices.Contains(Names(), o.Name):
		hint := job.Suggestion(o.Name, Names())
		if hint == "" {
			hint = "; choose from " + strings.Join(Names(), ", ")
		}
		return job.Errorf("name", "there is no experiment %q%s", o.Name, hint)
	case o.missing("network"):
		return job.Errorf("network", "%s needs a network whose licence does not let us pass it on; name the file, the sub-network of E. coli with 43 genes and 30 interactions of the paper (ecoli_sub_30.sif), or any other", o.Name)
	case o.missing("challenge"):
		return job.Errorf("challenge", "%s needs the files of the challenge, which we may not pass on; name the folder that has them", o.Name)
	case o.unread("network"):
		return job.Errorf("network", "%s reads none; leave this out", o.Name)
	case o.unread("challenge"):
		return job.Errorf("challenge", "%s reads none; leave this out", o.Name)
	case o.Table != "" && !o.All && o.Name != "missing":
		return job.Errorf("table", "only the experiment missing has this; leave it out")
	case o.Sets != "" && !o.All && o.Name != "selection":
		return job.Errorf("sets", "only the experiment selection has this; leave it out")
	case o.Root != "" && o.Sets == "":
		return job.Errorf("root", "there is no list of sets whose paths it is for; leave it out, or give sets")
	case o.Name != "general" && len(o.parts()) > 0 && !(o.Name == "selection" && slices.Equal(o.parts(), []string{"sizes"})):
		return job.Errorf(o.parts()[0], "only the experiment general has this; leave it out")
	case o.Document != "" && !o.All:
		return job.Errorf("document", "the document is written for all experiments; leave this out, or perform all")
	case o.Seed < 0:
		return job.Errorf("seed", "%d is negative; give a whole number from 1", o.Seed)
	}
	if _, err := o.part(); err != nil {
		return err
	}
	return job.CheckFields(&o, job.Facts{})
}

// parts are the keys of the fields that say what of the experiment general is performed, as
// far as they are given.
func (o Options) parts() []string {
	return slices.DeleteFunc(job.Given(&o), func(key string) bool {
		return !slices.Contains([]string{"families", "sizes", "scales", "graphs", "models", "experts", "without"}, key)
	})
}

// inputs are the keys of fields that name what experiments read.
func inputs() []string { return []string{"network", "challenge"} }

// input is the value of one of them.
func (o Options) input(key string) string {
	if key == "challenge" {
		return o.Challenge
	}
	return o.Network
}

// missing and unread say of the one experiment asked for that what it reads is not given,
// or that what is given it does not read.
func (o Options) missing(key string) bool {
	return !o.All && o.input(key) == "" && reads(o.Name, key)
}

func (o Options) unread(key string) bool {
	return !o.All && o.input(key) != "" && !reads(o.Name, key)
}

// reads says whether the experiment of a name reads what a key names.
func reads(name, key string) bool {
	return slices.ContainsFunc(All(), func(e Experiment) bool { return e.Name == name && e.Reads == key })
}

// Resolved is o with its defaults filled in.
func (o Options) Resolved() Options {
	job.Resolve(&o, job.Facts{})
	if o.Out == "" {
		switch {
		case o.Quick:
			o.Out = "results-quick"
		case o.All:
			o.Out = "docs/results"
		default:
			o.Out = "results"
		}
	}
	if o.Document == "" && o.All {
		o.Document = "docs/RESULTS.md"
		if o.Quick {
			o.Document = o.Out + "/RESULTS.md"
		}
	}
	return o
}

// command is the command line that repeats one experiment, or those of --all.
func (o Options) command(name string) string {
	c := "gladflow experiment " + name
	if o.Quick {
		c += " --quick"
	}
	if o.Seed != (Options{}).Resolved().Seed {
		c += fmt.Sprintf(" --seed %d", o.Seed)
	}
	for _, key := range inputs() {
		if path := o.input(key); path != "" && (o.All || reads(name, key)) {
			c += " --" + key + " " + filepath.Base(path)
		}
	}
	if o.Table != "" && (o.All || name == "missing") {
		c += " --table " + filepath.Base(o.Table)
	}
	if o.Sets != "" && (o.All || name == "selection") {
		c += " --sets " + filepath.Base(o.Sets)
		if o.Root != "" {
			c += " --root " + filepath.Base(o.Root)
		}
	}
	for _, list := range []struct {
		flag  string
		words []string
	}{{"families", o.Families}, {"sizes", o.Sizes}, {"scales", o.Scales}, {"models", baseNames(o.Models)}, {"without", o.Without}} {
		if len(list.words) > 0 {
			c += " --" + list.flag + " " + strings.Join(list.words, ",")
		}
	}
	if o.Graphs > 0 {
		c += fmt.Sprintf(" --graphs %d", o.Graphs)
	}
	if o.Experts != "" {
		c += " --experts " + filepath.Base(o.Experts)
	}
	return c
}

// baseNames are the last elements of paths.
func baseNames(paths []string) []string {
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}
