package arrowio

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

// aheadBlocks blocks of aheadBytes are read ahead of whoever takes them.
const (
	aheadBlocks = 4
	aheadBytes  = 256 << 10
)

// readAheadOf reads from in in a goroutine of its own, such as one that decompresses, and
// returns a reader of what it has read. close ends the goroutine, at once unless it waits
// for a pipe in which nothing comes: then with the next bytes. Errors, and panics as what
// they are, come after the bytes before them.
func readAheadOf(in io.Reader) (r io.Reader, close func() error) {
	a := &ahead{full: make(chan piece, aheadBlocks), empty: make(chan []byte, aheadBlocks), quit: make(chan struct{}), done: make(chan struct{})}
	for range aheadBlocks {
		a.empty <- make([]byte, aheadBytes)
	}
	go a.run(in)
	return a, a.close
}

// A piece is some bytes, and the error that came with them.
type piece struct {
	b        []byte
	err      error
	panicked any
}

type ahead struct {
	full       chan piece
	empty      chan []byte
	quit, done chan struct{}
	ended      atomic.Bool

	whole, left []byte // of the piece at hand
	err         error
}

func (a *ahead) run(in io.Reader) {
	defer close(a.done)
	for {
		var b []byte
		select {
		case b = <-a.empty:
		case <-a.quit:
			return
		}
		p := a.fill(in, b)
		select {
		case a.full <- p:
		case <-a.quit:
			return
		}
		if p.err != nil || p.panicked != nil {
			return
		}
	}
}

func (a *ahead) fill(in io.Reader, b []byte) (p piece) {
	defer func() { p.panicked = recover() }()
	p.b = b[:0]
	for len(p.b) < len(b) && p.err == nil {
		var n int
		n, p.err = in.Read(b[len(p.b):])
		p.b = b[:len(p.b)+n]
	}
	return p
}

// Read implements io.Reader.
func (a *ahead) Read(to []byte) (int, error) {
	for len(a.left) == 0 {
		if a.err != nil {
			return 0, a.err
		}
		if a.whole != nil {
			a.empty <- a.whole[:aheadBytes]
		}
		p := <-a.full
		if p.panicked != nil {
			a.whole, a.err = nil, io.ErrUnexpectedEOF
			panic(p.panicked)
		}
		a.whole, a.left, a.err = p.b, p.b, p.err
	}
	n := copy(to, a.left)
	a.left = a.left[n:]
	return n, nil
}

func (a *ahead) close() error {
	if a.ended.CompareAndSwap(false, true) {
		close(a.quit)
	}
	late := time.NewTimer(attention)
	defer late.Stop()
	select {
	case <-a.done:
	case <-late.C:
	}
	return nil
}

// A fileSum is the checksum of a file that is taken beside the reading of it.
type fileSum struct {
	quit atomic.Bool
	done chan struct{}
	sum  string
	err  error
}

// sumBeside begins the checksum of a file that is read by position, where there is another
// processor for it: sum then waits for it.
func (s *input) sumBeside(in io.ReaderAt) {
	if s.beside != nil || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	f := &fileSum{done: make(chan struct{})}
	s.beside = f
	s.closers = append(s.closers, func() error {
		f.quit.Store(true)
		<-f.done
		return nil
	})
	size := s.size
	go func() {
		defer close(f.done)
		h := sha256.New()
		_, f.err = io.CopyBuffer(h, stoppable{io.NewSectionReader(in, 0, size), f}, make([]byte, aheadBytes))
		f.sum = hex.EncodeToString(h.Sum(nil))
	}()
}

// stoppable ends with its checksum.
type stoppable struct {
	io.Reader
	of *fileSum
}

// Read implements io.Reader.
func (r stoppable) Read(b []byte) (int, error) {
	if r.of.quit.Load() {
		return 0, io.ErrUnexpectedEOF
	}
	return r.Reader.Read(b)
}
