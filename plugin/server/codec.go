package server

import (
	generated "github.com/apache/arrow/go/v15/arrow/flight/gen/flight"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A codec is gRPC's, but that it marks a message of Flight that it cannot read
// instead of failing: gRPC would end the call by itself, with an internal error
// in the words of its parser.
type codec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(*generated.FlightData); ok && readFlightData(data, m) {
		return nil
	}
	err := c.CodecV2.Unmarshal(data, v)
	if m := flightMessage(v); err != nil && m != nil {
		proto.Reset(m)
		m.ProtoReflect().SetUnknown(mark())
		return nil
	}
	return err
}

// mark is what a message has that could not be read: a field that Flight has not.
// A caller who sends it has sent nothing that could be read.
func mark() protoreflect.RawFields {
	return protowire.AppendString(protowire.AppendTag(nil, protowire.MaxValidNumber, protowire.BytesType), "gladflow: unreadable")
}

// unreadable says whether the codec could not read a message.
func unreadable(v any) bool {
	m := flightMessage(v)
	return m != nil && string(m.ProtoReflect().GetUnknown()) == string(mark())
}

// flightMessage is v if it is a message that the service receives, or nil.
func flightMessage(v any) proto.Message {
	switch m := v.(type) {
	case *generated.FlightData, *generated.Action, *generated.Ticket, *generated.FlightDescriptor,
		*generated.Criteria, *generated.Empty, *generated.HandshakeRequest:
		return m.(proto.Message)
	}
	return nil
}
