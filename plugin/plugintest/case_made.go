package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// made is a file of a run, whole.
func (s *service) made(ctx context.Context, f protocol.File) ([]byte, error) {
	pieces, err := s.act(ctx, protocol.ActionFile, f)
	return bytes.Join(pieces, nil), err
}

// loading finds what a page would load from elsewhere: an element or a style that names a
// place outside of the page.
var loading = regexp.MustCompile(`(?i)(?:\b(?:src|srcset|href|action|poster|data)\s*=\s*["']?|url\(\s*["']?|@import\s*["']?)\s*(?:[a-z][a-z0-9+.-]*:)?//[^"'\s>)]*`)

// A run gives its page, which loads nothing, and its edges as pictures and for other
// programs; a list of edges that is sent is drawn.
func makesFiles(t *testing.T, k *kit) {
	s := k.start(t)
	ctx := soon(t)
	of := chain(34, 6, 300)
	run, err := s.put(ctx, quick().command(), of.plain())
	fatal(t, "DoPut", err)
	page, err := s.made(ctx, protocol.File{Run: run.Run, File: protocol.FileReport})
	fatal(t, "the action file of "+protocol.FileReport, err)
	if !bytes.HasPrefix(bytes.ToLower(page), []byte("<!doctype html>")) || !bytes.Contains(page, []byte("</html>")) {
		t.Errorf("the page of a run must be one HTML document, whole; it begins with %.100q", page)
	}
	if outside := loading.Find(page); outside != nil {
		t.Errorf("the page of a run must load nothing, and it has %.200q", outside)
	}
	for _, name := range of.names {
		if !bytes.Contains(page, []byte(name)) {
			t.Errorf("the page of a run must name its variables, and %q is not there", name)
		}
	}

	records, err := s.get(ctx, protocol.Ticket{Run: run.Run})
	fatal(t, "DoGet", err)
	edges := edgesOf(t, records)
	for format, count := range map[string]func([]byte) (int, error){
		"graphml": func(b []byte) (int, error) { return elements(b, "edge") },
		"cyjs": func(b []byte) (int, error) {
			var network struct {
				Elements struct{ Edges []any } `json:"elements"`
			}
			err := json.Unmarshal(b, &network)
			return len(network.Elements.Edges), err
		},
		"sif": func(b []byte) (int, error) { return strings.Count(string(b), "\n"), nil },
		"csv": func(b []byte) (int, error) { return strings.Count(string(b), "\n") - 1, nil },
		"svg": func(b []byte) (int, error) {
			if _, err := elements(b, "path"); err != nil {
				return 0, err
			}
			return len(edges), nil
		},
		"png": func(b []byte) (int, error) {
			_, err := png.Decode(bytes.NewReader(b))
			return len(edges), err
		},
	} {
		file := "bcd.edges." + format
		data, err := s.made(ctx, protocol.File{Run: run.Run, File: file})
		fatal(t, "the action file of "+file, err)
		if n, err := count(data); err != nil || n != len(edges) {
			t.Errorf("the file %s must have the run's %d edges; it has %d (%v): %.200q", file, len(edges), n, err, data)
		}
	}
	drawing := protocol.File{File: "x.svg", Top: 2, NoLabels: true}
	pieces, err := s.ask(ctx, []string{protocol.PathDraw, string(text(drawing))}, records...)
	fatal(t, "DoPut to the path draw", err)
	sent := bytes.Join(pieces, nil)
	drawing.Run, drawing.File = run.Run, "bcd.edges.svg"
	own, err := s.made(ctx, drawing)
	fatal(t, "the action file of a picture", err)
	if _, err := elements(sent, "path"); err != nil || !bytes.Equal(sent, own) {
		t.Errorf("a list that is sent must be drawn as the run's own is; its picture is %.200q (%v)", sent, err)
	}

	for _, file := range []string{"", "report", "../report.html", "bcd.edges", "bcd.edges.gif", "glad.edges.svg", "bcd.precision.svg"} {
		_, err := s.made(ctx, protocol.File{Run: run.Run, File: file})
		notFound().check(t, fmt.Sprintf("the action file of %q", file), err)
	}
	for _, name := range []string{"nobody", ""} {
		_, err := s.made(ctx, protocol.File{Run: name, File: protocol.FileReport})
		notFound().check(t, fmt.Sprintf("the action file of the run %q, which never was,", name), err)
	}
	_, err = s.made(ctx, protocol.File{Run: run.Run, File: "bcd.edges.svg", Top: -1})
	field("top").check(t, "a picture of -1 edges", err)
	_, err = s.ask(ctx, []string{protocol.PathDraw, `{"file": "x.gif"}`}, records...)
	invalid(protocol.ReasonInvalidCall).check(t, "a picture that is neither SVG nor PNG", err)
	_, err = s.ask(ctx, []string{protocol.PathDraw, `{"file": "x.svg"}`}, records[0].NewSlice(0, 0))
	invalid(protocol.ReasonInvalidTable).check(t, "a picture of no edges", err)

	endless, err := s.put(ctx, endless("bcd").command(), chain(17, 300, 100).lists())
	fatal(t, "DoPut", err)
	_, err = answer[protocol.RunInfo](ctx, s, protocol.ActionCancel, endless)
	fatal(t, "the action cancel", err)
	_, err = s.made(ctx, protocol.File{Run: endless.Run, File: "bcd.edges.svg"})
	refusal{codes: []codes.Code{codes.Canceled}, reason: protocol.ReasonCancelled}.check(t, "a picture of edges that a cancelled run has not come to", err)
	s.lives(t, "files of runs")
}

// elements is how many elements of a name XML has.
func elements(data []byte, name string) (n int, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			n++
		}
	}
}

// The page of a host's run, by package plugin.
func reports(t *testing.T, k *kit) {
	c := k.launch(t)
	ctx := soon(t)
	run, err := c.Recover(ctx, job.Job{Solvers: []string{"bcd"}, Penalty: "0.2"}, reader(chain(35, 5, 100).lists()))
	fatal(t, "Recover", err)
	var page bytes.Buffer
	fatal(t, "Run.Report", run.Report(ctx, &page))
	if !bytes.Contains(page.Bytes(), []byte("</html>")) {
		t.Errorf("the page of a run must be whole; it ends with %.100q", page.Bytes()[max(0, page.Len()-100):])
	}
	l, err := c.Look(ctx, job.Job{}, reader(chain(35, 5, 100).lists()))
	fatal(t, "Client.Look", err)
	if l.Input.Samples != 100 || l.Input.Variables != 5 {
		t.Errorf("a look must say that there are 100 samples of 5 variables; it says %+v", l.Input)
	}
}
