package table

import "github.com/gladflow/gladflow/solver/covariance"

// Memory is what Estimate takes at a time, in bytes, S among it, without what is
// kept of the samples, for which Files.Keep is called.
func (t *Table) Memory() int64 {
	if t.samples == nil && t.rows == nil {
		return covariance.MatrixMemory(len(t.Names))
	}
	return covariance.Memory(len(t.Names))
}

// keepBy makes c ask t before samples are kept. Where the number of samples is known,
// it asks now for all of them.
func (c *counted) keepBy(t *Table, s covariance.Settings) error {
	perSample := covariance.SampleMemory(len(t.Names), s)
	if c.gather {
		perSample += 18 * int64(len(t.Names)) // appending takes a quarter more, and copies
	}
	if t.keep == nil || perSample == 0 {
		return nil
	}
	const most = 1 << 60 // whatever a footer promises
	keep := func(samples int) error { return t.keep(min(int64(samples), most/perSample) * perSample) }
	if n, known := t.samples.Promised(); known && n > 0 {
		return keep(n)
	}
	c.keep = keep
	return nil
}
