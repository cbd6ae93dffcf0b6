package arrowio

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/xuri/excelize/v2"

	"github.com/gladflow/gladflow/arrowio/batch"
)

// openWorkbook opens a sheet of an Excel workbook (.xlsx) as the text that it would be if
// it were saved as CSV, but with the values as they are stored, whatever their format on
// the screen. Lines are rows of the sheet.
//
// A workbook is unpacked into memory, no further than Limits.Batch.
func openWorkbook(s *input, sheet string, o TextOptions) (*textFile, error) {
	t := &textFile{src: s, what: xlsxFormat.String(), options: o}
	in, err := t.unpackWorkbook(sheet)
	if err == nil {
		t.in = in
		err = t.open(',')
	}
	if err != nil {
		return nil, s.explain(err, t.what)
	}
	return t, nil
}

// unpackWorkbook starts the reading of a sheet.
func (t *textFile) unpackWorkbook(sheet string) (*bufio.Reader, error) {
	s := t.src
	file, err := s.randomAccess()
	if err != nil {
		return nil, err
	}
	most := s.limits.Most()
	if s.limits.Table > 0 {
		most = min(most, s.limits.Table)
	}
	if err := s.counter.Hold(min(most, workbookGrowth*file.Size())); err != nil {
		return nil, err
	}
	var book *excelize.File
	err = batch.Guard(func() (err error) {
		book, err = excelize.OpenReader(file, excelize.Options{RawCellValue: true, UnzipSizeLimit: most, UnzipXMLSizeLimit: most})
		return err
	})
	if err != nil {
		return nil, t.notWorkbook(err, most)
	}
	s.closers = append(s.closers, book.Close)
	sheets := book.GetSheetList()
	switch {
	case sheet == "" && len(sheets) == 1:
		sheet = sheets[0]
	case sheet == "":
		return nil, fault(s.name, "the workbook has %d sheets: %s", len(sheets), listOf(sheets)).
			advise(Advice{Option: sheetOption, Value: sheets[0], With: "say which one to read, such as %s", Without: "save the one to read in a file of its own"})
	case !slices.Contains(sheets, sheet):
		return nil, fault(s.name, "there is no sheet %q; the sheets are %s", sheet, listOf(sheets))
	}
	rows, err := book.Rows(sheet)
	if err != nil {
		return nil, t.notWorkbook(err, most)
	}
	from, to := io.Pipe()
	s.closers = append(s.closers, rows.Close, from.Close) // last to first: the pipe, then what writes to it
	done := make(chan struct{})
	go func() {
		defer close(done)
		to.CloseWithError(batch.Guard(func() error { return writeRows(to, rows) }))
	}()
	s.closers = append(s.closers, func() error {
		from.CloseWithError(errClosed)
		<-done
		return nil
	})
	return bufio.NewReaderSize(counted{from, s}, readAhead), nil
}

// workbookGrowth is about what a byte of a workbook takes when it is unpacked.
const workbookGrowth = 12

const sheetOption = "sheet"

var errClosed = errors.New("the table is closed")

// notWorkbook explains an error of excelize.
func (t *textFile) notWorkbook(err error, most int64) error {
	switch {
	case errors.Is(err, excelize.ErrWorkbookFileFormat):
		return fault(t.src.name, "this is no Excel workbook of the form .xlsx; give the file the extension of its format (%s)", formatList)
	case errors.Is(err, excelize.ErrWorkbookPassword):
		return fault(t.src.name, "the workbook has a password; save it without one")
	case err.Error() == fmt.Sprintf("unzip size exceeds the %d bytes limit", most):
		return &batch.LimitError{Most: most, What: "the workbook"}
	}
	return err
}

// writeRows writes the rows of a sheet as CSV. Cells at the end of a row that are empty are
// not stored, so that all rows are as long as the header, or longer.
func writeRows(w io.Writer, rows *excelize.Rows) error {
	out := csv.NewWriter(w)
	width := 0
	for rows.Next() {
		cells, err := rows.Columns()
		if err != nil {
			return err
		}
		if len(cells) == 0 { // a blank row
			out.Flush()
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
			continue
		}
		if width == 0 {
			width = len(cells)
		}
		for len(cells) < width {
			cells = append(cells, "")
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return errors.Join(rows.Error(), out.Error())
}
