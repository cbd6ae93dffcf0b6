package attack

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// zipped is head and then so many times text, under gzip.
func zipped(head, text string, times int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, head)
	for range times / 1000 {
		io.WriteString(z, strings.Repeat(text, 1000))
	}
	z.Close()
	return b.Bytes()
}

func parquetFile(t *testing.T, table arrow.Record, codec compress.Compression, dictionary bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := pqarrow.NewFileWriter(table.Schema(), &b, parquet.NewWriterProperties(parquet.WithCompression(codec),
		parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageSize(1<<30), parquet.WithMaxRowGroupLength(1<<30)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(table)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func arrowFile(t *testing.T, w io.Writer, table arrow.Record, options ...ipc.Option) {
	t.Helper()
	writer := ipc.NewWriter(w, append(options, ipc.WithSchema(table.Schema()))...)
	if err := writer.Write(table); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
}

// lyingFooter is a Parquet file of a few bytes whose footer states very many row
// groups, or children of its only column.
func lyingFooter(children bool) []byte {
	number := func(field byte, v int64) []byte { return binary.AppendVarint([]byte{0x05, field << 1}, v) } // i32
	footer := slices.Concat(number(1, 2), []byte{0x09, 2 << 1, 0xFC, 2})                                   // a schema of two
	elements := int64(1)
	if children {
		elements = 1<<31 - 1
	}
	footer = slices.Concat(footer, []byte{0x08, 4 << 1, 1, 'g'}, number(5, elements), []byte{0})
	footer = slices.Concat(footer, number(1, 5), number(3, 0), []byte{0x08, 4 << 1, 1, 'a', 0})
	footer = append(footer, 0x09, 4<<1, 0xFC)
	footer = append(binary.AppendUvarint(footer, 100_000_000), binary.AppendVarint([]byte{0x06, 3 << 1}, 3)...)
	b := append(append([]byte("PAR1"), footer...), 0)
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer)+1)), "PAR1"...)
}

// bombFiles are small files that become large, or that state that they do.
func bombFiles(t *testing.T) map[string]func() []byte {
	stream := func(table arrow.Record, options ...ipc.Option) []byte {
		var b bytes.Buffer
		arrowFile(t, &b, table, options...)
		return b.Bytes()
	}
	plain := arrowiotest.Constant(times(1<<18, 1<<21), 40) // 80 MiB, or 640
	pages := arrowiotest.Constant(1<<23, 1)                // 64 MiB, one page
	lists := arrowiotest.ConstantLists(96, 1<<18)
	return map[string]func() []byte{
		"zstd.arrows":             func() []byte { return stream(plain, ipc.WithZstd()) },
		"lz4.arrows":              func() []byte { return stream(plain, ipc.WithLZ4()) },
		"lists.arrows":            func() []byte { return stream(lists, ipc.WithZstd()) },
		"dictionary.arrows":       func() []byte { return stream(arrowiotest.ConstantDictionary(128<<20), ipc.WithZstd()) },
		"zstd.parquet":            func() []byte { return parquetFile(t, pages, compress.Codecs.Zstd, false) },
		"snappy.parquet":          func() []byte { return parquetFile(t, pages, compress.Codecs.Snappy, false) },
		"gzip.parquet":            func() []byte { return parquetFile(t, pages, compress.Codecs.Gzip, false) },
		"brotli.parquet":          func() []byte { return parquetFile(t, pages, compress.Codecs.Brotli, false) },
		"run.parquet":             func() []byte { return parquetFile(t, arrowiotest.Constant(1<<25, 4), compress.Codecs.Zstd, true) }, // 1 GiB in a run of an index
		"row groups.parquet":      func() []byte { return lyingFooter(false) },
		"children.parquet":        func() []byte { return lyingFooter(true) },
		"rows.csv.gz":             func() []byte { return zipped("a,b\n", "1,2\n", 64<<20) },
		"header.csv.gz":           func() []byte { return zipped("", "a", 256<<20) },
		"cells.csv.gz":            func() []byte { return zipped("a", ",b", 64<<20) },
		"quotes.csv.gz":           func() []byte { return zipped("a,b\n1,\"", "\n", 256<<20) },
		"blank.tsv.gz":            func() []byte { return zipped("", "\n", 512<<20) },
		"doubled quotes.csv.gz":   func() []byte { return zipped("a,b\n1,\"", `""`, 128<<20) },
		"many columns.csv.gz":     func() []byte { return zipped("", "a,", 1<<20) },
		"a label of all.csv.gz":   func() []byte { return zipped("id,a,b\n", strings.Repeat("x", 1<<10)+",1,2\n", 256<<10) },
		"plain long line.csv":     func() []byte { return bytes.Repeat([]byte("1,"), 40<<20) },
		"spaces.csv.gz":           func() []byte { return zipped("a,b\n1,", " ", 256<<20) },
		"carriage returns.csv.gz": func() []byte { return zipped("a,b\n1,2", "\r", 256<<20) },
	}
}

