package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gladflow/gladflow/pipelines/memory"
)

// memoryFlag is --max-memory: of commands that run a job, and of a service.
const memoryFlag = "max-memory"

// bindMemory adds the flag to a set, by which --memory is known too. Its value before is the
// default.
func bindMemory(f *pflag.FlagSet, limit *byteSize) {
	others := f.GetNormalizeFunc()
	f.SetNormalizeFunc(func(f *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "memory" {
			name = memoryFlag
		}
		return others(f, name)
	})
	f.Var(limit, memoryFlag, "memory that the process may take: a run that is estimated to need more is refused (default 80% of the machine's or of the container's limit; for one job no more than is free)")
	f.Lookup(memoryFlag).DefValue = ""
}

// defaultMemory is the value of the flag where none is given.
func defaultMemory() byteSize { return byteSize(memory.Default()) }

// freeMemory is the value for a command that runs one job.
func freeMemory() byteSize { return byteSize(memory.Available()) }

// checkMemory refuses a limit that is given and leaves nothing for runs.
func checkMemory(f *pflag.FlagSet, limit byteSize) error {
	if f.Changed(memoryFlag) && limit <= memory.Process {
		return fmt.Errorf("--%s: %v leaves nothing for runs, for the program itself takes %s; choose more", memoryFlag, &limit, memory.Size(memory.Process))
	}
	return nil
}

// limitHeap tells Go's garbage collector of the limit, unless GOMEMLIMIT does.
func limitHeap(limit int64) {
	if limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory.Heap(limit))
	}
}

// jobMemory is the flag of a command that runs one job.
type jobMemory struct{ limit byteSize }

func bindJobMemory(c *cobra.Command) *jobMemory {
	m := &jobMemory{freeMemory()}
	bindMemory(c.Flags(), &m.limit)
	// It fails for a flag that does not exist, and this one does.
	_ = c.RegisterFlagCompletionFunc(memoryFlag, cobra.NoFileCompletions)
	return m
}

// budget is what the job may take.
func (m *jobMemory) budget(c *cobra.Command) (*memory.Budget, error) {
	if err := checkMemory(c.Flags(), m.limit); err != nil {
		return nil, usage(c, "%v", err)
	}
	limitHeap(int64(m.limit))
	return memory.NewBudget(int64(m.limit)), nil
}

// noRoom says what a run needs for which there is no memory.
func noRoom(err error) (sentence string, ok bool) {
	var room *memory.Error
	if !errors.As(err, &room) {
		return "", false
	}
	return fmt.Sprintf("%v, or raise --%s", room, memoryFlag), true
}
