package server

import (
	"encoding/binary"
	"io"

	generated "github.com/apache/arrow/go/v15/arrow/flight/gen/flight"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Fields of FlightData on the wire.
const (
	fieldDescriptor  = 1
	fieldDataHeader  = 2
	fieldAppMetadata = 3
	fieldDataBody    = 1000
)

// readFlightData reads a message of samples, whose body is most of it, and copies it
// once: gRPC's codec would copy all of the message into one piece before, and hold
// it three times. It says whether it could; if not, m is as it was before, and the
// message is broken or one that gRPC's codec knows better.
func readFlightData(data mem.BufferSlice, m *generated.FlightData) bool {
	r := data.Reader()
	defer r.Close()
	var read generated.FlightData
	for r.Remaining() > 0 {
		tag, err := binary.ReadUvarint(r)
		if err != nil {
			return false
		}
		number, kind := protowire.DecodeTag(tag)
		if kind != protowire.BytesType {
			return false
		}
		size, err := binary.ReadUvarint(r)
		if err != nil || size > uint64(r.Remaining()) {
			return false
		}
		value := make([]byte, size)
		if _, err := io.ReadFull(r, value); err != nil {
			return false
		}
		switch number {
		case fieldDescriptor:
			if read.FlightDescriptor == nil {
				read.FlightDescriptor = new(generated.FlightDescriptor)
			}
			if (proto.UnmarshalOptions{Merge: true}).Unmarshal(value, read.FlightDescriptor) != nil {
				return false
			}
		case fieldDataHeader:
			read.DataHeader = value
		case fieldAppMetadata:
			read.AppMetadata = value
		case fieldDataBody:
			read.DataBody = value
		default:
			return false
		}
	}
	m.FlightDescriptor, m.DataHeader, m.AppMetadata, m.DataBody = read.FlightDescriptor, read.DataHeader, read.AppMetadata, read.DataBody
	return true
}