// A service that reads files refuses every bomb, in words, without the memory; so
// does the command line, whose limits are larger, or reads it within them.
func TestBombFiles(t *testing.T) {
	onLinux(t)
	const most = 768 << 20
	files := bombFiles(t)
	if !whole() { // the quick ones of each format
		maps.DeleteFunc(files, func(name string, _ func() []byte) bool {
			return !slices.Contains([]string{"zstd.arrows", "dictionary.arrows", "zstd.parquet", "children.parquet", "quotes.csv.gz", "header.csv.gz"}, name)
		})
	}
	dir := t.TempDir()
	upload := fmt.Sprint(times(16, 64), "MiB")
	s := serve(t, "--files", dir, "--max-message-size", "4MiB", "--max-upload-size", upload, "--max-variables", "2000")
	s.lives(t, "its start", most)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path, data := filepath.Join(dir, name), files[name]()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		job := map[string]any{"input": path, "solvers": []string{"bcd"}, "penalty": 0.5}
		if strings.HasPrefix(name, "dictionary") || strings.HasPrefix(name, "a label") {
			job["id_column"] = "id"
		}
		run, err := s.action(t, protocol.ActionRecover, job)
		if err == nil {
			_, err = s.action(t, protocol.ActionResult, jsonRun(t, run))
		}
		f := fault(t, name, err)
		if f.Code != codes.InvalidArgument.String() && f.Code != codes.ResourceExhausted.String() {
			t.Errorf("%s: %+v", name, f)
		}
		t.Logf("%-24s %8d bytes, %5.2f s, %4d MiB: %s %s: %.150s", name, len(data), time.Since(began).Seconds(), peak(s.cmd.Process.Pid)>>20, f.Code, f.Reason, f.Message)
		s.lives(t, name, most)
	}
}

// Streams of batches that become large are refused as they come.
func TestBombStreams(t *testing.T) {
	onLinux(t)
	const most = 512 << 20
	s := serve(t, "--files", "none", "--max-message-size", "4MiB", "--max-upload-size", "64MiB")
	s.lives(t, "its start", most)
	quick := command(map[string]any{"solvers": []string{"bcd"}, "penalty": 0.5})
	labelled := command(map[string]any{"solvers": []string{"bcd"}, "penalty": 0.5, "id_column": "id"})
	one, many := arrowiotest.Constant(1<<19, 40), arrowiotest.Constant(1<<14, 40)
	lists := arrowiotest.ConstantLists(96, 1<<16)
	for _, codec := range []struct {
		name   string
		option ipc.Option
	}{{"zstd", ipc.WithZstd()}, {"lz4", ipc.WithLZ4()}} {
		for name, messages := range map[string]flighttest.Recorded{
			"a batch":      record(t, quick, one, one.NumRows(), codec.option),
			"many batches": record(t, quick, many, many.NumRows(), codec.option),
			"lists":        record(t, quick, lists, lists.NumRows(), codec.option),
			"a dictionary": record(t, labelled, arrowiotest.ConstantDictionary(128<<20), 3, codec.option),
		} {
			if name == "many batches" {
				for range 100 {
					messages = append(messages, messages[1])
				}
			}
			f := fault(t, codec.name+", "+name, flighttest.Upload(soon(t), s.flights, messages))
			if f.Code != codes.ResourceExhausted.String() || f.Reason != protocol.ReasonLimit {
				t.Errorf("%s, %s: %+v", codec.name, name, f)
			}
			s.lives(t, codec.name+", "+name, most)
		}
	}
	t.Logf("at most %d MiB", peak(s.cmd.Process.Pid)>>20)
}

