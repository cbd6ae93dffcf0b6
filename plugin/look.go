package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// Look says what a table of samples is, whatever is missing or constant in it, and how to
// recover a network from it: Job of the answer is the job to run. Of j it takes how the
// table is read, the correlation and the model; the other fields come back in Job. The
// table is samples, which are read to their end, or with nil the file or URL that j.Input
// names. The service holds it to the limits of a run, which ends with ctx.
func (c *Client) Look(ctx context.Context, j job.Job, samples array.RecordReader) (*job.Look, error) {
	if samples == nil {
		look, err := answer[job.Look](ctx, c, protocol.ActionLook, j)
		if err != nil {
			return nil, err
		}
		return &look, nil
	}
	to, err := stream(j)
	if err != nil {
		return nil, err
	}
	var answers [][]byte
	err = c.ask(ctx, []string{protocol.PathLook, string(to.Cmd)}, samples, func(b []byte) error {
		answers = append(answers, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	look, err := only[job.Look](protocol.PathLook, answers)
	if err != nil {
		return nil, err
	}
	return &look, nil
}

// Draw writes a picture of a list of edges to w: a File whose name, such as network.svg,
// says whether it is SVG or PNG. edges have the columns source, target and, if any, score
// and sign, best first; they are read to their end. With an error a part of the picture
// may have been written.
func (c *Client) Draw(ctx context.Context, w io.Writer, f protocol.File, edges array.RecordReader) error {
	if edges == nil {
		return errors.New("plugin: there are no edges to draw; Run.File draws those of a run")
	}
	document, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("plugin: the file: %w", err)
	}
	return c.ask(ctx, []string{protocol.PathDraw, string(document)}, edges, func(b []byte) error {
		_, err := w.Write(b)
		return err
	})
}

// ask streams a table to a path of DoPut and gives every answer to take, whose error ends
// the call.
func (c *Client) ask(ctx context.Context, path []string, table array.RecordReader, take func([]byte) error) error {
	ctx, cancel, err := c.beginCause(ctx)
	if err != nil {
		return err
	}
	defer cancel(nil)
	stream, err := c.flights.DoPut(ctx)
	if err != nil {
		return c.explain(ctx, err)
	}
	if !c.enter() {
		return context.Cause(c.alive)
	}
	sent := make(chan error, 1)
	go func() {
		defer c.work.Done()
		to := &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: path}
		sent <- c.send(ctx, &upload{stream: stream}, to, table, cancel)
	}()
	for {
		answer, err := stream.Recv()
		if err == nil {
			if err = take(answer.GetAppMetadata()); err == nil {
				continue
			}
			cancel(err)
			<-sent
			return err
		}
		if err == io.EOF {
			err = nil
		}
		return c.outcome(ctx, err, <-sent)
	}
}

// Report waits for the end of the run and writes its page to w: report.html, one HTML file
// that loads nothing. It is there for a run that has failed, too, if that came to its
// solvers.
func (r *Run) Report(ctx context.Context, w io.Writer) error {
	return r.File(ctx, w, protocol.File{File: protocol.FileReport})
}

// File writes a file made of the run's results to w: its page, or a solver's list of edges
// as a picture or in another format. See protocol.File for the names; f.Run is r's. With an
// error a part of the file may have been written.
func (r *Run) File(ctx context.Context, w io.Writer, f protocol.File) error {
	f.Run = r.id.Run
	ctx, done, err := r.client.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	stream, err := r.client.startAction(ctx, protocol.ActionFile, f)
	if err != nil {
		return err
	}
	for {
		piece, err := stream.Recv()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return r.client.explain(ctx, err)
		}
		if _, err := w.Write(piece.GetBody()); err != nil {
			return err
		}
	}
}
