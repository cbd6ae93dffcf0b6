package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A pageChecker walks through the pages of a Parquet file by their headers, before
// Arrow reads them: Arrow makes room for whatever a header states, and unpacks
// whatever comes.
type pageChecker struct {
	in      io.ReaderAt
	size    int64
	counter *batch.Counter
	ended   func() error // the error of the context
	buf     []byte
	largest []int64 // the largest page of every column, as it comes and unpacked
	floats  []bool  // whether a floatColumn can read all pages of every column
}

// check checks every page, and counts what they unpack to. least is what the rows
// that the footer promises take.
func (p *pageChecker) check(pages *file.Reader, least int64) error {
	var sum int64
	p.largest = make([]int64, pages.MetaData().Schema.NumColumns())
	p.floats = slices.Repeat([]bool{true}, len(p.largest))
	old := pages.WriterVersion().LessThan(metadata.Parquet816FixedVersion)
	for g := range pages.NumRowGroups() {
		group := pages.MetaData().RowGroup(g)
		for i := range group.NumColumns() {
			c, err := group.ColumnChunk(i)
			if err != nil {
				return err
			}
			column := pages.MetaData().Schema.Column(i)
			levels := 0
			if column.MaxDefinitionLevel() > 0 {
				levels++
			}
			if column.MaxRepetitionLevel() > 0 {
				levels++
			}
			n, largest, err := p.chunk(c, levels, old, &p.floats[i])
			if err != nil {
				return fmt.Errorf("column %q: %w", c.PathInSchema(), err)
			}
			sum += n
			p.largest[i] = max(p.largest[i], largest)
		}
	}
	return p.counter.Table(max(sum, least))
}

// held is what reading takes at a time besides batches: a page of every column.
func (p *pageChecker) held() (sum int64) {
	for _, n := range p.largest {
		sum += n
	}
	return sum
}

// chunk checks the pages of a column of a row group, where Arrow would read them,
// and returns what they unpack to, and the largest of them as it comes and unpacked.
// levels is how many lists of levels pages have.
// It clears floats where a floatColumn cannot read a page.
func (p *pageChecker) chunk(c *metadata.ColumnChunkMetaData, levels int, old bool, floats *bool) (sum, largest int64, err error) {
	at := c.DataPageOffset()
	if d := c.DictionaryPageOffset(); c.HasDictionaryPage() && d > 0 && d < at {
		at = d
	}
	length := c.TotalCompressedSize()
	if at < 0 || length < 0 || at > p.size || length > p.size-at {
		return 0, 0, io.ErrUnexpectedEOF
	}
	end := at + length
	if old {
		end = p.size // Arrow reads a little more of files by an old writer
	}
	for seen := int64(0); seen < c.NumValues() && at < end; {
		if err := p.ended(); err != nil {
			return 0, 0, err
		}
		h, size, err := p.header(at, end)
		if err != nil {
			return 0, 0, err
		}
		at += int64(size)
		*floats = *floats && h.readsFloats() && !old
		if h.packed > end-at {
			return 0, 0, io.ErrUnexpectedEOF
		}
		n, err := p.page(h, at, c.Compression())
		if err != nil {
			return 0, 0, err
		}
		if h.kind != dictionaryPage && isDelta(h.encoding) {
			more, err := p.deltas(h, at, c.Compression(), levels)
			if err != nil {
				return 0, 0, err
			}
			n += more
		}
		if err := p.counter.Part("a page", n); err != nil {
			return 0, 0, err
		}
		sum += n
		largest = max(largest, h.packed+n)
		at += h.packed
		if h.kind == dataPage || h.kind == dataPageV2 {
			seen += h.values
		}
	}
	return sum, largest, nil
}