// constantBatch are the messages of a batch of so many columns of zeros, each
// compressed with zstd, that is never held unpacked.
func constantBatch(t *testing.T, d *flight.FlightDescriptor, rows, columns int) flighttest.Recorded {
	t.Helper()
	// A frame of blocks of one byte that is repeated (RFC 8878, section 3.1.1).
	const block = 128 << 10
	frame := []byte{0x28, 0xB5, 0x2F, 0xFD, 0xC0, (17 - 10) << 3}
	frame = binary.LittleEndian.AppendUint64(frame, uint64(8*rows))
	for left := 8 * rows; left > 0; left -= block {
		head := 1<<1 | min(left, block)<<3
		if left <= block {
			head |= 1
		}
		frame = append(frame, byte(head), byte(head>>8), byte(head>>16), 0)
	}
	// The metadata of a small batch, with other lengths.
	const few = 771
	messages := record(t, d, arrowiotest.Constant(few, columns), few, ipc.WithZstd())
	meta, body := messages[1].DataHeader, messages[1].DataBody
	length := binary.LittleEndian.Uint64(nonZeroBuffer(t, meta, len(body), columns)[8:])
	packed := append(binary.LittleEndian.AppendUint64(nil, uint64(8*rows)), frame...)
	at := uint64(0)
	for i := 0; i+8 <= len(meta); i += 4 {
		switch binary.LittleEndian.Uint64(meta[i:]) {
		case few:
			binary.LittleEndian.PutUint64(meta[i:], uint64(rows))
		case length:
			binary.LittleEndian.PutUint64(meta[i-8:], at)
			binary.LittleEndian.PutUint64(meta[i:], uint64(len(packed)))
			at += uint64(len(packed))
			i += 4
		case uint64(len(body)):
			binary.LittleEndian.PutUint64(meta[i:], uint64(columns*len(packed)))
		}
	}
	if at != uint64(columns*len(packed)) {
		t.Fatalf("%d bytes of buffers were found", at)
	}
	messages[1].DataBody = bytes.Repeat(packed, columns)
	return messages
}

// nonZeroBuffer is where the offset and the length of the last buffer stand, which
// ends with the body but for its padding.
func nonZeroBuffer(t *testing.T, meta []byte, body, columns int) []byte {
	t.Helper()
	for i := len(meta) - 16; i >= 0; i -= 4 {
		offset, length := binary.LittleEndian.Uint64(meta[i:]), binary.LittleEndian.Uint64(meta[i+8:])
		if n := uint64(body); length > 8 && length < n && offset < n && offset+length <= n && offset+length > n-8 && offset > n-2*n/uint64(columns) {
			return meta[i:]
		}
	}
	t.Fatal("the batch has no buffers")
	return nil
}

// fileOf is a stream as a file, .arrows.
func fileOf(messages flighttest.Recorded) []byte {
	var b []byte
	for _, m := range messages {
		meta := append(slices.Clone(m.DataHeader), make([]byte, -len(m.DataHeader)&7)...)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, 0xFFFFFFFF), uint32(len(meta)))
		b = append(append(b, meta...), m.DataBody...)
	}
	return b
}

// The case that once ended the process: 40 columns of 50 million constant rows, 16 GB
// in half a megabyte. A service with its default limits refuses it before it is
// unpacked, and so does the command line, with exit code 2.
func TestBombOf16GB(t *testing.T) {
	onLinux(t)
	const most = 256 << 20
	sent := constantBatch(t, command(map[string]any{"solvers": []string{"bcd"}}), 50_000_000, 40)
	size := len(sent[1].DataBody)
	if size > 600_000 {
		t.Fatalf("it takes %d bytes on the wire", size)
	}
	s := serve(t, "--files", "none")
	s.lives(t, "its start", most)
	before := peak(s.cmd.Process.Pid)
	refused := fault(t, "the upload", flighttest.Upload(soon(t), s.flights, sent))
	if refused.Code != codes.ResourceExhausted.String() || refused.Reason != protocol.ReasonLimit {
		t.Errorf("%+v", refused)
	}
	s.lives(t, "the upload", most)
	t.Logf("%d bytes sent: %s; VmHWM %d MiB, before it %d", size, refused.Message, peak(s.cmd.Process.Pid)>>20, before>>20)

	path := file(t, "bomb.arrows", fileOf(sent))
	code, output, hwm := gladflow(t, t.TempDir(), "recover", path)
	if code != 2 || !strings.Contains(output, fmt.Sprint(4<<30)) || hwm > most {
		t.Errorf("code %d, %d MiB: %s", code, hwm>>20, output)
	}
	t.Logf("recover: code %d, %d MiB: %s", code, hwm>>20, output)
}

