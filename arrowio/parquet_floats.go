package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// A floatColumn reads a column of float64 or float32 of a Parquet file without Arrow in
// between, which made a new array of every column of every batch, and kept three copies of
// a dictionary. It takes a page of the column and its dictionary at a time.
//
// Its pages have been walked through by a pageChecker.
type floatColumn struct {
	from     *floatPages
	name     string
	size     int // bytes of a value
	optional bool
	chunks   []floatChunk

	// Of the chunk at hand.
	at, end int64
	values  int64 // in pages to come
	codec   compress.Compression

	dictionary []byte // values one after the other
	page       []byte // what is unpacked of the page at hand
	plain      []byte // values left of it
	indices    hybrid // or their indices in the dictionary
	coded      bool
	levels     hybrid // 0 for a null
	left       int    // values and nulls left of the page
}

type floatChunk struct {
	at, end, values int64
	codec           compress.Compression
}

// floatPages is what the columns of a file share.
type floatPages struct {
	checker *pageChecker
	packed  []byte
	spare   []byte // a page of a column that was read to its end, for the next one
}

var errFloats = errors.New("a page of it holds less than it states")

// Encodings of pages that a floatColumn reads.
const (
	plainEncoding        = 0
	plainDictionary      = 2
	runLengthsDictionary = 8
)

// readsFloats says that a floatColumn can read the page.
func (h pageHeader) readsFloats() bool {
	switch {
	case h.kind == dictionaryPage:
		return h.encoding == plainEncoding || h.encoding == plainDictionary
	case h.kind == dataPage && h.levelsPacked:
		return false
	}
	return h.encoding == plainEncoding || h.encoding == plainDictionary || h.encoding == runLengthsDictionary
}

// floats are readers of the columns at these positions, or nil if one of them is none that
// they read.
func (r *parquetReader) floats(positions []int) []*floatColumn {
	if r.pages == nil || r.total == 0 {
		return nil
	}
	sch := r.pages.MetaData().Schema
	if sch.NumColumns() != r.sch.NumFields() {
		return nil
	}
	shared := &floatPages{checker: r.checker}
	var columns []*floatColumn
	for _, i := range positions {
		c := sch.Column(i)
		f := &floatColumn{from: shared, name: c.Name(), size: 8, optional: c.MaxDefinitionLevel() == 1}
		switch c.PhysicalType() {
		case parquet.Types.Double:
		case parquet.Types.Float:
			f.size = 4
		default:
			return nil
		}
		if c.MaxDefinitionLevel() > 1 || c.MaxRepetitionLevel() > 0 || !r.checker.floats[i] || !isNumber(r.sch.Field(i).Type) {
			return nil
		}
		for g := range r.pages.NumRowGroups() {
			chunk, ok := floatChunkOf(r.pages, g, i)
			if !ok {
				return nil
			}
			f.chunks = append(f.chunks, chunk)
		}
		columns = append(columns, f)
	}
	return columns
}

func floatChunkOf(pages *file.Reader, group, column int) (floatChunk, bool) {
	c, err := pages.MetaData().RowGroup(group).ColumnChunk(column)
	if err != nil {
		return floatChunk{}, false
	}
	at := c.DataPageOffset()
	if d := c.DictionaryPageOffset(); c.HasDictionaryPage() && d > 0 && d < at {
		at = d
	}
	switch c.Compression() {
	case compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip:
	default:
		return floatChunk{}, false
	}
	return floatChunk{at, at + c.TotalCompressedSize(), c.NumValues(), c.Compression()}, true
}

// read writes the next n values to dst[0], dst[stride], …; a null is NaN. It returns the
// first one that is null, NaN or infinite, −1 if there is none, and whether it is null.
func (c *floatColumn) read(dst []float64, stride, n int) (bad int, null bool, err error) {
	bad = -1
	for done := 0; done < n; {
		if c.left == 0 {
			if err := c.next(); err != nil {
				return 0, false, err
			}
			continue
		}
		// A run of values, or of nulls.
		run, there := min(n-done, c.left), true
		if c.optional {
			var level uint32
			if level, run, err = c.levels.run(run); err != nil {
				return 0, false, err
			}
			there = level == 1
		}
		to := dst[done*stride:]
		first := -1
		switch {
		case !there:
			for i := range run {
				to[i*stride] = math.NaN()
			}
			first = 0
		case c.coded:
			first, err = c.decode(to, stride, run)
		default:
			first, err = c.copy(to, stride, run)
		}
		if err != nil {
			return 0, false, err
		}
		if first >= 0 && bad < 0 {
			bad, null = done+first, !there
		}
		done += run
		c.left -= run
	}
	if c.left == 0 && c.values == 0 && len(c.chunks) == 0 && cap(c.page) > cap(c.from.spare) {
		c.from.spare, c.page, c.plain = c.page, nil, nil
	}
	return bad, null, nil
}