// header reads the page header at a position.
func (p *pageChecker) header(at, end int64) (pageHeader, int, error) {
	const first, most = 256, 4 << 20 // as large as Arrow takes
	for n := int64(first); ; n *= 16 {
		n = min(n, end-at, most)
		if int64(cap(p.buf)) < n {
			p.buf = make([]byte, n)
		}
		b := p.buf[:n]
		if _, err := p.in.ReadAt(b, at); err != nil && err != io.EOF {
			return pageHeader{}, 0, err
		}
		h, size, err := readPageHeader(b)
		switch {
		case err != errShort:
			return h, size, err
		case n == end-at:
			return h, 0, io.ErrUnexpectedEOF
		case n == most:
			return h, 0, errHeader
		}
	}
}

// page is what a page whose bytes begin at a position takes when it is read.
func (p *pageChecker) page(h pageHeader, at int64, codec compress.Compression) (int64, error) {
	plain := codec == compress.Codecs.Uncompressed || h.kind == dataPageV2 && h.stored
	lie := fmt.Errorf("a page of %d bytes states that it unpacks to %d", h.packed, h.unpacked)
	if h.unpacked > mostOfPage(codec, plain, h.packed) {
		return 0, lie
	}
	takes := h.unpacked
	if h.kind == dictionaryPage && h.values > h.unpacked {
		return 0, fmt.Errorf("a dictionary of %d bytes states that it holds %d values", h.unpacked, h.values)
	}
	if plain || h.packed == 0 {
		return takes, nil
	}
	if h.kind == dataPageV2 {
		if h.levels > min(h.packed, h.unpacked) {
			return 0, errHeader
		}
		at += h.levels
		h.packed -= h.levels
		h.unpacked -= h.levels
	}
	switch codec {
	case compress.Codecs.Snappy:
		stated, err := p.snappy(at, h.packed)
		if err != nil || stated > h.unpacked {
			return 0, errors.Join(lie, err)
		}
	case compress.Codecs.Zstd:
		z := zstdFrames{in: p.in, at: at, end: at + h.packed}
		for z.at < z.end {
			if err := p.ended(); err != nil {
				return 0, err
			}
			if err := z.frame(); err != nil {
				return 0, err
			}
		}
		if z.stated > h.unpacked {
			return 0, lie
		}
		takes = max(takes, z.most)
	}
	return takes, nil
}

// snappy is the length that a block of n bytes at a position states.
func (p *pageChecker) snappy(at, n int64) (int64, error) {
	var b [binary.MaxVarintLen32]byte
	got := b[:min(n, int64(len(b)))]
	if _, err := p.in.ReadAt(got, at); err != nil && err != io.EOF {
		return 0, err
	}
	stated, k := binary.Uvarint(got)
	if k <= 0 || stated > 1<<32 {
		return 0, errHeader
	}
	return int64(stated), nil
}

// mostOfPage is the most that n bytes of a page can unpack to.
func mostOfPage(codec compress.Compression, plain bool, n int64) int64 {
	switch {
	case plain:
		return n
	case codec == compress.Codecs.Snappy:
		return 22*n + 64 // a copy of three bytes makes 64
	case codec == compress.Codecs.Gzip:
		return 1032*n + 64 // RFC 1951: 258 bytes of two bits
	case codec == compress.Codecs.Zstd:
		return (n/4 + 1) << 17
	}
	return (n + 1) << 24 // Brotli, RFC 7932: the longest copy of a few bytes
}

// A metered allocator panics when what it has given out goes beyond a limit: a
// column of labels repeats a long one for every row. It is for readers under
// batch.Guard, of one goroutine.
type metered struct {
	memory.Allocator
	most, live int64
}

func (m *metered) take(n int64) {
	if m.live += n; n > 0 && m.live > m.most {
		m.live -= n
		panic(&batch.LimitError{Most: m.most, What: "a batch of rows"})
	}
}

// Allocate implements memory.Allocator.
func (m *metered) Allocate(size int) []byte {
	m.take(int64(size))
	return m.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (m *metered) Reallocate(size int, b []byte) []byte {
	m.take(int64(size) - int64(len(b)))
	return m.Allocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (m *metered) Free(b []byte) {
	m.live -= int64(len(b))
	m.Allocator.Free(b)
}
