package plugin

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// certificate is one for localhost, and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// bearer lets in whoever has the token "secret".
func bearer(s any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	if got := md.Get("authorization"); len(got) != 1 || got[0] != "Bearer secret" {
		return status.Error(codes.Unauthenticated, "the token is wrong")
	}
	return handle(s, stream)
}

func TestAttach(t *testing.T) {
	cert, pool := certificate(t)
	register := func(s *grpc.Server) { flight.RegisterFlightServiceServer(s, &fake{}) }
	plain := listen(t, register)
	locked := listen(t, register, grpc.StreamInterceptor(bearer))
	secure := listen(t, register, grpc.StreamInterceptor(bearer), grpc.Creds(credentials.NewServerTLSFromCert(&cert)))
	foreign := listen(t, func(*grpc.Server) {})
	trust := &tls.Config{RootCAs: pool}

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	for name, test := range map[string]struct {
		config AttachConfig
		error  string // what it says; empty for none
		code   codes.Code
	}{
		"plain":                  {config: AttachConfig{Address: plain, Insecure: true}},
		"token on loopback":      {config: AttachConfig{Address: locked, Insecure: true, Token: "secret"}},
		"TLS and token":          {config: AttachConfig{Address: secure, TLS: trust, Token: "secret"}},
		"wrong token":            {AttachConfig{Address: secure, TLS: trust, Token: "secrets"}, "AttachConfig.Token", codes.Unauthenticated},
		"no token":               {AttachConfig{Address: locked, Insecure: true}, "AttachConfig.Token", codes.Unauthenticated},
		"TLS where there is not": {AttachConfig{Address: plain, TLS: trust}, "with TLS or without", codes.Unavailable},
		"no TLS where there is":  {AttachConfig{Address: secure, Insecure: true}, "with TLS or without", codes.Unavailable},
		"not trusted":            {AttachConfig{Address: secure, TLS: &tls.Config{}, Token: "secret"}, "certificate", codes.Unavailable},
		"nobody there":           {AttachConfig{Address: closed.Addr().String(), Insecure: true}, "no gladflow service answers at 127.0.0.1:", codes.Unavailable},
		"nobody speaks":          {AttachConfig{Address: silent.Addr().String(), Insecure: true}, "no gladflow service answers", codes.DeadlineExceeded},
		"another service":        {AttachConfig{Address: foreign, Insecure: true}, "is no gladflow service", codes.Unimplemented},
		"neither":                {AttachConfig{Address: plain}, "exactly one", codes.Unknown},
		"both":                   {AttachConfig{Address: plain, Insecure: true, TLS: trust}, "exactly one", codes.Unknown},
		"token in the open":      {AttachConfig{Address: "example.com:8815", Insecure: true, Token: "secret"}, "set AttachConfig.TLS", codes.Unknown},
		"empty":                  {AttachConfig{Insecure: true}, "is no address", codes.Unknown},
		"URL":                    {AttachConfig{Address: "grpc://localhost:8815", Insecure: true}, "is no address", codes.Unknown},
		"no port":                {AttachConfig{Address: "localhost", Insecure: true}, "is no address", codes.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			// Long for all but the one that it has to end: a machine that is
			// busy may take a second for a handshake.
			limit := 20 * time.Second
			if test.code == codes.DeadlineExceeded {
				limit = time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			c, err := Attach(ctx, test.config)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if test.error == "" {
				if err != nil {
					t.Fatal(err)
				}
				if c.PID() != 0 {
					t.Errorf("PID %d of a service that was not launched", c.PID())
				}
				c.Close()
				return
			}
			if err == nil {
				c.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.error) || status.Code(err) != test.code {
				t.Errorf("error %v (%v), want one of %q (%v)", err, status.Code(err), test.error, test.code)
			}
		})
	}
}

func TestAttachUnix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.StreamInterceptor(bearer))
	flight.RegisterFlightServiceServer(s, &fake{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	defer func() {
		s.Stop()
		<-served
	}()
	c, err := Attach(t.Context(), AttachConfig{Address: "unix:" + path, Insecure: true, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
