package arrowio

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// arrowEncoding writes Arrow IPC files.
func arrowEncoding() encoding {
	return encoding{name: Arrow, title: "Arrow IPC file", encode: (*output).encodeArrow}
}

func (t *output) encodeArrow(w io.Writer) error {
	p := &positioned{w: w}
	a, err := ipc.NewFileWriter(p, ipc.WithSchema(t.record.Schema()), ipc.WithAllocator(t.mem))
	if err != nil {
		return err
	}
	if err := t.slices(t.batch, a.Write); err != nil {
		return err
	}
	// Arrow 15 leaves out the mark that ends the stream inside of a file.
	if _, err := p.Write([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}); err != nil {
		return err
	}
	return a.Close()
}

// positioned tells Arrow where in the file it is, which is all that it seeks.
type positioned struct {
	w  io.Writer
	at int64
}

func (p *positioned) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return n, err
}

func (p *positioned) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("the output cannot be rewound")
	}
	return p.at, nil
}
