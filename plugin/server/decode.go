package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
)

// decode reads a message; shape is what it should have been.
func decode(data []byte, into any, shape string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.Call("the message %s; send %s as JSON", undecodable(err), shape)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault.Call("something follows the message; send %s as JSON and nothing else", shape)
	}
	return nil
}

// undecodable says what is wrong with JSON.
func undecodable(err error) string {
	const unknown = "json: unknown field "
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "is cut short"
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("has %s as its %s", job.WithArticle(kind.Value), kind.Field)
	case errors.As(err, &kind):
		return "is " + job.WithArticle(kind.Value)
	case errors.As(err, &syntax):
		return fmt.Sprintf("is no JSON from byte %d on", syntax.Offset)
	case strings.HasPrefix(err.Error(), unknown):
		return fmt.Sprintf("has the key %s, which is unknown", strings.TrimPrefix(err.Error(), unknown))
	}
	return "is no JSON"
}
