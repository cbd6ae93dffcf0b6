package server

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/flight"
	generated "github.com/apache/arrow/go/v15/arrow/flight/gen/flight"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// pieces cuts bytes into buffers at random, as they come from the transport.
func pieces(r *rand.Rand, text []byte) mem.BufferSlice {
	var all mem.BufferSlice
	for len(text) > 0 {
		n := 1 + r.IntN(min(len(text), 40))
		all = append(all, mem.SliceBuffer(bytes.Clone(text[:n])))
		text = text[n:]
	}
	return all
}

// FuzzFlightData: whatever the bytes, our reading of a message of samples is that of
// gRPC's codec, or none.
func FuzzFlightData(f *testing.F) {
	full := &generated.FlightData{
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(`{}`), Path: []string{"a"}},
		DataHeader:       []byte("header"), AppMetadata: []byte("more"), DataBody: bytes.Repeat([]byte("body"), 100),
	}
	text, err := proto.Marshal(full)
	if err != nil {
		f.Fatal(err)
	}
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.VarintType), 5)
	for _, seed := range [][]byte{
		text, nil, append(bytes.Clone(text), text...), append(bytes.Clone(text), unknown...), text[:len(text)-1],
		{0xC2, 0x3E, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, {0}, bytes.Repeat([]byte{0xFF}, 20),
	} {
		f.Add(seed, uint64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		cut := pieces(rand.New(rand.NewPCG(seed, 0)), text)
		var want, got generated.FlightData
		wrong := proto.Unmarshal(text, &want)
		read := readFlightData(cut, &got)
		if read && (wrong != nil || !proto.Equal(&got, &want)) {
			t.Errorf("%x is read as %v, and is %v, %v", text, &got, &want, wrong)
		}
		if !read && !proto.Equal(&got, new(generated.FlightData)) {
			t.Errorf("%x leaves %v", text, &got)
		}
	})
}

// What Flight's own clients send is read without gRPC's copies.
func TestFlightDataIsReadAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range []*generated.FlightData{
		{},
		{FlightDescriptor: command(`{"solvers":["bcd"]}`), DataHeader: []byte("schema")},
		{DataHeader: []byte("batch"), DataBody: bytes.Repeat([]byte{1, 2, 3}, 10_000), AppMetadata: []byte("m")},
	} {
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var got generated.FlightData
		if !readFlightData(pieces(r, text), &got) || !proto.Equal(&got, m) {
			t.Errorf("%v is read as %v", m, &got)
		}
	}
}

// A length beyond the end of a message makes no room.
func TestLengthBeyondTheMessage(t *testing.T) {
	text := protowire.AppendVarint(protowire.AppendTag(nil, fieldDataBody, protowire.BytesType), 1<<40)
	var got generated.FlightData
	if n := testing.AllocsPerRun(1, func() {
		if readFlightData(mem.BufferSlice{mem.SliceBuffer(text)}, &got) {
			t.Error("it is read")
		}
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
}
