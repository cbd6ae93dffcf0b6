package arrowio

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/arrowio/uri"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// stdinName is what errors call it.
const stdinName = "standard input"

// An input is an opened file, stream or URL. It is read from
// front to back through the embedded reader, which hashes every byte; formats
// that are read by position use randomAccess instead and leave the hashing to
// sum.
type input struct {
	*bufio.Reader
	ctx  context.Context
	name string // for messages

	in      io.Reader
	file    io.ReaderAt    // nil when in can only be read once
	size    int64          // of file
	closers []func() error // called last to first

	hash    hash.Hash
	beside  *fileSum              // nil unless the checksum is taken beside the reading
	tail    []byte                // the last bytes that went through, at most tailBytes
	failure atomic.Pointer[error] // how the machine, not the input, failed
	stream  bool                  // batches from elsewhere: there are no bytes
	limits  batch.Limits
	counter batch.Counter // of what text and Parquet unpack to
}

const (
	tailBytes   = 10 // what an Arrow IPC file ends with
	readAhead   = 64 << 10
	tempPattern = "gladflow-input-*"
)

// NameOf is what errors call the table at a path: a URL without its parameters, or
// standard input.
func NameOf(path string) string {
	if path == stdinPath {
		return stdinName
	}
	return Redacted(path)
}

// open is the one place where a path becomes bytes: the name of a file, "-" for
// standard input, or a URL that stores open. With a root nothing but a file in its
// folder is opened, by its path or a file URL. Secrets of a URL get neither into
// the input's name nor into errors.
func open(ctx context.Context, path string, stdin io.Reader, root *Root, stores Opener, limits batch.Limits) (*input, error) {
	s := &input{ctx: ctx, name: NameOf(path), hash: sha256.New(), limits: limits, counter: batch.Counter{Limits: limits}}
	var err error
	switch {
	case path == stdinPath:
		if stdin == nil {
			stdin = os.Stdin
		}
		s.in = stdin
	case root == nil && uri.Is(path):
		err = s.openURL(ctx, path, stores)
	default:
		err = s.openFile(root, path)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.Reader = bufio.NewReaderSize(rawReader{s}, readAhead)
	return s, nil
}

func (s *input) openURL(ctx context.Context, path string, stores Opener) error {
	if stores == nil {
		return fault(s.name, "this is a URL, and only files are opened here; fetch it and name the file")
	}
	in, err := stores.Open(ctx, path)
	if err != nil {
		return err
	}
	return s.use(in)
}

func (s *input) openFile(root *Root, path string) error {
	f, err := openFile(root, path, s.name)
	if err != nil {
		return err
	}
	return s.use(f)
}

// use reads in, by position if it is a regular file: pipes and devices can be
// opened by name too, but read only once.
func (s *input) use(in io.ReadCloser) error {
	s.in = in
	s.closers = append(s.closers, in.Close)
	f, ok := in.(interface {
		fs.File
		io.ReaderAt
	})
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return openFault(s.name, err)
	}
	if info.Mode().IsRegular() {
		s.file, s.size = f, info.Size()
	}
	return nil
}

// OpenFile opens a file of this machine for reading, which errors call name. A
// file that is missing, may not be read or is a folder is an InputError.
func OpenFile(path, name string) (*os.File, error) { return openFile(nil, path, name) }

// openFile is OpenFile of what a root opens.
func openFile(root *Root, path, name string) (*os.File, error) {
	if path == "" {
		return nil, fault("(no path)", "no file is named")
	}
	f, err := root.Open(path)
	if err != nil {
		return nil, openFault(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, openFault(name, err)
	}
	return nil, &InputError{Path: name, Reason: "this is a folder; name a file in it", Err: fs.ErrInvalid}
}

// rawReader is the input before buffering.
type rawReader struct{ s *input }

func (r rawReader) Read(p []byte) (int, error) {
	s := r.s
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.in.Read(p)
	s.hash.Write(p[:n])
	s.tail = append(s.tail, p[max(0, n-tailBytes):n]...)
	s.tail = s.tail[max(0, len(s.tail)-tailBytes):]
	if err != nil && err != io.EOF {
		s.failed(err)
	}
	return n, err
}

// randomAccess gives the bytes by position. What cannot be read by position
// is first copied to a temporary file.
func (s *input) randomAccess() (*io.SectionReader, error) {
	if s.file == nil {
		f, err := os.CreateTemp("", tempPattern)
		if err != nil {
			s.failed(err)
			return nil, err
		}
		// Where the system allows it the file leaves its folder at once, so
		// that not even a killed process leaves it behind.
		if os.Remove(f.Name()) != nil {
			s.closers = append(s.closers, func() error { return os.Remove(f.Name()) })
		}
		s.closers = append(s.closers, f.Close)
		if s.size, err = s.copyTo(f); err != nil {
			s.failed(err)
			return nil, err
		}
		s.file = f
	}
	return io.NewSectionReader(cancellable{s}, 0, s.size), nil
}

// cancellable is the file by position, until the context ends.
type cancellable struct{ s *input }

func (c cancellable) ReadAt(p []byte, off int64) (int, error) {
	if err := c.s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.s.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		c.s.failed(err)
	}
	return n, err
}

// copyTo copies what is left, at most as many bytes as a table may have.
func (s *input) copyTo(w io.Writer) (int64, error) {
	most := s.limits.Table
	if most <= 0 {
		return io.Copy(w, s.Reader)
	}
	n, err := io.Copy(w, io.LimitReader(s.Reader, most+1))
	if err == nil && n > most {
		err = &batch.LimitError{Table: true, Most: most}
	}
	return n, err
}

// sum reads what is left and returns the SHA-256 of all bytes, in hexadecimal.
func (s *input) sum() (string, error) {
	if s.beside != nil {
		<-s.beside.done
		if err := s.beside.err; err != nil {
			s.failed(err)
			return "", err
		}
		return s.beside.sum, nil
	}
	if _, err := s.copyTo(io.Discard); err != nil {
		return "", err
	}
	return hex.EncodeToString(s.hash.Sum(nil)), nil
}

// failed notes how the machine, not the input, has failed.
func (s *input) failed(err error) { s.failure.Store(&err) }

func (s *input) close() error {
	var first error
	for _, c := range slices.Backward(s.closers) {
		if err := c(); err != nil && first == nil {
			first = err
		}
	}
	s.closers = nil
	return first
}
