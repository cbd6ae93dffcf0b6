package runs

import (
	"github.com/apache/arrow/go/v15/arrow"
	arrowutil "github.com/apache/arrow/go/v15/arrow/util"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/report/page"
)

// keepTables is the recovery.Host's Solved: it keeps the tables of a solver until a
// caller takes them.
func (g *Registry) keepTables(r *Run, n recovery.Network) error {
	reserved := n.Reserved
	defer func() { g.memory.Release(reserved) }()
	found := make(Tables)
	var bytes int64
	for name, t := range n.Tables { // the protocol's names are recovery's
		record, err := arrowio.NewRecord(t.Columns, t.Metadata)
		if err != nil {
			return err
		}
		found[name] = record
		bytes += recordBytes(record)
	}
	reserved = 0 // it is reserve's
	if err := g.reserve(r, bytes, n.Reserved); err != nil {
		return err
	}
	err := r.addTables(n.Result.Name, found)
	if err != nil {
		g.unreserve(r, bytes)
	}
	return err
}

// keepPage keeps the page of a run that is about to end, if there is one and room for it.
// A run does not fail for want of that: who asks for the page is told.
func (g *Registry) keepPage(r *Run, shown *page.Page) {
	if shown == nil {
		return
	}
	bytes := shown.Memory()
	if g.reserve(r, bytes, 0) != nil {
		return
	}
	r.mu.Lock()
	ended := r.state.Ended()
	if !ended {
		r.page = shown
	}
	r.mu.Unlock()
	if ended {
		g.unreserve(r, bytes)
	}
}

// recordBytes is the memory of a table with the names of its columns and what else its
// schema says, which for many variables is not little.
func recordBytes(r arrow.Record) int64 {
	bytes := arrowutil.TotalRecordSize(r) + metadataBytes(r.Schema().Metadata())
	for _, f := range r.Schema().Fields() {
		bytes += int64(len(f.Name)) + metadataBytes(f.Metadata)
	}
	return bytes
}

func metadataBytes(m arrow.Metadata) int64 {
	var bytes int64
	for i, key := range m.Keys() {
		bytes += int64(len(key) + len(m.Values()[i]))
	}
	return bytes
}

// keepDocument counts what the document of a run that has ended has of every variable, and
// of how its solvers came to their estimates.
func (g *Registry) keepDocument(r *Run, result *job.Result) error {
	if result == nil || len(result.Variables) == 0 {
		return nil
	}
	const header = 16 // of a string
	bytes := int64(8 * len(result.StandardDeviations))
	for _, name := range result.Variables {
		bytes += header + int64(len(name))
	}
	for _, s := range result.Solvers {
		if c := s.Course; c != nil {
			bytes += 8 * int64(len(c.Iteration)+len(c.Objective)+len(c.Gap)+len(c.Distance))
		}
		if c := s.Curves; c != nil {
			bytes += 8 * int64(len(c.FPR)+len(c.TPR)+len(c.Recall)+len(c.Precision))
		}
	}
	return g.reserve(r, bytes, 0)
}
