package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines"
	"github.com/gladflow/gladflow/solver/glad"
)

// completion completes the value of a field's flag; nil leaves it to the
// shell, which knows files.
func completion(f pipelines.Field) cobra.CompletionFunc {
	switch {
	case f.Choices != nil:
		return cobra.FixedCompletions(f.Choices, cobra.ShellCompDirectiveNoFileComp)
	case f.Key == "solvers":
		return completeSolvers
	case f.Key == "model" || f.Key == "from":
		return cobra.FixedCompletions(glad.BuiltinNames(), cobra.ShellCompDirectiveDefault)
	case f.Key == "out" || f.Key == "data":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.Key == "penalty":
		return cobra.FixedCompletions([]string{pipelines.PenaltyEBIC}, cobra.ShellCompDirectiveNoFileComp)
	case f.Key == "shrinkage":
		return cobra.FixedCompletions([]string{pipelines.ShrinkageLedoitWolf}, cobra.ShellCompDirectiveNoFileComp)
	case f.Key == "edges":
		return cobra.FixedCompletions([]string{"support", "all", "top:"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	case f.Key == "id_column":
		return cobra.NoFileCompletions
	}
	return nil
}

// completeSolvers completes the last name of a list.
func completeSolvers(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	begin := typed[:strings.LastIndex(typed, ",")+1]
	chosen := strings.Split(begin, ",")
	var lists []string
	for _, s := range pipelines.Solvers() {
		if !slices.Contains(chosen, s.Name) {
			lists = append(lists, begin+s.Name+"\t"+s.Title)
		}
	}
	return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
