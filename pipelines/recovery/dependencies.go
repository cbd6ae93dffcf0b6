package recovery

import (
	"context"
	"fmt"

	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/solver/covariance"
	"github.com/gladflow/gladflow/solver/dense"
)

// dependencies are groups of three variables and more of which each is a linear combination
// of the others, and how many there are, as covariance.Dependencies has them. Of variables
// that repeat each other one is looked at. What was estimated around missing values was made
// a covariance matrix, and says nothing of this.
func dependencies(ctx context.Context, data *table.Data, repeats [][]int, engine dense.Engine) (groups [][]int, count int, err error) {
	if c := data.Completion; c != nil && (c.Distance > 0 || c.Iterations > 0) {
		return nil, 0, nil
	}
	d := len(data.Names)
	var skip []bool
	for _, g := range repeats {
		if skip == nil {
			skip = make([]bool, d)
		}
		for _, j := range g[1:] {
			skip[j] = true
		}
	}
	found, count, err := covariance.Dependencies(ctx, data.Problem.S, data.Problem.Samples, data.Shrinkage, skip, engine, mostGroups)
	for _, f := range found {
		groups = append(groups, f.Variables)
	}
	return groups, count, err
}

// dependenciesText is a sentence on dependencies; empty where there are none.
func dependenciesText(names []string, groups [][]int, count int) string {
	switch {
	case count == 0:
		return ""
	case count < 0:
		return "some variables are sums, differences or shares of others, so that their edges say how they were computed; leave out those that follow from the others"
	}
	return fmt.Sprintf("some variables are linear combinations of others, such as sums, differences or shares of a whole, so that their edges say how they were computed: %s; leave out one of a group, the one that was computed", groupsText(names, groups, count, ", "))
}

// warnOfSame names variables that repeat each other or follow from others. Where there are more
// variables than samples, the run may have no S yet and look for repeats later.
func (r *run) warnOfSame(ctx context.Context, data *table.Data) error {
	if data.Problem.S == nil {
		return nil
	}
	same := repeats(data.Problem.S, data.Shrinkage)
	r.warnOfRepeats(same)
	groups, count, err := dependencies(ctx, data, same, r.engine)
	if text := dependenciesText(data.Names, groups, count); text != "" {
		r.warn("%s", text)
	}
	return err
}
