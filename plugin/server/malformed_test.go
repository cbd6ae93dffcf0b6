package server

import (
	"bytes"
	"context"
	wire "encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// goText is what Go's packages and gRPC say, which tells a caller nothing.
var goText = regexp.MustCompile(`runtime error|reflect:|json: (cannot|unknown|invalid|unsupp|error)|strconv\.|invalid UTF-8|proto:|\bEOF\b|grpc:|rpc error|invalid character|goroutine|<nil>|%!|nil pointer|\bopen /|\.go:|cannot unmarshal|0x[0-9a-f]{6}|panic|context (canceled|deadline)|yaml|cardinality`)

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// rawCall sends messages as they are and returns how the call ends.
func rawCall(t testing.TB, conn *grpc.ClientConn, method string, messages ...[]byte) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/"+flightService+"/"+method, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if stream.SendMsg(m) != nil {
			break
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for {
		var reply []byte
		if err := stream.RecvMsg(&reply); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// marshal is a message of Flight's on the wire.
func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantWords fails unless an error is one that a caller can act on.
func wantWords(t testing.TB, what string, err error) {
	t.Helper()
	f := protocol.FaultOf(err)
	if f == nil {
		t.Errorf("%s: it is accepted", what)
		return
	}
	if said := status.Convert(err).Message(); goText.MatchString(said) && !strings.HasPrefix(said, "grpc: received message larger than max") {
		t.Errorf("%s: %.300s", what, said) // but for what gRPC says before the service is asked
	}
	may := []codes.Code{codes.InvalidArgument, codes.NotFound, codes.Unimplemented, codes.ResourceExhausted, codes.PermissionDenied}
	if !slices.Contains(may, f.StatusCode()) || f.Reason == "" || f.Message == "" || goText.MatchString(f.Message) || len(f.Message) > 1000 || strings.Contains(f.Message, "\n") {
		t.Errorf("%s: %s, reason %q: %.300s", what, f.Code, f.Reason, f.Message)
	}
}

// broken are messages that are none of Flight's, or hold nothing that can be used.
func broken(t testing.TB, good []byte) map[string][]byte {
	return map[string][]byte{
		"a tag alone":         {0x0a},
		"a length too long":   {0x0a, 0xff, 0xff, 0xff, 0x7f},
		"a varint too long":   bytes.Repeat([]byte{0xff}, 20),
		"group":               {0x0b, 0x0b},
		"no UTF-8":            {0x0a, 0x02, 0xff, 0xfe, 0x1a, 0x02, 0xff, 0xfe},
		"zeros":               make([]byte, 100),
		"the mark":            mark(),
		"text":                []byte("GET / HTTP/1.1\r\n\r\n"),
		"cut short":           good[:len(good)-1],
		"cut shorter":         good[:len(good)/2+1],
		"a message, and more": append(slices.Clone(good), 0xff),
	}
}

// Whatever a caller sends, the answer says in words what is wrong, with a code and a
// reason that a program can act on.
func TestMalformedMessages(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true, Config: Config{Limits: protocol.Limits{MessageBytes: 1 << 20}}})
	conn := dial(t, l.target)
	put := marshal(t, &flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(`{"solvers":["bcd"]}`)}})
	large := marshal(t, &flight.FlightData{DataBody: make([]byte, 2<<20)})
	for method, good := range map[string][]byte{
		"DoGet":         marshal(t, &flight.Ticket{Ticket: []byte(`{"run":"x"}`)}),
		"DoAction":      marshal(t, &flight.Action{Type: protocol.ActionWatch, Body: []byte(`{"run":"x"}`)}),
		"ListFlights":   marshal(t, &flight.Criteria{Expression: []byte(`{"run":"x"}`)}),
		"GetFlightInfo": marshal(t, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"x"}}),
		"GetSchema":     marshal(t, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"x"}}),
		"DoPut":         put,
		"DoExchange":    put,
	} {
		wantWords(t, method+", an unknown run, or no table", rawCall(t, conn, method, good))
		wantWords(t, method+", no message", rawCall(t, conn, method))
		for what, message := range broken(t, good) {
			if method == "ListFlights" && what == "zeros" {
				continue // fields of a later version
			}
			wantWords(t, method+", "+what, rawCall(t, conn, method, message))
		}
		wantWords(t, method+", large", rawCall(t, conn, method, large))
	}
	// A little too large is told by the service itself, whatever the client.
	err := rawCall(t, conn, "DoPut", put, marshal(t, &flight.FlightData{DataHeader: []byte("x"), DataBody: make([]byte, 1<<20)}))
	if s := status.Convert(err); s.Code() != codes.ResourceExhausted || !strings.Contains(s.Message(), "max_chunksize") || len(s.Details()) == 0 {
		t.Errorf("a message of little more than the limit: %v", err)
	}
	for _, method := range []string{"PollFlightInfo", "DoNothing", "", "DoGet/x"} {
		wantWords(t, "method "+method, rawCall(t, conn, method, nil))
	}
	for what, message := range broken(t, put) {
		wantWords(t, "DoPut, then "+what, rawCall(t, conn, "DoPut", put, message))
	}
	header := func(b []byte) []byte { return marshal(t, &flight.FlightData{DataHeader: b, DataBody: []byte{1, 2, 3}}) }
	for what, b := range map[string][]byte{"x": []byte("x"), "zeros": make([]byte, 64), "noise": bytes.Repeat([]byte{0xa5, 3, 0, 0}, 50), "ones": bytes.Repeat([]byte{0xff}, 300)} {
		wantWords(t, "DoPut, a header of "+what, rawCall(t, conn, "DoPut", put, header(b)))
		wantWords(t, "DoExchange, a header of "+what, rawCall(t, conn, "DoExchange", put, header(b)))
	}
	for _, after := range [][]byte{large, {0x0a}} {
		rawCall(t, conn, "DoPut", put, after)
	}
	for range 3 { // and one who hangs up, or stops in the middle of a message
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/"+flightService+"/DoPut", grpc.ForceCodecV2(rawCodec{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.SendMsg(put); err != nil {
			t.Fatal(err)
		}
		var reply []byte
		if err := stream.RecvMsg(&reply); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	raw := dialFrom(t, "127.0.0.1", l.target)
	message := wire.BigEndian.AppendUint32([]byte{0}, uint32(len(put)))
	message = append(append(message, put...), 0, 0, 0, 1, 0)
	begun := preface + string(frame(settings, 0, 0, nil)) + string(frame(frameHeaders, 4, 1, headers("DoPut"))) + string(frame(frameData, 1, 1, message))
	if _, err := io.WriteString(raw, begun); err != nil {
		t.Fatal(err)
	}
	awaitTrailers(t, raw)
	eventually(t, "runs are at work", func() bool { return l.service.Stats().Running == 0 })
	// What the service tells of the runs later is no other.
	runs := l.service.runs.List("")
	for _, r := range runs {
		if f := r.Info().Error; f != nil && (goText.MatchString(f.Message) || f.Reason == "") {
			t.Errorf("a run has failed with %s, %q: %s", f.Code, f.Reason, f.Message)
		}
	}
	if len(runs) < 10 {
		t.Errorf("there were %d runs", len(runs))
	}
}

