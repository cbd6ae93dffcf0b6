package arrowio

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// A parquetReader reads a Parquet file a few rows at a time. It holds one
// page of every column, about 1 MB each in files with long row groups.
//
// It goes to pqarrow's column readers itself: pqarrow's own record reader
// works in goroutines, where a panic over corrupt bytes would end the process.
type parquetReader struct {
	src     *input
	mem     memory.Allocator
	sch     *arrow.Schema
	columns []*pqarrow.ColumnReader
	pages   *file.Reader
	checker *pageChecker
	arrow   *pqarrow.FileReader
	batch   int64
	total   int64 // rows that the footer promises
	done    int64
	cur     arrow.Record
}

const (
	parquetWhat = "Parquet file"
	// schemaKey is where Arrow's writers keep the Arrow schema.
	schemaKey = "ARROW:schema"
	// Below this many rows a batch of very many columns costs more in calls
	// than in bytes.
	parquetLeastBatch = 64
	parquetMostBatch  = 64 << 10
	parquetMemory     = 64 << 20
	// The read-ahead of every column: a tenth of a second of a slow disk
	// would be more, but thousands of columns share the memory.
	parquetReadAhead = 16 << 10
)

func openParquet(s *input, mem memory.Allocator) (recordReader, error) {
	head, err := s.Peek(len(parquetMagic))
	if err != nil && err != io.EOF {
		return nil, s.explain(err, parquetWhat)
	}
	if !bytes.Equal(head, parquetMagic) {
		return nil, fault(s.name, "this is not a Parquet file (it does not begin with PAR1)").advise(isAnother())
	}
	r := &parquetReader{src: s, mem: &metered{Allocator: mem, most: s.limits.Most()}}
	if err := batch.Guard(r.open); err != nil {
		r.close()
		return nil, s.explain(err, parquetWhat)
	}
	return r, nil
}

func (r *parquetReader) open() error {
	in, err := r.src.randomAccess()
	if err != nil {
		return err
	}
	if err := r.checkEnd(in); err != nil {
		return err
	}
	if err := checkFooter(in, in.Size(), &r.src.counter); err != nil {
		return err
	}
	// Pages come from Go's own allocator: the pool that Arrow keeps them in
	// gives them back whenever the garbage collector pleases.
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true
	props.BufferSize = parquetReadAhead
	pages, err := file.NewParquetReader(in, file.WithReadProps(props))
	if err != nil {
		return err
	}
	if text := pages.MetaData().KeyValueMetadata().FindValue(schemaKey); text != nil {
		if err := batch.VerifySchema(*text); err != nil {
			return err
		}
	}
	arrowFile, err := pqarrow.NewFileReader(pages, pqarrow.ArrowReadProperties{}, r.mem)
	if err != nil {
		return err
	}
	if r.sch, err = arrowFile.Schema(); err != nil {
		return err
	}
	if err := r.checkTypes(); err != nil {
		return err
	}
	for _, g := range pages.MetaData().RowGroups {
		r.total += g.GetNumRows()
	}
	r.batch = batchRows(r.sch)
	if pages.NumRowGroups() == 0 {
		return nil
	}
	if err := r.checkEncodings(pages.MetaData().RowGroup(0)); err != nil {
		return err
	}
	r.checker = &pageChecker{in: in, size: in.Size(), counter: &r.src.counter, ended: r.src.ctx.Err}
	if err := r.checker.check(pages, r.least()); err != nil {
		return err
	}
	columns := int64(r.sch.NumFields()) * parquetReadAhead
	if err := r.src.counter.Hold(r.checker.held() + columns + min(r.batch, r.total)*batch.Width(r.sch)); err != nil {
		return err
	}
	r.pages, r.arrow = pages, arrowFile
	r.src.sumBeside(in)
	return nil
}

