package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/internal/flighttest"
	"github.com/gladflow/gladflow/plugin/internal/logtest"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{}
	der, key := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.key, a.file = key, filepath.Join(t.TempDir(), "ca.pem")
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// sign makes a certificate by a, or by itself.
func sign(t testing.TB, c *x509.Certificate, a *authority) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, by := c, key
	if a != nil {
		parent, by = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

// issue writes a certificate for 127.0.0.1 and its key.
func (a *authority) issue(t testing.TB, serial int64, certFile, keyFile string) {
	t.Helper()
	der, key := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "gladflow"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a)
	writePEM(t, certFile, "CERTIFICATE", der)
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, keyFile, "PRIVATE KEY", text)
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pair writes a certificate and its key into a folder of their own.
func (a *authority) pair(t testing.TB, serial int64) (certFile, keyFile string) {
	t.Helper()
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	a.issue(t, serial, certFile, keyFile)
	return certFile, keyFile
}

// client is the TLS of a client that trusts a, and shows a certificate if
// there is one.
func (a *authority) client(t testing.TB, certFile, keyFile string) *tls.Config {
	t.Helper()
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AddCert(a.cert)
	if certFile != "" {
		shown, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			t.Fatal(err)
		}
		c.Certificates = []tls.Certificate{shown}
	}
	return c
}

func withTLS(c *tls.Config) grpc.DialOption {
	return grpc.WithTransportCredentials(credentials.NewTLS(c))
}

// bearer is the context of a call with a token.
func bearer(ctx context.Context, header string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", header)
}

func tokenFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// With TLS alone any client is served, but none without TLS or that does not
// know the authority.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.pair(t, 2)
	l := listening(t, ListenConfig{CertFile: cert, KeyFile: key})
	if want := "grpc+tls://" + l.target; l.Address() != want {
		t.Errorf("the address is %s, not %s", l.Address(), want)
	}
	if _, err := flighttest.Action(t.Context(), dial(t, l.target, withTLS(a.client(t, "", ""))), protocol.ActionSolvers, nil); err != nil {
		t.Error(err)
	}
	old := a.client(t, "", "")
	old.MaxVersion = tls.VersionTLS11
	old.MinVersion = tls.VersionTLS10
	if conn, err := tls.Dial("tcp", l.target, old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is good enough")
	}
	for what, option := range map[string]grpc.DialOption{
		"no TLS":            grpc.EmptyDialOption{},
		"another authority": withTLS(newAuthority(t).client(t, "", "")),
	} {
		if _, err := flighttest.Action(t.Context(), dial(t, l.target, option), protocol.ActionSolvers, nil); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// With --client-ca, clients need a certificate of that authority.
func TestMutualTLS(t *testing.T) {
	a, clients := newAuthority(t), newAuthority(t)
	cert, key := a.pair(t, 2)
	l := listening(t, ListenConfig{CertFile: cert, KeyFile: key, ClientCAFile: clients.file})
	good, goodKey := clients.pair(t, 3)
	if _, err := flighttest.Action(t.Context(), dial(t, l.target, withTLS(a.client(t, good, goodKey))), protocol.ActionSolvers, nil); err != nil {
		t.Error(err)
	}
	for what, c := range map[string]*tls.Config{
		"no certificate":                  a.client(t, "", ""),
		"a certificate of someone else's": a.client(t, cert, key),
	} {
		if _, err := flighttest.Action(t.Context(), dial(t, l.target, withTLS(c)), protocol.ActionSolvers, nil); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A renewed certificate is shown to new connections; one whose key is not there
// yet is not.
func TestCertificateIsReadAgain(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.pair(t, 2)
	var log logtest.Log
	l := listening(t, ListenConfig{CertFile: cert, KeyFile: key, Config: Config{Logger: hclog.New(&hclog.LoggerOptions{Output: &log})}})
	serial := func() int64 {
		conn, err := tls.Dial("tcp", l.target, a.client(t, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 2 {
		t.Fatalf("the certificate is number %d", n)
	}
	renewed, renewedKey := a.pair(t, 7)
	move(t, renewed, cert)
	eventually(t, "the change is not noticed", func() bool {
		if n := serial(); n != 2 {
			t.Fatalf("the certificate is number %d, though its key is missing", n)
		}
		return strings.Contains(log.String(), "cannot be used")
	})
	move(t, renewedKey, key)
	eventually(t, "the old certificate is shown", func() bool { return serial() == 7 })
}

func move(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// Every call of Flight needs one of the tokens, health does not.
func TestTokens(t *testing.T) {
	path := tokenFile(t, "# those who may\n\nfirst-token\n  second-token  \n")
	l := listening(t, ListenConfig{Insecure: true, TokenFile: path})
	conn := dial(t, l.target)
	for _, header := range []string{"Bearer first-token", "bearer second-token", "BEARER  first-token"} {
		if _, err := flighttest.Action(bearer(t.Context(), header), conn, protocol.ActionSolvers, nil); err != nil {
			t.Errorf("%q: %v", header, err)
		}
	}
	for header, want := range map[string]string{
		"":                          "carries no token",
		"Basic first-token":         "no bearer token",
		"first-token":               "no bearer token",
		"Bearer ":                   "unknown",
		"Bearer first-toke":         "unknown",
		"Bearer first-tokens":       "unknown",
		"Bearer # those who may":    "unknown",
		"Bearer First-token":        "unknown",
		"Bearer first-token second": "unknown",
	} {
		ctx := t.Context()
		if header != "" {
			ctx = bearer(ctx, header)
		}
		_, err := flighttest.Action(ctx, conn, protocol.ActionSolvers, nil)
		if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want Unauthenticated, %q", header, err, want)
		}
		// A call of the other kind, without streams.
		err = conn.Invoke(ctx, "/"+flightService+"/GetFlightInfo", &grpc_health_v1.HealthCheckRequest{}, &grpc_health_v1.HealthCheckResponse{})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("%q: GetFlightInfo: %v", header, err)
		}
	}
	for _, name := range []string{"", flightService} {
		got, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		if err != nil || got.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q without a token: %v, %v", name, got, err)
		}
	}
	if err := os.WriteFile(path, []byte("third-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new token is unknown", func() bool {
		_, err := flighttest.Action(bearer(t.Context(), "Bearer third-token"), conn, protocol.ActionSolvers, nil)
		return err == nil
	})
	if _, err := flighttest.Action(bearer(t.Context(), "Bearer first-token"), conn, protocol.ActionSolvers, nil); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a token that was taken away: %v", err)
	}
}

// What cannot be secured is refused, with the setting that it is about.
func TestSettings(t *testing.T) {
	cert, key := newAuthority(t).pair(t, 2)
	_, otherKey := newAuthority(t).pair(t, 3)
	missing := filepath.Join(t.TempDir(), "missing")
	empty := tokenFile(t, "# nobody\n\n")
	for _, c := range []struct {
		config  ListenConfig
		setting string
		reason  string
	}{
		{ListenConfig{}, "CertFile", "no certificate"},
		{ListenConfig{CertFile: cert}, "KeyFile", "without its key"},
		{ListenConfig{KeyFile: key}, "CertFile", "without its certificate"},
		{ListenConfig{Insecure: true, CertFile: cert, KeyFile: key}, "Insecure", "leave out one"},
		{ListenConfig{CertFile: missing, KeyFile: key}, "CertFile", "there is no file"},
		{ListenConfig{CertFile: cert, KeyFile: missing}, "KeyFile", "there is no file"},
		{ListenConfig{CertFile: cert, KeyFile: otherKey}, "CertFile", "no certificate with its key"},
		{ListenConfig{CertFile: cert, KeyFile: key, ClientCAFile: missing}, "ClientCAFile", "there is no file"},
		{ListenConfig{CertFile: cert, KeyFile: key, ClientCAFile: key}, "ClientCAFile", "holds no certificate"},
		{ListenConfig{Insecure: true, TokenFile: missing}, "TokenFile", "there is no file"},
		{ListenConfig{Insecure: true, TokenFile: empty}, "TokenFile", "holds no token"},
		{ListenConfig{Insecure: true, Address: "0.0.0.0:0"}, "Insecure", "other machines"},
		{ListenConfig{Insecure: true, Address: ":0"}, "Insecure", "other machines"},
		{ListenConfig{Insecure: true, Address: "[::]:0"}, "Insecure", "other machines"},
		{ListenConfig{Insecure: true, Address: "192.0.2.1:0"}, "Insecure", "other machines"},
		{ListenConfig{Insecure: true, Address: "no.such.host.invalid:0"}, "Address", "no host"},
		{ListenConfig{Insecure: true, Address: "8815"}, "Address", "no address"},
		{ListenConfig{CertFile: cert, KeyFile: key, Address: "8815"}, "Address", "no address"},
		{ListenConfig{Insecure: true, Address: "unix:"}, "Address", "no path"},
		{ListenConfig{Insecure: true, Address: "unix:/" + strings.Repeat("x", 120)}, "Address", "choose a shorter"},
		{ListenConfig{Insecure: true, Address: "unix:" + cert}, "Address", "no socket"},
		{ListenConfig{CertFile: cert, KeyFile: key, Address: "192.0.2.1:0"}, "Address", "no address of this machine"},
		{ListenConfig{Insecure: true, Address: "127.0.0.1:99999"}, "Address", "0 to 65535"},
		{ListenConfig{Insecure: true, MaxConnections: -1}, "MaxConnections", "leaves nothing"},
		{ListenConfig{Insecure: true, MetricsAddress: "9090"}, "MetricsAddress", "no address"},
		{ListenConfig{Insecure: true, MetricsAddress: "127.0.0.1:"}, "MetricsAddress", "port is missing"},
		{ListenConfig{Insecure: true, MetricsInsecure: true}, "MetricsInsecure", "there are no metrics"},
		{ListenConfig{Insecure: true, MetricsAddress: ":0"}, "MetricsAddress", "can be reached from other machines"},
		{ListenConfig{Insecure: true, MetricsAddress: "0.0.0.0:0", TokenFile: tokenFile(t, "token")}, "MetricsAddress", "give a certificate (CertFile, KeyFile)"},
		{ListenConfig{CertFile: cert, KeyFile: key, MetricsAddress: "[::]:0"}, "MetricsAddress", "show the metrics to all with MetricsInsecure"},
		{ListenConfig{Insecure: true, Config: Config{Files: missing}}, "Files", "make it"},
	} {
		if c.config.Address == "" {
			c.config.Address = "127.0.0.1:0"
		}
		l, err := Listen(t.Context(), c.config)
		var wrong *SettingError
		if !errors.As(err, &wrong) || wrong.Setting != c.setting || !strings.Contains(wrong.Error(), c.reason) {
			t.Errorf("%+v: %v; want %s: %q", c.config, err, c.setting, c.reason)
		}
		if l != nil {
			t.Error("there is a listener as well")
		}
	}
}