// bodies are JSON that is none, or has other types than a message.
var bodies = []string{
	"", " ", "null", "true", "7", `"x"`, "[]", "{", "}", `{"run"`, `{"run":`, `{"run":}`, `{"run":7}`, `{"run":[]}`, `{"run":{}}`, `{"run":null}`, `{"run":true}`,
	`{"run":"x"`, `{"run":"x"}}`, `{"run":"x"} {}`, `{"rnu":"x"}`, `{"run":"x","more":1}`, `{"run":"\u0000"}`, "{\"run\":\"\xff\"}", `{"run":"x",}`, "\xff\xfe", "\x00",
	`{"run":1e999}`, `{"run":"` + strings.Repeat("x", 100_000) + `"}`, `{"` + strings.Repeat("x", 100_000) + `":1}`, strings.Repeat("[", 100_000), strings.Repeat(`{"run":`, 20_000), "run: x", "<run/>", "NaN",
}

func TestMalformedBodies(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true})
	conn := dial(t, l.target)
	short := func(s string) string { return fmt.Sprintf("%.40q", s) }
	for _, body := range bodies {
		b := []byte(body)
		for _, name := range []string{protocol.ActionWatch, protocol.ActionResult, protocol.ActionCancel, protocol.ActionForget, protocol.ActionRecover} {
			wantWords(t, name+" "+short(body), rawCall(t, conn, "DoAction", marshal(t, &flight.Action{Type: name, Body: b})))
		}
		if !strings.HasPrefix(body, "{") || !json.Valid(b) { // others are jobs with an unknown key
			wantWords(t, "validate "+short(body), rawCall(t, conn, "DoAction", marshal(t, &flight.Action{Type: protocol.ActionValidate, Body: b})))
		}
		wantWords(t, "DoGet "+short(body), rawCall(t, conn, "DoGet", marshal(t, &flight.Ticket{Ticket: b})))
		if body != "" && body != `{"run":null}` { // both ask for all runs
			wantWords(t, "ListFlights "+short(body), rawCall(t, conn, "ListFlights", marshal(t, &flight.Criteria{Expression: b})))
		}
		for _, d := range []*flight.FlightDescriptor{
			{Type: flight.DescriptorCMD, Cmd: b}, {Cmd: b}, {Type: flight.DescriptorPATH, Cmd: b}, {Type: 99, Cmd: b}, {Type: -1, Cmd: b},
			{Type: flight.DescriptorPATH, Path: []string{strings.ToValidUTF8(body, "?")}}, {Type: flight.DescriptorPATH, Path: make([]string, 1000)},
		} {
			what := short(fmt.Sprint(d.Type, d.Path, body))
			for _, method := range []string{"GetFlightInfo", "GetSchema"} {
				wantWords(t, method+" "+what, rawCall(t, conn, method, marshal(t, d)))
			}
			for _, method := range []string{"DoPut", "DoExchange"} {
				wantWords(t, method+" "+what, rawCall(t, conn, method, marshal(t, &flight.FlightData{FlightDescriptor: d})))
			}
		}
		wantWords(t, "action "+short(body), rawCall(t, conn, "DoAction", marshal(t, &flight.Action{Type: strings.ToValidUTF8(body, "?")})))
	}
}

