package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variableWords are what the column with the labels of the rows is called where these are
// variables.
func variableWords() []string {
	return []string{
		"gene", "genes", "geneid", "genename", "genesymbol", "symbol", "hgnc", "ensembl", "entrez", "probe", "probes", "probeid", "probeset", "probesetid", "idref", "orf", "locus", "locustag",
		"transcript", "transcriptid", "feature", "features", "featureid", "protein", "proteins", "proteinid", "otu", "otuid", "asv", "taxon", "taxa", "species", "metabolite", "metabolites",
		"variable", "variables", "ticker", "symbols",
	}
}

// sampleName is what samples are often called.
var sampleName = regexp.MustCompile(`(?i)^(sample|samp|subject|subj|patient|donor|gsm|replicate|rep)[ _.-]?[0-9]+$`)

// Across says in a sentence why the rows of a table that were taken for samples may be its
// variables: by what the column of their labels is called, and by the names of the columns.
// It is empty where nothing says so.
func Across(s Source, names []string) string {
	if s.Orientation == "columns" || !s.holdsSamples() || s.NoHeader {
		return ""
	}
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _.-", r) {
			return -1
		}
		return r
	}, strings.ToLower(s.IDColumn))
	if letters != "" && slices.Contains(variableWords(), letters) {
		return fmt.Sprintf("the labels of the rows stand in column %s, as if rows were variables and columns samples; if so, give the orientation columns", strconv.Quote(s.IDColumn))
	}
	of := 0
	for _, name := range names {
		if sampleName.MatchString(strings.TrimSpace(name)) {
			of++
		}
	}
	const least, nearlyAll = 5, 0.9
	if of >= least && float64(of) >= nearlyAll*float64(len(names)) {
		return fmt.Sprintf("the columns are called like samples (%s), as if rows were variables; if so, give the orientation columns", strconv.Quote(names[slices.IndexFunc(names, func(n string) bool { return sampleName.MatchString(strings.TrimSpace(n)) })]))
	}
	return ""
}
