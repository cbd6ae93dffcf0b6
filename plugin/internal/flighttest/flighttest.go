// Package flighttest calls a gladflow service in tests, with Arrow's own Flight
// client.
package flighttest

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
)

// Action does an action with a body that is marshalled to JSON, and returns its
// last result, as JSON.
func Action(ctx context.Context, conn *grpc.ClientConn, name string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return RawAction(ctx, conn, name, text)
}

// RawAction does an action with a body as it is, and returns its last result.
func RawAction(ctx context.Context, conn *grpc.ClientConn, name string, body []byte) ([]byte, error) {
	stream, err := flight.NewClientFromConn(conn, nil).DoAction(ctx, &flight.Action{Type: name, Body: body})
	if err != nil {
		return nil, err
	}
	var last []byte
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		last = r.Body
	}
}
