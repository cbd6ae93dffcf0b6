package batch

import (
	"errors"
	"testing"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// What a batch unpacks to is asked for before it is unpacked, once for the largest, and
// a refusal is the error of the table as it is.
func TestReserve(t *testing.T) {
	const unpacked = 40 * 8 << 20
	failure := errors.New("there is no memory")
	for _, codec := range arrowtest.Codecs() {
		list := arrowtest.Packed(t, arrowiotest.Constant(1<<20, 40), codec.Option)
		var err error
		took := arrowtest.Allocated(func() {
			_, err = readLimited(list, Limits{Reserve: func(more int64) error {
				if more >= unpacked {
					return failure
				}
				return nil
			}})
		})
		if err != failure || took > unpacked/10 {
			t.Errorf("%s: %v, after %d bytes", codec.Name, err, took)
		}
	}
	list := arrowtest.Messages(t, arrowiotest.Constant(1<<18, 4), 1<<18)
	list = append(list, list[1], list[1])
	var asked int64
	rows, err := readLimited(list, Limits{Reserve: func(more int64) error {
		asked += more
		return nil
	}})
	if err != nil || rows != 3<<18 || asked < 8<<20 || asked > 9<<20 {
		t.Errorf("%d rows, %v: %d bytes were asked for", rows, err, asked)
	}
}
