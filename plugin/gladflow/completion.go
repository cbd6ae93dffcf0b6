package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
)

// completion completes the value of a field's flag; nil leaves it to the
// shell, which knows files.
func completion(f job.Field) cobra.CompletionFunc {
	switch {
	case f.Choices != nil:
		return cobra.FixedCompletions(f.Choices, cobra.ShellCompDirectiveNoFileComp)
	case f.File == job.ReadModel:
		return cobra.FixedCompletions(f.Words, cobra.ShellCompDirectiveDefault)
	case f.File == job.ReadFolder, f.File == job.WriteFolder:
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case f.File != job.NoFile:
		return nil
	case f.Key == "solvers":
		return completeSolvers
	case f.Words != nil:
		return cobra.FixedCompletions(f.Words, cobra.ShellCompDirectiveNoFileComp)
	case f.Key == "device":
		return cobra.FixedCompletions([]string{job.DeviceAuto, job.DeviceCPU, job.DeviceCUDA, job.DeviceCUDA + ":"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	case f.Key == "edges":
		return cobra.FixedCompletions([]string{job.EdgesSupport, job.EdgesAll, "top:"}, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
	case f.Key == "id_column", f.Kind == job.MapField:
		return cobra.NoFileCompletions
	}
	return nil
}

// completeSolvers completes the last name of a list.
func completeSolvers(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	begin := typed[:strings.LastIndex(typed, ",")+1]
	chosen := strings.Split(begin, ",")
	var lists []string
	for _, s := range recovery.Solvers() {
		if !slices.Contains(chosen, s.Name) {
			lists = append(lists, begin+s.Name+"\t"+s.Title)
		}
	}
	return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
