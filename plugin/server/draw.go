package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/pipelines/drawing"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/pipelines/table"
	"github.com/gladflow/gladflow/plugin/protocol"
	"github.com/gladflow/gladflow/plugin/server/internal/fault"
	"github.com/gladflow/gladflow/plugin/server/internal/runs"
)

// What a file is made with, in bytes: itself, and every line of a list.
const (
	fileBytes = 16 << 20
	lineBytes = 200
)

// fileShape is a protocol.File.
const fileShape = `{"run": …, "file": …}`

// runFile sends a file that is made of the results of a run.
func (s *Service) runFile(body []byte, stream flight.FlightService_DoActionServer) error {
	var f protocol.File
	if err := decode(body, &f, fileShape); err != nil {
		return err
	}
	ctx := stream.Context()
	r, err := s.find(ctx, f.Run)
	if err != nil {
		return err
	}
	defer s.runs.Hold(r)()
	to := bufio.NewWriterSize(pieceWriter(func(piece []byte) error { return stream.Send(&flight.Result{Body: piece}) }), pieceBytes)
	if f.File == protocol.FileReport {
		shown, err := r.WaitPage(ctx)
		if err != nil {
			return err
		}
		return s.makeFile(ctx, r, 0, to, s.inTurn(ctx, shown.Encode))
	}
	solver, format, found := strings.Cut(f.File, "."+protocol.TableEdges+".")
	if !found || pictureOf(f) == "" && !isEdgeFormat(format) {
		return fault.New(codes.NotFound, protocol.ReasonNotFound, "there is no file %q of a run; ask for %s, or for SOLVER.%s.FORMAT with the format %s, svg or png",
			f.File, protocol.FileReport, protocol.TableEdges, strings.Join(arrowio.EdgeFormats().Names(), ", "))
	}
	if _, err := resolve(r, protocol.Ticket{Run: f.Run, Table: protocol.TableEdges, Solver: solver}); err != nil {
		return err
	}
	tables, err := r.WaitTables(ctx, solver)
	if err != nil {
		return err
	}
	edges := tables[protocol.TableEdges]
	encode := func(w io.Writer) error {
		columns, metadata, err := arrowio.ColumnsOf(edges)
		if err != nil {
			return err
		}
		return arrowio.EdgeFormats().For(format).Encode(w, columns, metadata)
	}
	if pictureOf(f) != "" {
		encode = s.inTurn(ctx, func(w io.Writer) error { return drawEdges(ctx, f, edges, w) })
	}
	return s.makeFile(ctx, r, edges.NumRows(), to, encode)
}

// makeFile has a file of so many lines of a run's results encoded, in memory that is
// reserved for it.
func (s *Service) makeFile(ctx context.Context, r *runs.Run, lines int64, to *bufio.Writer, encode func(io.Writer) error) error {
	release, err := s.runs.Reserve(s.caller(ctx), fileBytes+lineBytes*lines)
	if err != nil {
		return err
	}
	defer release()
	r.MarkTaken()
	if err := encode(to); err != nil {
		return ofList(ctx, err)
	}
	return to.Flush()
}

// inTurn encodes what takes long when its turn has come, and whole before any of it is
// sent: a caller that takes its time holds up no other.
func (s *Service) inTurn(ctx context.Context, encode func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		end, err := s.runs.AwaitTurn(ctx, s.caller(ctx))
		if err != nil {
			return err
		}
		var whole bytes.Buffer
		err = func() error {
			defer end()
			return encode(&whole)
		}()
		if err == nil {
			_, err = whole.WriteTo(w)
		}
		return err
	}
}

// isEdgeFormat says whether lists of edges are written in a format of that name.
func isEdgeFormat(name string) bool {
	_, err := arrowio.EdgeFormats().Find(name)
	return err == nil
}

// pictureOf is the format of the picture that a file is; empty if it is none.
func pictureOf(f protocol.File) string { return job.Drawing{Out: f.File}.Picture() }

// asDrawing is the drawing of a list that is streamed.
func asDrawing(f protocol.File) job.Drawing {
	return job.Drawing{EdgeList: streamed, Out: f.File, Top: f.Top, Theme: f.Theme, NoLabels: f.NoLabels}
}

// drawEdges draws a table of edges.
func drawEdges(ctx context.Context, f protocol.File, edges arrow.Record, to io.Writer) error {
	if edges.NumRows() == 0 {
		return fault.Call("the list of edges is empty, so there is nothing to draw; ask for %s", protocol.FileReport)
	}
	records, err := array.NewRecordReader(edges.Schema(), []arrow.Record{edges})
	if err != nil {
		return err
	}
	defer records.Release()
	_, err = drawing.Encode(ctx, asDrawing(f), table.Files{Records: records}, to)
	return err
}

// drawing makes a request one that draws the list of edges that the call streams. answer
// sends the picture when the run has ended well.
func (s *Service) drawing(q *runs.Request, document []byte, stream flight.FlightService_DoPutServer) (answer func() error, err error) {
	var f protocol.File
	if err := decode(document, &f, `{"file": "NAME.svg"}`); err != nil {
		return nil, err
	}
	if f.Run != "" {
		return nil, fault.Call("the list of edges is streamed, and a run is named too; leave run out, or take the picture of the run by the action %s", protocol.ActionFile)
	}
	if pictureOf(f) == "" {
		return nil, fault.Call("file: %q is no picture; give a name that ends in .svg or .png", f.File)
	}
	if err := asDrawing(f).Validate(); err != nil {
		return nil, fault.Of(context.Background(), err)
	}
	var picture bytes.Buffer
	q.Job = job.Job{Input: streamed}
	q.Work = func(ctx context.Context, host recovery.Host) error {
		reserved := int64(0)
		reserve := func(more int64) error {
			err := host.Memory.Reserve(more)
			if err == nil {
				reserved += more
			}
			return err
		}
		defer func() { host.Memory.Release(reserved) }()
		if err := reserve(fileBytes); err != nil {
			return err
		}
		host.Files.Limits.Reserve = reserve
		_, err := drawing.Encode(ctx, asDrawing(f), host.Files, &picture)
		return ofList(ctx, err)
	}
	return func() error {
		_, err := picture.WriteTo(pieceWriter(func(piece []byte) error { return stream.Send(&flight.PutResult{AppMetadata: piece}) }))
		return err
	}, nil
}

// ofList makes an error of a list of edges one of the table that a call streams.
func ofList(ctx context.Context, err error) error {
	var wrong *job.Error
	if errors.As(err, &wrong) && wrong.Field == "edge_list" {
		named := *wrong
		named.Field = "input"
		err = &named
	}
	if err == nil {
		return nil
	}
	return fault.Of(ctx, err)
}

// pieceBytes is the size of a piece of a file that is sent.
const pieceBytes = 1 << 20

// A pieceWriter sends what is written in pieces.
type pieceWriter func(piece []byte) error

// Write implements io.Writer.
func (send pieceWriter) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		piece := p[n:min(len(p), n+pieceBytes)]
		if err = send(piece); err == nil {
			n += len(piece)
		}
	}
	return n, err
}
