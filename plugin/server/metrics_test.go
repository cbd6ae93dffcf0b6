package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// scrape gets a page of the metrics' server, with a token unless it is empty.
func scrape(t testing.TB, l *serving, scheme, path string, c *tls.Config, token string) (int, string) {
	t.Helper()
	_, port, err := net.SplitHostPort(l.MetricsAddress())
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://127.0.0.1:"+port+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: c}}).Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body) // of a request that is refused, as far as it comes
	return response.StatusCode, string(text)
}

// Where other machines can read the metrics, those do who may call the service, over
// TLS; whether it is alive is told to all.
func TestMetricsForOtherMachines(t *testing.T) {
	a, clients := newAuthority(t), newAuthority(t)
	cert, key := a.pair(t, 2)
	shown, shownKey := clients.pair(t, 3)
	nobody, known := a.client(t, "", ""), a.client(t, shown, shownKey)
	stranger := a.client(t, cert, key)
	tokens := tokenFile(t, "token\n")
	for name, c := range map[string]struct {
		config ListenConfig
		client *tls.Config
		token  string
		scheme string
		want   int // of /metrics; /healthz is open where it is not 0
	}{
		"token":                         {ListenConfig{TokenFile: tokens}, nobody, "token", "https", 200},
		"no token":                      {ListenConfig{TokenFile: tokens}, nobody, "", "https", 401},
		"wrong token":                   {ListenConfig{TokenFile: tokens}, nobody, "tokens", "https", 401},
		"token without TLS":             {ListenConfig{TokenFile: tokens}, nil, "token", "http", 400},
		"certificate":                   {ListenConfig{ClientCAFile: clients.file}, known, "", "https", 200},
		"no certificate":                {ListenConfig{ClientCAFile: clients.file}, nobody, "", "https", 401},
		"another authority":             {ListenConfig{ClientCAFile: clients.file}, stranger, "", "https", 0},
		"certificate, no token":         {ListenConfig{ClientCAFile: clients.file, TokenFile: tokens}, known, "", "https", 401},
		"token, no certificate":         {ListenConfig{ClientCAFile: clients.file, TokenFile: tokens}, nobody, "token", "https", 401},
		"both":                          {ListenConfig{ClientCAFile: clients.file, TokenFile: tokens}, known, "token", "https", 200},
		"for all":                       {ListenConfig{MetricsInsecure: true}, nil, "", "http", 200},
		"this machine":                  {ListenConfig{MetricsAddress: "127.0.0.1:0", TokenFile: tokens}, nil, "", "http", 200},
		"for all, of an insecure one":   {ListenConfig{Insecure: true, MetricsInsecure: true}, nil, "", "http", 200},
		"this machine, an insecure one": {ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:0"}, nil, "", "http", 200},
	} {
		t.Run(name, func(t *testing.T) {
			if !c.config.Insecure {
				c.config.CertFile, c.config.KeyFile = cert, key
			}
			if c.config.MetricsAddress == "" {
				c.config.MetricsAddress = "0.0.0.0:0"
			}
			l := listening(t, c.config)
			code, text := scrape(t, l, c.scheme, "/metrics", c.client, c.token)
			if code != c.want || (code == 200) != strings.Contains(text, "gladflow_connections") {
				t.Errorf("/metrics: %d, want %d\n%.300s", code, c.want, text)
			}
			alive := 200
			if c.want == 0 || c.want == 400 {
				alive = c.want // there is no connection
			}
			if code, text := scrape(t, l, c.scheme, "/healthz", c.client, ""); code != alive {
				t.Errorf("/healthz: %d, want %d\n%.300s", code, alive, text)
			}
		})
	}
}

// Idle and slow readers of metrics do not stop others.
func TestConnectionsOfMonitors(t *testing.T) {
	p := defaultPatience()
	p.request = 500 * time.Millisecond
	l := listeningWith(t, ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:0"}, p)
	slow := dialFrom(t, "127.0.0.1", l.MetricsAddress())
	go dribble(slow, "GET /metrics HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 8000))
	for range maxMonitors {
		dialFrom(t, "127.0.0.1", l.MetricsAddress())
	}
	eventually(t, "connections are left waiting", func() bool {
		s := l.http.listener.Stats()
		return s.Refused.FullPeer == maxMonitors+1-maxMonitorsPerPeer
	})
	other := dialFrom(t, "127.0.0.2", l.MetricsAddress())
	if _, err := io.WriteString(other, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(other); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 OK") {
		t.Errorf("%q, %v", text, err)
	}
	if err := slow.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, slow); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a slow request is waited for")
	}
	eventually(t, "connections are left", func() bool { return l.http.listener.Stats().Open == 0 })
	if code, _ := scrape(t, l, "http", "/metrics", nil, strings.Repeat("x", 2*maxHeaders)); code != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers of 64 KiB: %d", code)
	}
}
