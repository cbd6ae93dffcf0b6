package server

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/memory"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// An upload for which there is no memory is refused before its samples are used, with
// what it needs and what to do.
func TestUploadNeedsMemory(t *testing.T) {
	const limit = memory.Process + 100<<20
	s, c := served(t, Config{Limits: protocol.Limits{MemoryBytes: limit, MessageBytes: 16 << 20}})
	ctx := bg(t)
	if _, err := put(ctx, t, c, `{"solvers":["bcd"],"penalty":0.3}`, wide(2000, 10)); err == nil {
		t.Error("a run of half a gigabyte was admitted")
	} else {
		wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
		for _, words := range []string{"solver bcd on 2000 variables", "can never be taken", "raise memory_bytes (gladflow serve --max-memory)"} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%q lacks %q", err, words)
			}
		}
	}
	eventually(t, "the memory of the refused run is still reserved", func() bool { return s.Stats().MemoryBytes == 0 })
	id, err := put(ctx, t, c, `{"solvers":["bcd","glad"],"penalty":0.3}`, sampled(t, 20, 100))
	if err == nil {
		_, err = act(ctx, c, protocol.ActionResult, `{"run":"`+id+`"}`)
	}
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sum is that of the results", func() bool {
		st := s.Stats()
		return st.MemoryBytes == st.ResultBytes && st.ResultBytes > 0
	})
	if _, err := act(ctx, c, protocol.ActionForget, `{"run":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().MemoryBytes; n != 0 {
		t.Errorf("%d bytes are reserved for nothing", n)
	}
}

// Samples that have to be kept are counted as they come.
func TestKeptSamplesNeedMemory(t *testing.T) {
	s, c := served(t, Config{Limits: protocol.Limits{MemoryBytes: memory.Process + (40+104)<<20, MessageBytes: 32 << 20}})
	table := sampled(t, 50, 100_000) // 40 MB
	_, err := put(bg(t), t, c, `{"solvers":["bcd"],"penalty":0.3,"correlation":"spearman"}`, table)
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	if err != nil && !strings.Contains(err.Error(), "at least") {
		t.Error(err)
	}
	if _, err = put(bg(t), t, c, `{"solvers":["bcd"],"penalty":0.3}`, table); err != nil {
		t.Errorf("without ranks: %v", err)
	}
	eventually(t, "the memory is still reserved", func() bool { st := s.Stats(); return st.MemoryBytes == st.ResultBytes && st.Running == 0 })
}

func TestDescribeTellsMemory(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{MemoryBytes: 123 << 30}})
	text, err := act(bg(t), c, protocol.ActionDescribe, "")
	if err != nil || !strings.Contains(string(bytes.Join(text, nil)), `"memory_bytes":132070244352`) {
		t.Errorf("%v: %s", err, text)
	}
}

// A limit with which no run could ever be taken is refused, and small machines get
// smaller messages by default.
func TestMemoryThatLeavesNothing(t *testing.T) {
	_, err := New(Config{Limits: protocol.Limits{MemoryBytes: memory.Process + 64<<20, MessageBytes: 64 << 20}})
	var wrong *SettingError
	if !errors.As(err, &wrong) || wrong.Setting != "Limits.MemoryBytes" || !strings.Contains(err.Error(), "Limits.MessageBytes") {
		t.Errorf("%v", err)
	}
	for _, limit := range []int64{memory.Process + 8<<20, 400 << 20, 1 << 30, 1 << 40} {
		s, err := New(Config{Limits: protocol.Limits{MemoryBytes: limit}})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := int64(s.limits.MessageBytes); got > 64<<20 || got > max(1<<20, (limit-memory.Process)/8) {
			t.Errorf("of %d bytes a message takes %d", limit, got)
		}
		s.Close()
	}
}