// copy takes values as they are.
func (c *floatColumn) copy(dst []float64, stride, n int) (bad int, err error) {
	if n*c.size > len(c.plain) {
		return 0, errFloats
	}
	bad = -1
	from := c.plain[:n*c.size]
	c.plain = c.plain[n*c.size:]
	for i := range n {
		var v float64
		if c.size == 8 {
			v = math.Float64frombits(binary.LittleEndian.Uint64(from[8*i:]))
		} else {
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(from[4*i:])))
		}
		if v-v != 0 && bad < 0 {
			bad = i
		}
		dst[i*stride] = v
	}
	return bad, nil
}

// decode takes values from the dictionary.
func (c *floatColumn) decode(dst []float64, stride, n int) (bad int, err error) {
	bad = -1
	for done := 0; done < n; {
		var some [256]uint32
		indices := some[:min(n-done, len(some))]
		if err := c.indices.decode(indices); err != nil {
			return 0, err
		}
		for i, k := range indices {
			at := int(k) * c.size
			if at+c.size > len(c.dictionary) {
				return 0, errFloats
			}
			var v float64
			if c.size == 8 {
				v = math.Float64frombits(binary.LittleEndian.Uint64(c.dictionary[at:]))
			} else {
				v = float64(math.Float32frombits(binary.LittleEndian.Uint32(c.dictionary[at:])))
			}
			if v-v != 0 && bad < 0 {
				bad = done + i
			}
			dst[(done+i)*stride] = v
		}
		done += len(indices)
	}
	return bad, nil
}

// next reads the next page.
func (c *floatColumn) next() error {
	if c.values == 0 {
		if len(c.chunks) == 0 {
			return errFloats
		}
		k := c.chunks[0]
		c.chunks = c.chunks[1:]
		c.at, c.end, c.values, c.codec = k.at, min(k.end, c.from.checker.size), k.values, k.codec
		c.dictionary = c.dictionary[:0]
		return nil
	}
	if c.at >= c.end {
		return errFloats
	}
	h, size, err := c.from.checker.header(c.at, c.end)
	if err != nil {
		return err
	}
	c.at += int64(size)
	if h.packed > c.end-c.at {
		return io.ErrUnexpectedEOF
	}
	into := &c.page
	if h.kind == dictionaryPage {
		into = &c.dictionary
	}
	if err := c.unpack(into, h); err != nil {
		return err
	}
	c.at += h.packed
	if h.kind == dictionaryPage {
		return nil
	}
	c.values -= h.values
	c.left = int(h.values)
	return c.begin(h)
}

// unpack reads the contents of a page.
func (c *floatColumn) unpack(into *[]byte, h pageHeader) error {
	size := int(h.unpacked)
	if *into == nil {
		*into, c.from.spare = c.from.spare, nil
	}
	if cap(*into) < size {
		*into = make([]byte, size)
	}
	to := (*into)[:size]
	*into = to
	whole := c.codec == compress.Codecs.Uncompressed || h.kind == dataPageV2 && h.stored
	if whole {
		if h.packed != h.unpacked {
			return errFloats
		}
		_, err := c.from.checker.in.ReadAt(to, c.at)
		return ended(err)
	}
	levels := int64(0)
	if h.kind == dataPageV2 {
		if levels = h.levels; levels > min(h.packed, h.unpacked) {
			return errHeader
		}
		if _, err := c.from.checker.in.ReadAt(to[:levels], c.at); ended(err) != nil {
			return err
		}
	}
	n := h.packed - levels
	if int64(cap(c.from.packed)) < n {
		c.from.packed = make([]byte, n+n/4)
	}
	packed := c.from.packed[:n]
	if _, err := c.from.checker.in.ReadAt(packed, c.at+levels); ended(err) != nil {
		return err
	}
	to = to[levels:]
	if len(to) == 0 {
		return nil
	}
	codec, err := compress.GetCodec(c.codec)
	if err != nil {
		return err
	}
	got := codec.Decode(to, packed)
	if len(got) != len(to) {
		return errFloats
	}
	if &got[0] != &to[0] {
		copy(to, got)
	}
	return nil
}

// ended is err, but for the end of a file with the last byte.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// begin finds the levels and the values of the page.
func (c *floatColumn) begin(h pageHeader) error {
	b := c.page
	if c.optional {
		n := int(h.levels)
		if h.kind == dataPage {
			if len(b) < 4 {
				return errFloats
			}
			n = int(binary.LittleEndian.Uint32(b))
			b = b[4:]
		}
		if n < 0 || n > len(b) {
			return errFloats
		}
		c.levels = hybrid{b: b[:n], width: 1, mask: 1}
		b = b[n:]
	} else if h.kind == dataPageV2 {
		if int(h.levels) > len(b) {
			return errFloats
		}
		b = b[h.levels:]
	}
	c.plain, c.coded = b, h.encoding != plainEncoding
	if !c.coded {
		return nil
	}
	if len(b) == 0 {
		c.indices = hybrid{}
		return nil
	}
	width := int(b[0])
	if width > 32 {
		return fmt.Errorf("a page of it has indices of %d bits", width)
	}
	c.indices = hybrid{b: b[1:], width: width, mask: 1<<width - 1}
	return nil
}