// A batch of the same kind within the limits is read.
func TestConstantBatchIsOne(t *testing.T) {
	onLinux(t)
	sent := constantBatch(t, command(map[string]any{"solvers": []string{"bcd"}}), 5000, 40)
	code, output, _ := gladflow(t, t.TempDir(), "recover", file(t, "small.arrows", fileOf(sent)))
	if code != 2 || !strings.Contains(output, "constant") {
		t.Errorf("code %d: %s", code, output)
	}
}

// Documents that are deep, long or lie about their sizes are refused in words.
func TestBombDocuments(t *testing.T) {
	onLinux(t)
	const most = 512 << 20
	dir := t.TempDir()
	s := serve(t, "--files", dir, "--max-message-size", "8MiB")
	s.lives(t, "its start", most)
	deep := strings.Repeat("[", 1<<20)
	for name, document := range map[string]string{
		"brackets":       deep + strings.Repeat("]", 1<<20),
		"objects":        strings.Repeat(`{"a":`, 1<<19),
		"a deep value":   `{"solvers":` + deep + strings.Repeat("]", 1<<20) + "}",
		"a long text":    `{"id_column":"` + strings.Repeat("x", 4<<20) + `"}`,
		"a long list":    `{"solvers":[` + strings.Repeat(`"bcd",`, 1<<19) + `"am"]}`,
		"many keys":      "{" + strings.Repeat(`"penalty":0.1,`, 1<<18) + `"gap":1}`,
		"a large number": `{"penalty":1` + strings.Repeat("0", 1<<20) + "}",
		"aliases":        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n",
	} {
		for _, action := range []string{protocol.ActionValidate, protocol.ActionRecover, protocol.ActionResult} {
			err := callOf(t, "DoAction", &flight.Action{Type: action, Body: []byte(document)}).do(soon(t), s.conn)
			fault(t, action+" of "+name, err)
		}
		s.lives(t, name, most)
	}
	model, err := os.ReadFile("../../../solver/glad/models/er-d100-m100-literal.json")
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "table.csv")
	if err := os.WriteFile(table, csvTable(6, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	text := string(model)
	for name, lie := range map[string]string{
		"iterations":     strings.Replace(text, `"iterations": 30`, `"iterations": 1000000000000`, 1),
		"weights":        strings.Replace(text, `"weights": [`, `"weights": [[`+strings.Repeat("1,", 1<<20)+"1],", 1),
		"layers":         strings.Replace(text, `"layers": [`, `"layers": [`+strings.Repeat("{},", 1<<18), 1),
		"deep":           strings.Replace(text, `"bias": `, `"bias": `+deep, 1),
		"a large number": strings.Replace(text, `"lambda0": 1`, `"lambda0": 1e9999999`, 1),
		"a long name":    strings.Replace(text, `"name": "`, `"name": "`+strings.Repeat("x", 4<<20), 1),
		"many keys":      strings.Replace(text, "{", "{"+strings.Repeat(`"name":"x",`, 1<<18), 1),
		"too long":       strings.Repeat(" ", times(20, 300)<<20),
	} {
		path := filepath.Join(dir, "model.json")
		if err := os.WriteFile(path, []byte(lie), 0o600); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		run, err := s.action(t, protocol.ActionRecover, map[string]any{"input": table, "solvers": []string{"glad"}, "model": path, "time_limit": "1s"})
		if err == nil {
			_, err = s.action(t, protocol.ActionResult, jsonRun(t, run))
		}
		if err != nil {
			fault(t, "a model, "+name, err)
		} else if name != "iterations" && name != "a long name" {
			t.Errorf("a model, %s: it is accepted", name)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a model, %s: %v", name, took)
		}
		s.lives(t, "a model, "+name, most)
	}
	t.Logf("at most %d MiB", peak(s.cmd.Process.Pid)>>20)
}
