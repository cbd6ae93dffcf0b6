package benchmark

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
)

// Words that the names of files in a folder may be, or end in after a dot. Of two files
// with words of one role the word that stands first counts: gladflow simulate genes
// writes a network and, as a reference, its pairs with labels.
var (
	tableWords     = []string{"expression", "samples", "table", "data"}
	referenceWords = []string{"reference", "gold_standard", "gold", "known", "network"}
	regulatorWords = []string{"regulators", "transcription_factors", "tfs"}
)

// Roles of files.
const (
	roleTable      = "table"
	roleReference  = "reference"
	roleRegulators = "regulators"
)

// findSets finds the sets in a folder and in its sub-folders: NAME.EXT with
// NAME.reference.EXT beside it, as gladflow simulate writes them; or expression.EXT and
// reference.EXT, which are the set of the folder. The sets of a sub-folder are a group.
func findSets(path string) ([]Set, error) {
	sets, err := setsIn(path, "")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, job.FileError("sets", path, err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		more, err := setsIn(filepath.Join(path, e.Name()), e.Name())
		if err != nil {
			return nil, err
		}
		sets = append(sets, more...)
	}
	if len(sets) == 0 {
		return nil, job.Errorf("sets", "%s: no table with a reference is in the folder; call them NAME.csv and NAME.reference.csv, or put expression.csv and reference.csv into a folder for each set", path)
	}
	return sets, nil
}

// setsIn are those of one folder, in the order of their names.
func setsIn(path, group string) ([]Set, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, job.FileError("sets", path, err)
	}
	files := make(map[string]map[string]role) // by the name of the set and the role
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		name, what, rank, ok := roleOf(e.Name())
		if !ok {
			continue
		}
		if files[name] == nil {
			files[name] = make(map[string]role)
		}
		files[name][what] = files[name][what].with(e.Name(), rank)
	}
	var names []string
	for name, f := range files {
		if f[roleTable].files != nil && f[roleReference].files != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var sets []Set
	for _, name := range names {
		s := Set{Name: name, Group: group, found: true}
		for what, file := range map[string]*string{roleTable: &s.Table, roleReference: &s.Reference} {
			switch found := files[name][what].files; len(found) {
			case 0:
			case 1:
				*file = filepath.Join(path, found[0])
			default:
				return nil, job.Errorf("sets", "%s: %s are all the %s of one set; keep one of them", path, job.AllOf(found), what)
			}
		}
		switch {
		case name == "":
			s.Name = filepath.Base(path)
		case group != "":
			s.Name = group + "-" + name
		}
		sets = append(sets, s)
	}
	return sets, nil
}

// A role is the files of one role in a set, all of the word of a rank.
type role struct {
	rank  int
	files []string
}

// with is the role with another file, unless one of the two ranks behind the other.
func (r role) with(file string, rank int) role {
	switch {
	case r.files == nil || rank < r.rank:
		return role{rank, []string{file}}
	case rank > r.rank:
		return r
	}
	return role{rank, append(r.files, file)}
}

// roleOf tells the set and the role of a file by its name: "x.reference.csv.gz" is the
// reference of x. The rank is that of the word, 0 is the first. ok is false of files
// that have none, such as documents.
func roleOf(file string) (set, what string, rank int, ok bool) {
	stem, ok := withoutExtension(file)
	if !ok {
		return "", "", 0, false
	}
	set, word := "", strings.ToLower(stem)
	if i := strings.LastIndexByte(stem, '.'); i >= 0 {
		set, word = stem[:i], strings.ToLower(stem[i+1:])
	}
	for _, words := range []struct {
		what string
		list []string
	}{{roleReference, referenceWords}, {roleRegulators, regulatorWords}, {roleTable, tableWords}} {
		if rank := slices.Index(words.list, word); rank >= 0 {
			return set, words.what, rank, true
		}
	}
	return stem, roleTable, 0, true
}

// withoutExtension takes away that of a table or a network, and reports whether there
// is one.
func withoutExtension(file string) (string, bool) {
	stem := strings.TrimSuffix(file, ".gz")
	for _, e := range []string{".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".arrows", ".sif"} {
		if s, ok := strings.CutSuffix(stem, e); ok && s != "" {
			return s, true
		}
	}
	return "", false
}
