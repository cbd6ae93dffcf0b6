package dream5

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
)

// A network is what a folder has of one network.
type network struct {
	name string // 3, or size100_1
	// Paths; empty where there is no such file.
	expression, gold, regulators string
	// rank orders files that could be the expression: the whole data first.
	rank int
}

// A fact is what is known of a network of the challenges.
type fact struct {
	title          string
	samples, genes int
}

// facts are those of DREAM5 (Marbach et al., Nature Methods 9:796, 2012, table 1). Of
// DREAM4 the names say them.
func factsOf(name string) (fact, bool) {
	switch name {
	case "1":
		return fact{"in silico", 805, 1643}, true
	case "3":
		return fact{"E. coli", 805, 4511}, true
	case "4":
		return fact{"S. cerevisiae", 536, 5950}, true
	}
	var genes, number int
	if n, _ := fmt.Sscanf(name, "size%d_%d", &genes, &number); n == 2 {
		return fact{fmt.Sprintf("DREAM4, %d genes, multifactorial", genes), genes, genes}, true
	}
	return fact{}, false
}

// A pattern tells what a file is by its name, in lower case and without .gz. The first
// groups of it are the name of the network.
type pattern struct {
	name *regexp.Regexp
	note func(n *network, path string)
	// network makes the name of the network of the groups.
	network func(groups []string) string
}

// patterns are the names under which the challenges' files are found: as downloaded,
// and as others pass them on.
func patterns() []pattern {
	dream5 := func(g []string) string { return g[1] }
	dream4 := func(g []string) string { return "size" + g[1] + "_" + g[2] }
	expression := func(rank int) func(*network, string) {
		return func(n *network, path string) {
			if n.expression == "" || rank < n.rank {
				n.expression, n.rank = path, rank
			}
		}
	}
	gold := func(n *network, path string) { first(&n.gold, path) }
	of := func(text string, note func(*network, string), name func([]string) string) pattern {
		return pattern{regexp.MustCompile("^" + text + "$"), note, name}
	}
	return []pattern{
		of(`net(\d)_expression_data\.(?:tsv|txt)`, expression(0), dream5),
		of(`net(\d)_expression_\d+genes_\d+conditions\.tsv`, expression(1), dream5),
		of(`net(\d)_expression_data_small\.tsv`, expression(2), dream5),
		of(`net(\d)_transcription_factors\.(?:tsv|txt)`, func(n *network, path string) { first(&n.regulators, path) }, dream5),
		of(`dream5_networkinference_goldstandard_network(\d)(?: - .*)?\.(?:tsv|txt)`, gold, dream5),
		of(`net(\d)_gold_standard\.tsv`, gold, dream5),
		of(`(?:insilico_)?size(\d+)_(\d)_multifactorial\.tsv`, expression(0), dream4),
		of(`dream4_goldstandard_insilico_size(\d+)(?:_multifactorial)?_(\d)\.(?:tsv|txt)`, gold, dream4),
		of(`size(\d+)_(\d)(?:_multifactorial)?_gold\.tsv`, gold, dream4),
	}
}

func first(to *string, path string) {
	if *to == "" {
		*to = path
	}
}

// A folder is what was found.
type folder struct {
	networks []*network // in the order of their names, DREAM5 first
}

// Bounds of the search.
const (
	mostDepth = 6
	mostFiles = 100_000
)

// search looks through a folder and those in it.
func search(ctx context.Context, path string) (*folder, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, job.FileError("folder", path, err)
	} else if !info.IsDir() {
		return nil, job.Errorf("folder", "%s is no folder; name the one that the challenge's files are in", path)
	}
	found := make(map[string]*network)
	f := &folder{}
	known := patterns()
	files := 0
	root := path + string(filepath.Separator) // which follows a link
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		if files++; files > mostFiles {
			return job.Errorf("folder", "%s holds more than %d files; name the folder of the challenge", path, mostFiles)
		}
		if d.IsDir() {
			within, _ := filepath.Rel(root, at)
			if at != root && (strings.HasPrefix(d.Name(), ".") || strings.Count(within, string(filepath.Separator)) >= mostDepth) {
				return fs.SkipDir
			}
			return nil
		}
		name := strings.TrimSuffix(strings.ToLower(d.Name()), ".gz")
		for _, p := range known {
			groups := p.name.FindStringSubmatch(name)
			if groups == nil {
				continue
			}
			key := p.network(groups)
			if found[key] == nil {
				found[key] = &network{name: key}
			}
			p.note(found[key], at)
		}
		return nil
	})
	if err != nil {
		return nil, job.InterruptedOr(ctx, err)
	}
	for _, n := range found {
		f.networks = append(f.networks, n)
	}
	slices.SortFunc(f.networks, func(a, b *network) int {
		if d := strings.Count(a.name, "size") - strings.Count(b.name, "size"); d != 0 {
			return d
		}
		if len(a.name) != len(b.name) && strings.HasPrefix(a.name, "size") {
			return len(b.name) - len(a.name) // the larger first
		}
		return strings.Compare(a.name, b.name)
	})
	return f, nil
}

// choose returns the network of a name or, without one, network 3, or else the first
// that is whole.
func (f *folder) choose(path, name string) (*network, error) {
	var whole []string
	var chosen *network
	for _, n := range f.networks {
		if n.expression != "" && n.gold != "" {
			whole = append(whole, n.name)
			if chosen == nil || n.name == "3" {
				chosen = n
			}
		}
	}
	if name == "" {
		if chosen == nil {
			return nil, job.Errorf("folder", "%s: there is no network with its expression data and its gold standard, such as net3_expression_data.tsv and DREAM5_NetworkInference_GoldStandard_Network3.tsv, compressed by gzip or not", path)
		}
		return chosen, nil
	}
	for _, n := range f.networks {
		if n.name != name {
			continue
		}
		switch {
		case n.expression == "":
			return nil, job.Errorf("network", "%s: the expression data of network %s are not there", path, name)
		case n.gold == "":
			return nil, job.Errorf("network", "%s: the gold standard of network %s is not there", path, name)
		}
		return n, nil
	}
	if whole == nil {
		return nil, job.Errorf("network", "%s: there is no file of network %s", path, name)
	}
	return nil, job.Errorf("network", "%s: there is no file of network %s; there are %s", path, name, job.AllOf(whole))
}

// others are the names of the other networks that are whole.
func (f *folder) others(chosen *network) []string {
	var names []string
	for _, n := range f.networks {
		if n != chosen && n.expression != "" && n.gold != "" {
			names = append(names, n.name)
		}
	}
	return names
}
