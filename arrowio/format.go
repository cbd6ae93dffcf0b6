package arrowio

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
)

// format is how a table is stored.
type format int

const (
	unknownFormat format = iota
	parquetFormat
	arrowFormat  // IPC file
	streamFormat // IPC stream
	csvFormat
	tsvFormat
	textFormat // text whose delimiter is not known yet
	xlsxFormat
)

var formatNames = map[string]format{
	"parquet": parquetFormat,
	"arrow":   arrowFormat,
	"feather": arrowFormat,
	"arrows":  streamFormat,
	"csv":     csvFormat,
	"tsv":     tsvFormat,
	"xlsx":    xlsxFormat,
}

// formatList is for messages.
const formatList = "parquet, arrow (or feather), arrows, csv, tsv, xlsx"

func (f format) String() string {
	switch f {
	case parquetFormat:
		return "Parquet file"
	case arrowFormat:
		return "Arrow IPC file"
	case streamFormat:
		return "Arrow IPC stream"
	case csvFormat:
		return "CSV file"
	case tsvFormat:
		return "TSV file"
	case textFormat:
		return "text file"
	case xlsxFormat:
		return "Excel workbook"
	}
	return "file"
}

// delimiter is the preferred cell separator of a text format, 0 for none.
func (f format) delimiter() byte {
	switch f {
	case csvFormat:
		return ','
	case tsvFormat:
		return '\t'
	}
	return 0
}

// formatOf decides on the format: the one named by the caller, or else the
// one of the path's extension, or else the one that the first bytes show.
// Text may be gzip-compressed under any name.
func formatOf(s *input, path, named string) (format, error) {
	if named != "" {
		f, ok := formatNames[strings.ToLower(named)]
		if !ok {
			return 0, fault(s.name, "the format %q is unknown; use one of %s", named, formatList)
		}
		return f, nil
	}
	if f := formatOfExtension(pathOf(path)); f != unknownFormat {
		return f, nil
	}
	return sniff(s)
}

func formatOfExtension(path string) format {
	lower := strings.ToLower(path)
	inner := strings.TrimSuffix(lower, ".gz")
	f := formatNames[strings.TrimPrefix(filepath.Ext(inner), ".")]
	if inner != lower && f.delimiter() == 0 {
		return unknownFormat // only text is read through gzip; sniff will say so
	}
	return f
}

// Magic numbers of the formats.
var (
	parquetMagic  = []byte("PAR1")
	arrowMagic    = []byte("ARROW1")
	featherMagic  = []byte("FEA1") // version 1, before Arrow IPC
	streamMagic   = []byte{0xFF, 0xFF, 0xFF, 0xFF}
	gzipMagic     = []byte{0x1F, 0x8B}
	zipMagic      = []byte("PK\x03\x04") // of a workbook
	utf8Mark      = []byte{0xEF, 0xBB, 0xBF}
	utf16LowMark  = []byte{0xFF, 0xFE}
	utf16HighMark = []byte{0xFE, 0xFF}
)

// sniff tells the format by the first bytes. A gene may be called PAR1, so
// the byte after a printable magic number must not be one of a text.
func sniff(s *input) (format, error) {
	head, err := s.Peek(8)
	if err != nil && err != io.EOF {
		return 0, s.explain(err, "input")
	}
	binaryAfter := func(magic []byte) bool {
		return bytes.HasPrefix(head, magic) && len(head) > len(magic) &&
			head[len(magic)] < ' ' && !bytes.ContainsRune([]byte("\t\r\n"), rune(head[len(magic)]))
	}
	switch {
	case binaryAfter(parquetMagic):
		return parquetFormat, nil
	case binaryAfter(arrowMagic):
		return arrowFormat, nil
	case bytes.HasPrefix(head, streamMagic):
		return streamFormat, nil
	case bytes.HasPrefix(head, zipMagic):
		return xlsxFormat, nil
	}
	return textFormat, nil
}
