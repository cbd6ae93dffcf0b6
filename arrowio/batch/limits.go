package batch

import (
	"errors"
	"fmt"
)

// Limits bound what a table takes once it is unpacked. Compressed data state how
// large they become, and a few hundred kilobytes can become gigabytes: what is
// stated is counted before anything is unpacked.
//
// The zero value is for files of the user's own machine: a table of any size, in
// batches that memory can hold. A service sets both.
type Limits struct {
	// Batch is the most bytes that one batch, one dictionary or one page of
	// Parquet unpacks to, and that all labels of the rows take. A batch that takes
	// no more memory than it has bytes is never refused. Default (0):
	// DefaultBatchLimit.
	Batch int64
	// Table is the most bytes that a whole table unpacks to, with what has come
	// of it. Default (0): none, since a table is read a batch at a time.
	Table int64
	// Reserve, if set, is called before a table takes so many bytes of memory more
	// than it has taken until then: for its largest batch, as it came and
	// unpacked, and for what is kept of it. An error of it is the table's, and
	// means that there is no such memory. Default (nil): it is not asked for.
	Reserve func(more int64) error
}

// DefaultBatchLimit is the default of Limits.Batch, 4 GiB.
const DefaultBatchLimit = 4 << 30

// Most is Limits.Batch or its default.
func (l Limits) Most() int64 {
	if l.Batch > 0 {
		return l.Batch
	}
	return DefaultBatchLimit
}

// ErrTooLarge is what the errors of tables wrap that go beyond Limits.
var ErrTooLarge = errors.New("too large")

// A LimitError says which limit a table goes beyond.
type LimitError struct {
	// Table says that it is Limits.Table and not Limits.Batch.
	Table bool
	// Most is the limit in bytes.
	Most int64
	// What is what goes beyond Limits.Batch, such as "a batch".
	What string
}

// Error is one sentence that says what to do. Who has set the limit may add how to
// raise it.
func (e *LimitError) Error() string {
	if e.Table {
		return fmt.Sprintf("the table takes more than %d bytes when it is unpacked, which is the limit; send a smaller one", e.Most)
	}
	return fmt.Sprintf("%s takes more than %d bytes when it is unpacked, which is the limit; write smaller batches", e.What, e.Most)
}

// Unwrap is ErrTooLarge.
func (e *LimitError) Unwrap() error { return ErrTooLarge }

// A Counter counts what a table unpacks to. It is not safe for concurrent use.
type Counter struct {
	Limits Limits
	total  int64

	// Of the memory that the table takes at a time: the largest part, what is
	// kept, and what has been reserved for both.
	largest, kept, reserved int64
}

// reserveStep is what is reserved at least: readers keep a line at a time.
const reserveStep = 1 << 20

// A ReserveError is an error of Limits.Reserve: readers return that as it is.
type ReserveError struct{ Err error }

// Error is that of Limits.Reserve.
func (e *ReserveError) Error() string { return e.Err.Error() }

// Unwrap is the error of Limits.Reserve.
func (e *ReserveError) Unwrap() error { return e.Err }

// Hold reserves memory for a part of the table that goes when the next comes. The
// error is a *ReserveError.
func (c *Counter) Hold(bytes int64) error {
	c.largest = max(c.largest, bytes)
	return c.reserve()
}

// Keep reserves memory for what stays of the table. The error is a *ReserveError.
func (c *Counter) Keep(more int64) error {
	c.kept += more
	return c.reserve()
}

func (c *Counter) reserve() error {
	missing := c.largest + c.kept - c.reserved
	if missing <= 0 || c.Limits.Reserve == nil {
		return nil
	}
	missing = max(missing, reserveStep)
	if err := c.Limits.Reserve(missing); err != nil {
		return &ReserveError{Err: err}
	}
	c.reserved += missing
	return nil
}

// Batch counts a part of the table that has come as so many bytes and unpacks to
// so many. The error is a *LimitError that calls the part what.
func (c *Counter) Batch(what string, came, unpacked int64) error {
	if most := c.Limits.Most(); unpacked > max(most, came) || unpacked < 0 {
		return &LimitError{Most: most, What: what}
	}
	return c.Table(max(came, unpacked))
}

// Part checks memory that a part of the table takes and that is no copy of the
// table's bytes. It does not count for the whole table.
func (c *Counter) Part(what string, bytes int64) error {
	if most := c.Limits.Most(); bytes > most || bytes < 0 {
		return &LimitError{Most: most, What: what}
	}
	return nil
}

// Table counts so many bytes of the table.
func (c *Counter) Table(bytes int64) error {
	if c.Limits.Table <= 0 {
		return nil
	}
	if bytes < 0 || bytes > c.Limits.Table-c.total {
		return &LimitError{Table: true, Most: c.Limits.Table}
	}
	c.total += bytes
	return nil
}

// Expect is Table without counting the bytes: for those that have not come yet.
func (c *Counter) Expect(bytes int64) error {
	after := *c
	return after.Table(bytes)
}
