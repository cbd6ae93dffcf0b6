package arrowio

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// A Written is a file that was written.
type Written struct {
	// Name is that of the file in its folder.
	Name string
	// Bytes is its size.
	Bytes int64
	// SHA256 is the checksum of its bytes, in hexadecimal.
	SHA256 string
}

// A summer takes the size and the checksum of what is written through it.
type summer struct {
	to    io.Writer
	bytes int64
	sum   hash.Hash
}

func newSummer(to io.Writer) *summer { return &summer{to: to, sum: sha256.New()} }

func (s *summer) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.bytes += int64(n)
	s.sum.Write(p[:n]) // never fails
	return n, err
}

func (s *summer) written(name string) Written {
	return Written{Name: name, Bytes: s.bytes, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
}
