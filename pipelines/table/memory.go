package table

import "github.com/gladflow/gladflow/solver/covariance"

// Memory is what Estimate takes at a time, in bytes, S among it, without what is
// kept of the samples, for which Files.Keep is called.
func (t *Table) Memory() int64 {
	if t.samples == nil && t.rows == nil {
		return covariance.MatrixMemory(len(t.Names))
	}
	if t.KeepColumns {
		once, _ := covariance.ColumnsMemory(len(t.Names), covariance.Settings{})
		return once
	}
	if t.hasMissing() {
		return covariance.IncompleteMemory(len(t.Names), len(t.rows)/len(t.Names))
	}
	return covariance.Memory(len(t.Names))
}

// sampleMemory is what is kept of every sample, in bytes.
func (t *Table) sampleMemory(s covariance.Settings) int64 {
	if t.KeepColumns {
		_, perSample := covariance.ColumnsMemory(len(t.Names), s)
		return perSample
	}
	return covariance.SampleMemory(len(t.Names), s)
}

// keepBy makes c ask t before samples are kept. Where the number of samples is known,
// it asks now for all of them.
func (c *counted) keepBy(t *Table, s covariance.Settings) error {
	perSample := t.sampleMemory(s)
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
	if c.keep = keep; t.KeepColumns {
		c.keep = t.keepColumns(keep)
	}
	return nil
}

// keepColumns is keep for samples of which there may be more than variables: then S is formed,
// and no more of them are kept.
func (t *Table) keepColumns(keep func(samples int) error) func(samples int) error {
	d, total := len(t.Names), 0
	return func(samples int) error {
		before := total
		total += samples
		if before > d {
			return nil
		}
		if err := keep(min(samples, d-before)); err != nil || total <= d {
			return err
		}
		return t.keep(covariance.Memory(d))
	}
}
