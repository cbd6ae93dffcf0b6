package security

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// issued is a certificate with the names of a template, as a verifier has read it.
func issued(t *testing.T, c *x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	read, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestCallerOfACertificate(t *testing.T) {
	authority, other := issued(t, &x509.Certificate{}), issued(t, &x509.Certificate{})
	spiffe, web := parsed(t, "spiffe://example.org/batch"), parsed(t, "https://example.org/batch")
	for want, c := range map[string]*x509.Certificate{
		"uri:spiffe://example.org/batch": {URIs: []*url.URL{web, spiffe}, DNSNames: []string{"host"}, Subject: pkix.Name{CommonName: "name"}},
		"uri:https://example.org/batch":  {URIs: []*url.URL{web}, DNSNames: []string{"host"}},
		"dns:host":                       {DNSNames: []string{"host", "other"}, Subject: pkix.Name{CommonName: "name"}},
		"cn:name":                        {Subject: pkix.Name{CommonName: "name", Organization: []string{"any"}}},
		`cn:"two\n[INFO] words"`:         {Subject: pkix.Name{CommonName: "two\n[INFO] words"}},
		`cn:"\x1b[31mred"`:               {Subject: pkix.Name{CommonName: "\x1b[31mred"}},
		`cn:"\u202egnp"`:                 {Subject: pkix.Name{CommonName: "\u202egnp"}},
		`cn:"\"plain\""`:                 {Subject: pkix.Name{CommonName: `"plain"`}},
	} {
		leaf := issued(t, c)
		chains := [][]*x509.Certificate{{leaf, authority}}
		got := certificateCaller(chains)
		if name, ok := strings.CutPrefix(got, "certificate:"+want+"@"); !ok || name != shortHash(authority.RawSubjectPublicKeyInfo) {
			t.Errorf("the caller is %q, want %q", got, want)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
			t.Errorf("%q cannot be printed", got)
		}
		if renewed := certificateCaller([][]*x509.Certificate{{issued(t, c), authority}}); renewed != got {
			t.Errorf("renewed: %q, and before %q", renewed, got)
		}
		if elsewhere := certificateCaller([][]*x509.Certificate{{leaf, other}}); elsewhere == got {
			t.Errorf("%q is the name of another authority's caller as well", got)
		}
		both, turned := [][]*x509.Certificate{{leaf, authority}, {leaf, other}}, [][]*x509.Certificate{{leaf, other}, {leaf, authority}}
		if certificateCaller(both) != certificateCaller(turned) {
			t.Error("the order of the chains changes the caller")
		}
	}
	// Without a name the key is one.
	a, b := issued(t, &x509.Certificate{}), issued(t, &x509.Certificate{})
	if x, y := certificateCaller([][]*x509.Certificate{{a, authority}}), certificateCaller([][]*x509.Certificate{{b, authority}}); x == y || !strings.HasPrefix(x, "certificate:key:") {
		t.Errorf("nameless callers %q and %q", x, y)
	}
}

// A certificate that TLS has not verified is none.
func TestUnverifiedCertificate(t *testing.T) {
	leaf := issued(t, &x509.Certificate{DNSNames: []string{"alice"}})
	for what, ctx := range map[string]context.Context{
		"no connection": t.Context(),
		"no TLS":        peer.NewContext(t.Context(), &peer.Peer{}),
		"not verified": peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{
			State: tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}},
		}}),
	} {
		if caller, err := certified(ctx); status.Code(err) != codes.Unauthenticated || caller != "" {
			t.Errorf("%s: %q, %v", what, caller, err)
		}
	}
}

// callers reads a file of tokens.
func callers(t *testing.T, text string) (map[string]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := readTokens(path, hclog.NewNullLogger())
	if err != nil {
		return nil, err
	}
	known := make(map[string]string)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, token := range read.current.get() {
			if token.digest == sha256.Sum256([]byte(line)) {
				known[line] = token.caller
			}
		}
	}
	return known, nil
}

// Names stand directly above their tokens; what was a file of tokens before there
// were names is one still, with the same tokens.
func TestCallersOfTokens(t *testing.T) {
	got, err := callers(t, `# those who may
first
  two words
# Bob's
# caller: alice
alices-first
#caller:alice
alices-second
after
# caller: bob

not-bobs
# caller: carol
# commented-out
not-carols
# caller: dora/batch_1@x.y-z
doras
`)
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"alices-first": "token:alice", "alices-second": "token:alice", "doras": "token:dora/batch_1@x.y-z",
	} {
		if got[token] != want {
			t.Errorf("%s is of %q, want %q", token, got[token], want)
		}
	}
	seen := make(map[string]bool)
	for _, token := range []string{"first", "two words", "after", "not-bobs", "not-carols"} {
		caller := got[token]
		if !strings.HasPrefix(caller, "token:sha256:") || seen[caller] || strings.Contains(caller, token) {
			t.Errorf("%s is of %q", token, caller)
		}
		seen[caller] = true
	}
	if len(got) != 8 {
		t.Errorf("%d tokens: %v", len(got), got)
	}
	again, err := callers(t, "first\n")
	if err != nil || again["first"] != got["first"] {
		t.Errorf("in another file: %v, %v", again, err)
	}
}

func TestWrongNamesOfCallers(t *testing.T) {
	for text, want := range map[string]string{
		"# caller:\nx\n":                                 "line 1",
		"y\n# caller: two words\nx\n":                    "line 2",
		"# caller: a:b\nx\n":                             "line 1",
		"# caller: a+b\nx\n":                             "line 1",
		"# caller: é\nx\n":                               "line 1",
		"# caller: " + strings.Repeat("a", 65) + "\nx\n": "1 to 64",
		"# caller: alice\nx\n# caller: bob\nx\n":         "another caller's already",
		"# caller: alice\nx\nx\n":                        "another caller's already",
		"# caller: alice\n":                              "holds no token",
	} {
		_, err := callers(t, text)
		var wrong *setting.Error
		if !errors.As(err, &wrong) || wrong.Setting != string(setting.TokenFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := callers(t, "# caller: alice\nx\n# caller: alice\nx\n"); err != nil {
		t.Errorf("the same token of the same caller: %v", err)
	}
}
