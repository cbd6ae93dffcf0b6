package drawing_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	_ "image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gladflow/gladflow/pipelines/drawing"
	"github.com/gladflow/gladflow/pipelines/internal/testtable"
	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/pipelines/table"
)

const list = "source,target,score,sign\n<script>,b&c,0.9,1\nb&c,d,0.8,-1\nd,\"e\x1b[31m\",0.5,1\nd,b&c,0.4,1\nx,x,0.3,1\n"

// picture draws a list, and returns the bytes.
func picture(t *testing.T, d job.Drawing) ([]byte, *drawing.Result) {
	t.Helper()
	r, err := drawing.Run(t.Context(), d, table.Files{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(d.Out)
	if err != nil {
		t.Fatal(err)
	}
	return data, r
}

// The picture is sound XML with the names as text, whatever they hold, the same every time,
// and as many lines as edges.
func TestSVG(t *testing.T) {
	path := testtable.File(t, "l.csv", list)
	for _, theme := range []string{"", "light", "dark"} {
		d := job.Drawing{EdgeList: path, Out: filepath.Join(t.TempDir(), "new", "x.svg"), Theme: theme}
		text, r := picture(t, d)
		// The edges of b&c and d are two, since the list does not say that they have no direction.
		if r.Lines != 5 || r.Edges != 4 || r.Variables != 4 || r.File.Name != d.Out || r.File.Bytes != int64(len(text)) {
			t.Errorf("%+v", r)
		}
		var words []string
		dec := xml.NewDecoder(bytes.NewReader(text))
		for {
			token, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
				words = append(words, strings.TrimSpace(string(c)))
			}
		}
		all := strings.Join(words, "|")
		for _, want := range []string{"<script>", "b&c", "e?[31m", "4 strongest of 4 edges, 4 variables", "blue: positive, dashed orange: negative", "l.csv"} {
			if !strings.Contains(all, want) {
				t.Errorf("%q is not in %q", want, all)
			}
		}
		if again, _ := picture(t, d); !bytes.Equal(text, again) {
			t.Error("the picture is another the second time")
		}
		if dark := bytes.Contains(text, []byte("#14171D")); dark != (theme == "dark") {
			t.Errorf("theme %q: dark is %v", theme, dark)
		}
		d.NoLabels, d.Top = true, 1
		if text, r = picture(t, d); bytes.Contains(text, []byte("script")) || r.Edges != 1 || r.Variables != 2 {
			t.Errorf("without labels: %+v", r)
		}
	}
}

func TestPNG(t *testing.T) {
	var b strings.Builder
	b.WriteString("source,target,score,precision,partial_correlation,sign\n")
	for k := range 60 {
		fmt.Fprintf(&b, "v%d,v%d,%g,1,%g,%d\n", k%7, 7+k, 1/float64(2+k), 1/float64(2+k), 1-2*(k%2))
	}
	data, r := picture(t, job.Drawing{EdgeList: testtable.File(t, "l.csv", b.String()), Out: filepath.Join(t.TempDir(), "x.png"), Top: 50})
	img, format, err := image.Decode(bytes.NewReader(data))
	if err != nil || format != "png" || r.Edges != 50 || img.Bounds().Dx() < 1000 {
		t.Fatalf("%s %v, %+v, %v", format, img.Bounds(), r, err)
	}
	blue := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, _, b, _ := img.At(x, y).RGBA(); b > r+0x4000 {
				blue++
			}
		}
	}
	if blue < 500 {
		t.Errorf("%d blue points for 25 positive edges", blue)
	}
}

// What cannot be drawn is one sentence, and leaves no file.
func TestRefused(t *testing.T) {
	good, folder := testtable.File(t, "l.csv", list), t.TempDir()
	for field, d := range map[string]job.Drawing{
		"edge_list": {EdgeList: testtable.File(t, "l.csv", "source,target,score\na,a,1\n"), Out: filepath.Join(folder, "x.svg")},
		"out":       {EdgeList: good, Out: filepath.Join(folder, "x.pdf")},
		"top":       {EdgeList: good, Out: filepath.Join(folder, "x.svg"), Top: 3001},
		"theme":     {EdgeList: good, Out: filepath.Join(folder, "x.svg"), Theme: "blue"},
	} {
		_, err := drawing.Run(t.Context(), d, table.Files{})
		if wrong := new(job.Error); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
}
