package server

import (
	"bytes"
	"context"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// fileOf is a file of a run, whole.
func fileOf(ctx context.Context, c flight.Client, f protocol.File) ([]byte, error) {
	pieces, err := act(ctx, c, protocol.ActionFile, string(encode(f)))
	return bytes.Join(pieces, nil), err
}

// A run gives its page and its edges in every format, with the same edges in each, and
// pictures of them, which are drawn from a list that is sent in the same way.
func TestFilesOfARun(t *testing.T) {
	s, c := served(t, Config{})
	ctx := bg(t)
	id, err := put(ctx, t, c, `{"solvers":["bcd","spectral"],"penalty":0.1}`, sampled(t, 6, 200))
	if err != nil {
		t.Fatal(err)
	}
	page, err := fileOf(ctx, c, protocol.File{Run: id, File: protocol.FileReport})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!DOCTYPE html>", "Samples streamed by the caller", "gene3", "Convergence", "spectral", "default-src &#39;none&#39;"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	edges, err := get(ctx, c, protocol.Ticket{Run: id, Solver: "bcd"})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range arrowio.EdgeFormats().Names() {
		data, err := fileOf(ctx, c, protocol.File{Run: id, File: "bcd.edges." + format})
		if err != nil {
			t.Fatal(format, err)
		}
		path := filepath.Join(t.TempDir(), "bcd.edges."+format)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := arrowio.ReadEdges(ctx, path, arrowio.ListOptions{})
		if err != nil || list.Len() != int(edges[0].NumRows()) {
			t.Errorf("%s: %v, %v", format, list, err)
		}
	}
	svg, err := fileOf(ctx, c, protocol.File{Run: id, File: "bcd.edges.svg", Top: 2, Theme: "dark"})
	if err != nil || !bytes.Contains(svg, []byte("<svg")) || !bytes.Contains(svg, []byte("2 strongest of")) {
		t.Errorf("%.300s, %v", svg, err)
	}
	answers, err := putTo(ctx, t, c, edges[0], protocol.PathDraw, `{"file":"x.svg","top":2,"theme":"dark"}`)
	if err != nil || !bytes.Equal(bytes.Join(answers, nil), svg) {
		t.Errorf("a list that is sent is drawn in another way: %v", err)
	}
	picture, err := fileOf(ctx, c, protocol.File{Run: id, File: "spectral.edges.png"})
	if _, bad := png.Decode(bytes.NewReader(picture)); err != nil || bad != nil {
		t.Errorf("%v, %v", err, bad)
	}
	if taken, bytes := s.runs.Reserved(), s.Stats().ResultBytes; taken != bytes {
		t.Errorf("%d bytes are reserved, results have %d", taken, bytes)
	}

	for file, want := range map[string]string{
		"page.html": "ask for report.html, or for SOLVER.edges.FORMAT", "bcd.edges.gif": "svg or png", "bcd.svg": "svg or png",
		"glad.edges.svg": `solver "glad" is not one of the job's`, "": "svg or png",
	} {
		_, err := fileOf(ctx, c, protocol.File{Run: id, File: file})
		if f := wantFault(t, err, codes.NotFound, protocol.ReasonNotFound, ""); !strings.Contains(f.Message, want) {
			t.Errorf("%q: %s", file, f.Message)
		}
	}
	_, err = fileOf(ctx, c, protocol.File{Run: id, File: "bcd.edges.svg", Top: 4000})
	wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, "top")
	_, err = act(ctx, c, protocol.ActionFile, `{"run":"`+id+`"`)
	wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidCall, "")
}

// What cannot be drawn is refused.
func TestDrawRefused(t *testing.T) {
	_, c := served(t, Config{})
	ctx := bg(t)
	list := func(score float64) arrow.Record {
		r, err := arrowio.NewRecord([]arrowio.Column{{Name: "source", Values: []string{"a", "b"}}, {Name: "target", Values: []string{"b", "b"}}, {Name: "score", Values: []float64{score, 0.5}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if answers, err := putTo(ctx, t, c, list(1), protocol.PathDraw, `{"file":"x.svg"}`); err != nil || !bytes.Contains(bytes.Join(answers, nil), []byte(">Network<")) {
		t.Errorf("%v", err)
	}
	for document, field := range map[string]string{`{"file":"x.svg","top":-1}`: "top", `{"file":"x.svg","theme":"pink"}`: "theme"} {
		_, err := putTo(ctx, t, c, list(1), protocol.PathDraw, document)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidJob, field)
	}
	for _, document := range []string{``, `{"file":"x.gif"}`, `{"file":"x.svg","run":"x"}`, `{"file":"x.svg","edge_list":"x"}`} {
		_, err := putTo(ctx, t, c, list(1), protocol.PathDraw, document)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidCall, "")
	}
	for _, table := range []arrow.Record{list(1).NewSlice(1, 2), list(1).NewSlice(0, 0), list(math.NaN()), sampled(t, 3, 10)} {
		_, err := putTo(ctx, t, c, table, protocol.PathDraw, `{"file":"x.svg"}`)
		wantFault(t, err, codes.InvalidArgument, protocol.ReasonInvalidTable, "input")
	}
}

// The page of a run that there is no room for is said to be missing, and its tables are
// there.
func TestPageIsMissing(t *testing.T) {
	_, c := served(t, Config{Limits: protocol.Limits{ResultBytes: 4000}})
	ctx := bg(t)
	id, err := put(ctx, t, c, quickJob, sampled(t, 6, 100))
	if err != nil {
		t.Fatal(err)
	}
	_, err = fileOf(ctx, c, protocol.File{Run: id, File: protocol.FileReport})
	wantFault(t, err, codes.ResourceExhausted, protocol.ReasonLimit, "")
	if _, err := get(ctx, c, protocol.Ticket{Run: id}); err != nil {
		t.Error(err)
	}
}