// Every field of a job with values of every type.
func TestMalformedJobs(t *testing.T) {
	l := listening(t, ListenConfig{Insecure: true})
	conn := dial(t, l.target)
	values := []string{
		`""`, `"x"`, `" "`, `"\u0000"`, `"-1"`, `"1e999"`, `"NaN"`, "-1", "-0.5", "1e999", "1e400", "99999999999999999999", "0.1", "1", "true", "[]", "{}", `[""]`, `[null]`, `[[1]]`, `[{}]`, `["x","x"]`, "[1,true]",
		`{"a":1}`, "\"\xff\"", `"` + strings.Repeat("x", 10_000) + `"`, `"/no/such\u0000file"`, `"://"`, `"s3://"`, `"http://%zz"`, `"../../.."`,
	}
	answered := 0
	for _, f := range job.Fields(&job.Job{}, job.Facts{}) {
		for _, v := range values {
			text := fmt.Sprintf("{%q:%s}", f.Key, v)
			for _, name := range []string{protocol.ActionValidate, protocol.ActionRecover} {
				reply, err := flighttest.RawAction(t.Context(), conn, name, []byte(text))
				switch {
				case err == nil && name == protocol.ActionValidate:
					continue // it is a job, as far as one can see
				case err == nil && f.Key == "input":
					_, err = flighttest.RawAction(t.Context(), conn, protocol.ActionResult, reply)
				}
				answered++
				wantWords(t, name+fmt.Sprintf(" %.100s", text), err)
			}
		}
	}
	if answered < 500 {
		t.Errorf("%d jobs are refused", answered)
	}
}
