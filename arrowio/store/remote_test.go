package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gladflow/gladflow/arrowio"
	"github.com/gladflow/gladflow/arrowio/internal/arrowtest"
)

// An objectServer holds objects by their paths and speaks as much of HTTP, S3,
// GCS and Azure as reading takes.
type objectServer struct {
	*httptest.Server
	objects map[string]string
	// answers are statuses, with S3's and Azure's words, for paths that cannot be read.
	answers map[string]answered

	mu      sync.Mutex
	authors []string // the Authorization of requests
}

type answered struct {
	status int
	code   string
}

func serveObjects(t *testing.T) *objectServer {
	s := &objectServer{
		objects: make(map[string]string),
		answers: map[string]answered{
			"denied.csv": {403, "AccessDenied"}, "unknown.csv": {401, ""}, "gone.csv": {410, ""}, "teapot.csv": {418, "Teapot"},
			"elsewhere.csv": {301, "PermanentRedirect"}, "broken.csv": {501, "NotImplemented"},
		},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *objectServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.authors = append(s.authors, r.Header.Get("Authorization"))
	s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/storage/v1/b/bucket/o") // of GCS
	path = strings.TrimPrefix(path, "/account")                      // of Azure
	key := strings.TrimPrefix(path, "/bucket")
	key = strings.TrimPrefix(key, "/")
	if body, ok := s.objects[key]; ok {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		if key == "short.csv" {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)+1000))
		}
		fmt.Fprint(w, body)
		return
	}
	if key == "stalls.csv" {
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		fmt.Fprint(w, "x,y\n1,2\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	a, ok := s.answers[key]
	if !ok {
		a = answered{404, "NoSuchKey"}
	}
	w.Header().Set("x-ms-error-code", a.code)
	w.WriteHeader(a.status)
	if a.code != "" {
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>m</Message></Error>`, a.code)
	}
}

// remotes are URLs of the same key in every kind of store, SESAME among their
// parameters where there are any.
func (s *objectServer) remotes(t *testing.T) map[string]func(key string) string {
	host := strings.TrimPrefix(s.URL, "http://")
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", "c2VjcmV0")
	t.Setenv("AZURE_STORAGE_DOMAIN", host)
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	for _, name := range []string{"AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AWS_PROFILE", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
	}
	none := filepathOfNothing(t)
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIASESAME")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SESAME")
	return map[string]func(string) string{
		"http": func(key string) string {
			return "http://user:SESAME@" + host + "/bucket/" + key + "?token=SESAME"
		},
		"s3": func(key string) string {
			return "s3://bucket/" + key + "?region=xSESAMEx&endpoint=" + url.QueryEscape(s.URL)
		},
		"s3 anonymous": func(key string) string {
			return "s3://bucket/" + key + "?region=us-east-1&anonymous=true&use_path_style=true&endpoint=" + s.URL
		},
		"gs":     func(key string) string { return "gs://bucket/" + key + "?anonymous=true" },
		"azblob": func(key string) string { return "azblob://bucket/" + key + "?storage_account=account" },
	}
}

func filepathOfNothing(t *testing.T) string { return t.TempDir() + "/none" }

// noLeaks fails the test if it leaves goroutines, once the server has ended.
// Azure's client keeps connections for the whole process; those of its test end
// with the server's.
func noLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
}

func TestRemoteTables(t *testing.T) {
	noLeaks(t)
	s := serveObjects(t)
	columns := []arrowio.Column{{Name: "x", Values: []float64{1, 3, 5}}, {Name: "y", Values: []float64{2, 4, 6}}}
	s.objects["deep/er/t.parquet"] = encoded(t, arrowio.Parquet, columns)
	s.objects["t.arrow"] = encoded(t, arrowio.Arrow, columns)
	s.objects["t.csv"] = "x,y\n1,2\n3,4\n5,6\n"
	s.objects["t.tsv.gz"] = arrowtest.Zipped("x\ty\n1\t2\n3\t4\n5\t6\n")
	s.objects["no extension"] = s.objects["deep/er/t.parquet"]
	for name, at := range s.remotes(t) {
		for key, body := range s.objects {
			opened := arrowtest.Descriptors()
			path := at(strings.ReplaceAll(key, " ", "%20"))
			r, err := readAll(t.Context(), path, arrowio.SampleOptions{Memory: arrowtest.Checked(t)})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			local, err := readAll(t.Context(), "-", arrowio.SampleOptions{Stdin: strings.NewReader(body), Memory: arrowtest.Checked(t)})
			if err != nil || r.sha != local.sha || !slices.Equal(r.values, []float64{1, 2, 3, 4, 5, 6}) || !slices.Equal(r.names, []string{"x", "y"}) {
				t.Errorf("%s %s: %+v, %v", name, key, r, err)
			}
			if now := arrowtest.Descriptors(); name != "azblob" && now > opened+1 { // the server's end may take a moment
				t.Errorf("%s: %d files are open, %d before", name, now, opened)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.authors, "Basic dXNlcjpTRVNBTUU=") {
		t.Error("user and password are not used")
	}
}

// Everything that reads goes through the same door.
func TestRemoteLists(t *testing.T) {
	noLeaks(t)
	s := serveObjects(t)
	s.objects["square.csv"] = "x,y\n1,0.5\n0.5,1\n"
	s.objects["reference.tsv"] = "x\ty\t1\nx\tz\t0\n"
	s.objects["edges.csv"] = "source,target,score\nx,y,0.5\n"
	s.objects["edges.csv-metadata.json"] = `{"notes":[{"gladflow.version":"7"}]}`
	s.objects["bare.csv"] = s.objects["edges.csv"]
	s.answers["bare.csv-metadata.json"] = answered{403, "AccessDenied"} // as S3 says of what is not there
	for name, at := range s.remotes(t) {
		if names, _, _, err := arrowio.ReadSquare(t.Context(), at("square.csv"), arrowio.SampleOptions{Stores: All()}); err != nil || len(names) != 2 {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		if r, err := arrowio.ReadReference(t.Context(), at("reference.tsv"), arrowio.ListOptions{Stores: All()}); err != nil || len(r.Source) != 2 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		e, err := arrowio.ReadEdges(t.Context(), at("edges.csv"), arrowio.ListOptions{Stores: All()})
		if err != nil || len(e.Source) != 1 || name != "http" && e.Metadata["gladflow.version"] != "7" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if e, err := arrowio.ReadEdges(t.Context(), at("bare.csv"), arrowio.ListOptions{Stores: All()}); err != nil || len(e.Source) != 1 || len(e.Metadata) != 0 {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

func TestRemoteErrors(t *testing.T) {
	noLeaks(t)
	s := serveObjects(t)
	s.objects["page.csv"] = "\n<!DOCTYPE html><html>sign in</html>"
	s.objects["short.csv"] = "x,y\n1,2\n3,4\n"
	input := map[string]struct {
		kind  error
		words []string
	}{
		"absent.csv":    {fs.ErrNotExist, []string{"there is no such"}},
		"denied.csv":    {fs.ErrPermission, []string{"permission to read it"}},
		"unknown.csv":   {fs.ErrPermission, []string{"permission to read it"}},
		"teapot.csv":    {nil, []string{"check the URL"}},
		"elsewhere.csv": {nil, []string{"check the URL"}},
	}
	for name, at := range s.remotes(t) {
		for key, want := range input {
			err := failure(t, t.Context(), at(key))
			wantInputError(t, err, append(want.words, "bucket/"+key)...)
			if want.kind != nil && !errors.Is(err, want.kind) {
				t.Errorf("%s: %v is not %v", name, err, want.kind)
			}
			if key == "denied.csv" && name != "http" && !strings.Contains(err.Error(), "credentials are looked for in") {
				t.Errorf("%s does not say where credentials are looked for: %v", name, err)
			}
		}
		// Failures of the machine: of the server, of the line, and of the line
		// after a while.
		for _, key := range []string{"broken.csv", "short.csv"} {
			err := failure(t, t.Context(), at(key))
			var wrong *arrowio.InputError
			if errors.As(err, &wrong) {
				t.Errorf("%s %s: it is an InputError: %v", name, key, err)
			}
		}
		// The end of the context.
		for _, key := range []string{"stalls.csv", "absent.csv"} {
			ctx, cancel := context.WithCancel(t.Context())
			if key == "absent.csv" {
				cancel()
			} else {
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			started := time.Now()
			if err := failure(t, ctx, at(key)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s %s: %v", name, key, err)
			}
			if took := time.Since(started); took > 2*time.Second {
				t.Errorf("%s %s: ended after %v", name, key, took)
			}
			cancel()
		}
	}
	wantInputError(t, failure(t, t.Context(), s.remotes(t)["http"]("page.csv")), "web page")
	wantInputError(t, failure(t, t.Context(), s.remotes(t)["http"]("gone.csv")), "no such file")
}

// failure is the error of reading path, in which no secret may stand.
func failure(t *testing.T, ctx context.Context, path string) error {
	t.Helper()
	_, err := readAll(ctx, path, arrowio.SampleOptions{})
	if err == nil {
		t.Fatalf("%s is read", arrowio.Redacted(path))
	}
	if text := err.Error(); strings.Contains(text, "SESAME") || strings.Contains(text, "\n") {
		t.Errorf("shown: %s", text)
	}
	return err
}

// What is wrong with the URL or with what is around it, before any answer.
func TestRemoteSetup(t *testing.T) {
	noLeaks(t)
	s := serveObjects(t)
	s.remotes(t)
	for path, words := range map[string][]string{
		"s3://bucket":                              {"name an object"},
		"s3://bucket/folder/":                      {"name an object"},
		"gs:///key":                                {"no bucket"},
		"s3://AKIA:SESAME@bucket/k":                {"AWS_ACCESS_KEY_ID"},
		"s3://bucket/k?region":                     {"region of the bucket is not known"},
		"s3://bucket/k?X-Amz-Signature=SESAME":     {"unknown", "endpoint", "AWS_SECRET_ACCESS_KEY"},
		"s3://bucket/k?anonymous=SESAME":           {"anonymous is true or false"},
		"s3://bucket/k?region=a&region=b":          {"twice"},
		"s3://bucket/k?a;b":                        {"name=value"},
		"s3://bucket/k?region=x&profile=SESAME":    {"profile"},
		"gs://bucket/k?private_key_path=/SESAME":   {"anonymous", "GOOGLE_APPLICATION_CREDENTIALS"},
		"azblob://c/k?sv=1&sig=SESAME":             {"AZURE_STORAGE_SAS_TOKEN"},
		"azblob://c/k?domain=SESAME.example":       {"storage_account"},
		"azblob://c/k?storage_account=evil.com/":   {"lower-case"},
		"azblob://c/k?storage_account=evil%2Ecom/": {"lower-case"},
	} {
		wantInputError(t, failure(t, t.Context(), path), words...)
	}

	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	wantInputError(t, failure(t, t.Context(), "s3://bucket/k?region=us-east-1&endpoint="+s.URL), "no credentials are found", "AWS_PROFILE", "anonymous=true")
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepathOfNothing(t))
	wantInputError(t, failure(t, t.Context(), "gs://bucket/k"), "no credentials are found", "GOOGLE_APPLICATION_CREDENTIALS")
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sig=SESAME")
	wantInputError(t, failure(t, t.Context(), "azblob://c/k?storage_account=another"), "not sent to another")
	t.Setenv("AZURE_STORAGE_ACCOUNT", "")
	wantInputError(t, failure(t, t.Context(), "azblob://c/k"), "no storage account")
}

// A server that redirects cannot have a secret sent in the clear.
func TestRedirects(t *testing.T) {
	noLeaks(t)
	plain := serveObjects(t)
	plain.objects["t.csv"] = "x,y\n1,2\n3,4\n"
	there := httptest.NewServer(http.RedirectHandler(plain.URL+"/bucket/t.csv?SESAME", http.StatusFound))
	t.Cleanup(there.Close)
	if r, err := readAll(t.Context(), there.URL+"/anything.csv", arrowio.SampleOptions{}); err != nil || r.rows != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	var circle *httptest.Server
	circle = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, circle.URL+"/SESAME", http.StatusFound)
	}))
	t.Cleanup(circle.Close)
	if err := failure(t, t.Context(), circle.URL); !strings.Contains(err.Error(), "circle") {
		t.Error(err)
	}
	secure := &http.Request{URL: &url.URL{Scheme: "https"}}
	if checkRedirect(&http.Request{URL: &url.URL{Scheme: "http"}}, []*http.Request{secure}) == nil || checkRedirect(secure, []*http.Request{secure}) != nil {
		t.Error("https to http is followed, or https to https is not")
	}
}