// start begins the reading of all columns by Arrow.
func (r *parquetReader) start() error {
	if r.columns != nil || r.pages == nil {
		return nil
	}
	groups := make([]int, r.pages.NumRowGroups())
	for i := range groups {
		groups[i] = i
	}
	leaves := make(map[int]bool)
	for i := range r.pages.MetaData().Schema.NumColumns() {
		leaves[i] = true
	}
	for i := range r.sch.NumFields() {
		c, err := r.arrow.GetFieldReader(r.src.ctx, i, leaves, groups)
		if err != nil {
			return err
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

// least is what the rows that the footer promises take.
func (r *parquetReader) least() int64 {
	width := batch.Width(r.sch)
	if r.total < 0 || r.total > math.MaxInt64/width {
		return math.MaxInt64
	}
	return r.total * width
}

// checkEnd tells a truncated file from a corrupt one.
func (r *parquetReader) checkEnd(in *io.SectionReader) error {
	tail := make([]byte, len(parquetMagic))
	if in.Size() < int64(2*len(tail)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := in.ReadAt(tail, in.Size()-int64(len(tail))); err != nil {
		return err
	}
	if string(tail) == "PARE" {
		return fault(r.src.name, "the Parquet file is encrypted; write it without encryption")
	}
	if !bytes.Equal(tail, parquetMagic) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// checkTypes refuses nested columns before Arrow starts goroutines to read
// them.
func (r *parquetReader) checkTypes() error {
	if r.sch.NumFields() == 0 {
		return fault(r.src.name, "the file has no columns")
	}
	for _, f := range r.sch.Fields() {
		switch f.Type.ID() {
		case arrow.STRUCT, arrow.MAP, arrow.LIST, arrow.LARGE_LIST:
			return unusableType(r.src.name, f)
		case arrow.FIXED_SIZE_LIST:
			if elem := f.Type.(*arrow.FixedSizeListType).Elem(); arrow.IsNested(elem.ID()) {
				return unusableType(r.src.name, f)
			}
		}
	}
	return nil
}

// checkEncodings refuses what Arrow 15 cannot decode and would take for the
// end of the column.
func (r *parquetReader) checkEncodings(group *metadata.RowGroupMetaData) error {
	for i := range group.NumColumns() {
		c, err := group.ColumnChunk(i)
		if err != nil {
			return err
		}
		column := c.PathInSchema().String()
		if _, err := compress.GetCodec(c.Compression()); err != nil {
			return columnFault(r.src.name, column, "its compression %s cannot be read; write the file with snappy or zstd", c.Compression())
		}
		for _, e := range c.Encodings() {
			switch e {
			case parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLE, parquet.Encodings.RLEDict,
				parquet.Encodings.BitPacked, parquet.Encodings.DeltaBinaryPacked,
				parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray:
			default:
				return columnFault(r.src.name, column, "its encoding %s cannot be read; write the file with plain or dictionary encoding", e)
			}
		}
	}
	return nil
}

// batchRows is how many rows of a schema make a block, or more where the rows
// are wide, as long as that takes no memory to speak of.
func batchRows(sch *arrow.Schema) int64 {
	width := batch.Width(sch)
	most := min(batch.Rows(batch.Bytes, width), parquetMostBatch)
	least := min(parquetMemory/width, parquetLeastBatch)
	return max(most, least)
}

func (r *parquetReader) schema() *arrow.Schema { return r.sch }

func (r *parquetReader) line(int) int { return 0 }

// promised is the number of rows.
func (r *parquetReader) promised() int { return int(r.total) }

func (r *parquetReader) close() {
	r.release()
	for _, c := range r.columns {
		c.Release()
	}
	r.columns = nil
}

func (r *parquetReader) release() {
	if r.cur != nil {
		r.cur.Release()
		r.cur = nil
	}
}

func (r *parquetReader) read() (arrow.Record, error) {
	r.release()
	if r.done >= r.total || r.pages == nil {
		return nil, io.EOF
	}
	if err := batch.Guard(r.start); err != nil {
		return nil, r.src.explain(err, parquetWhat)
	}
	if err := batch.Guard(r.next); err != nil {
		return nil, r.src.explain(err, parquetWhat)
	}
	return r.cur, nil
}

func (r *parquetReader) next() error {
	if err := r.src.ctx.Err(); err != nil {
		return err
	}
	n := min(r.batch, r.total-r.done)
	columns := make([]arrow.Array, 0, len(r.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, c := range r.columns {
		if err := r.src.ctx.Err(); err != nil {
			return err
		}
		a, err := r.column(c, n)
		if err != nil {
			return fmt.Errorf("column %q: %w", r.sch.Field(i).Name, err)
		}
		columns = append(columns, a)
		if int64(a.Len()) != n {
			return fmt.Errorf("column %q has fewer than the %d rows that the footer promises", r.sch.Field(i).Name, r.total)
		}
	}
	r.done += n
	r.cur = array.NewRecord(r.sch, columns, n)
	return nil
}

// column reads the next n rows of a column as one array.
func (r *parquetReader) column(c *pqarrow.ColumnReader, n int64) (arrow.Array, error) {
	chunks, err := c.NextBatch(n)
	if err != nil {
		return nil, err
	}
	defer chunks.Release()
	if len(chunks.Chunks()) == 1 {
		a := chunks.Chunk(0)
		a.Retain()
		return a, nil
	}
	return array.Concatenate(chunks.Chunks(), r.mem)
}
