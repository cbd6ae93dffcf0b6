package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio/arrowiotest"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A few kilobytes that unpack to hundreds of megabytes are refused, and the
// service takes no memory for them.
func TestBombsAreRefused(t *testing.T) {
	limits := protocol.Limits{MessageBytes: 4 << 20, UploadBytes: 64 << 20}
	_, c := served(t, Config{Limits: limits})
	for name, codec := range map[string]ipc.Option{"zstd": ipc.WithZstd(), "lz4": ipc.WithLZ4()} {
		for _, q := range []struct {
			rows, batches int
			limit         string
		}{
			{1 << 20, 1, "or raise message_bytes (gladflow serve --max-message-size), of which it is 8 times"}, // 320 MiB
			{1 << 14, 100, "or raise upload_bytes (gladflow serve --max-upload-size)"},                         // 5 MiB each
		} {
			var messages flighttest.Recorded
			table := arrowiotest.Constant(q.rows, 40)
			w := flight.NewRecordWriter(&messages, ipc.WithSchema(table.Schema()), codec)
			w.SetFlightDescriptor(command(`{"solvers":["bcd"]}`))
			if err := w.Write(table); err != nil {
				t.Fatal(err)
			}
			for range q.batches - 1 {
				messages = append(messages, messages[1])
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := flighttest.Upload(bg(t), c, messages)
			runtime.ReadMemStats(&after)
			f := wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
			if !strings.Contains(f.Message, q.limit) {
				t.Errorf("%s: %s", name, f.Message)
			}
			// The second is read up to the limit, with copies of each batch.
			if took := int64(after.TotalAlloc - before.TotalAlloc); took > 5*limits.UploadBytes || q.batches == 1 && took > limits.UploadBytes {
				t.Errorf("%s, %d batches: it took %d bytes", name, q.batches, took)
			}
		}
	}
}

// Files that a job names count as what they unpack to.
func TestBombsInFiles(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{UploadBytes: 1 << 20}})
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("a,b\n" + strings.Repeat("1,2\n3,4\n", 1<<20)))
	z.Close()
	path := filepath.Join(t.TempDir(), "table.csv.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	id, err := act(bg(t), c, protocol.ActionRecover, string(encode(map[string]string{"input": path})))
	if err != nil {
		t.Fatal(err)
	}
	_, err = act(bg(t), c, protocol.ActionResult, string(id[0]))
	f := wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	if !strings.Contains(f.Message, "upload_bytes") {
		t.Error(f.Message)
	}
}

// Work that hears of nothing does not keep the service from ending.
func TestDrainWithDeafWork(t *testing.T) {
	release := make(chan struct{})
	l := listening(t, ListenConfig{Insecure: true, DrainTimeout: 100 * time.Millisecond})
	l.service.runs.Work = func(_ context.Context, _ job.Job, h recovery.Host) (*job.Result, error) {
		<-release
		return nil, errors.New("it was released")
	}
	defer close(release)
	startRun(t, dial(t, l.target), longJob(t))
	began := time.Now()
	l.end()
	select {
	case err := <-l.ended:
		if took := time.Since(began); !errors.Is(err, ErrRunsCancelled) || took > 3*time.Second {
			t.Errorf("Serve returns %v after %v", err, took)
		}
	case <-time.After(10 * time.Second):
		t.Error("it has not ended 10 s after a drain of 100 ms")
	}
}
