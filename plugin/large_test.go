package plugin

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/batch"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A batch beyond the limit of a message is cut by the client; where the client is
// told not to, the error says what to do, whoever has noticed it.
func TestLargeBatch(t *testing.T) {
	const rows, columns = 917_504, 10 // 70 MiB
	large := wide(memory.DefaultAllocator, rows, columns)
	defer large.Release()
	reader := func() array.RecordReader {
		r, err := array.NewRecordReader(large.Schema(), []arrow.Record{large})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Release)
		return r
	}
	c := served(t, protocol.Limits{})
	c.batchBytes = batch.Bytes
	echo, err := c.Echo(t.Context(), reader())
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Release()
	n := int64(0)
	for echo.Next() {
		n += echo.Record().NumRows()
	}
	if err := echo.Err(); err != nil || n != rows {
		t.Errorf("%d rows come back, %v", n, err)
	}
	for _, limit := range []int{64 << 20, 32 << 20} { // the second is gRPC's to notice
		c := served(t, protocol.Limits{MessageBytes: limit})
		c.batchBytes = 1 << 30
		_, err := c.Recover(t.Context(), job.Job{}, reader())
		f := protocol.FaultOf(err)
		if f.StatusCode() != codes.ResourceExhausted || f.Reason != protocol.ReasonLimit || !strings.Contains(err.Error(), "in batches of 1 to 4 MB") || !strings.Contains(err.Error(), "BatchBytes") {
			t.Errorf("%d MiB: %v", limit>>20, err)
		}
	}
}
