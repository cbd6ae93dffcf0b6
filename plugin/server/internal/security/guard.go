package security

import (
	"crypto/tls"
	"net/http"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A Guard lets those read over HTTPS who may call the service: with a token, if
// there are tokens, and with a certificate, if clients must have one. All methods of
// nil let everyone read over HTTP.
type Guard struct {
	tls          *reloader[*tls.Config]
	tokens       *tokens // nil if none is needed
	certificates bool
}

// Guard makes a guard by the same files as Options. What becomes of the files is
// logged for those.
func (c Config) Guard() (*Guard, error) {
	c.Logger = hclog.NewNullLogger()
	current, err := newReloader(c.Logger, c.readTLS, c.tlsFiles()...)
	if err != nil {
		return nil, err
	}
	g := &Guard{tls: current, certificates: c.ClientCAFile != ""}
	if c.TokenFile == "" {
		return g, nil
	}
	if g.tokens, err = readTokens(c.TokenFile, c.Logger); err != nil {
		return nil, err
	}
	return g, nil
}

// TLS is the configuration of the server; nil for HTTP.
func (g *Guard) TLS() *tls.Config {
	if g == nil {
		return nil
	}
	get := func() *tls.Config {
		t := g.tls.get().Clone()
		t.NextProtos = []string{"http/1.1"}
		if g.certificates {
			// What is open to all needs none, see Protect.
			t.ClientAuth = tls.VerifyClientCertIfGiven
		}
		return t
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return get(), nil },
	}
}

// Protect refuses requests to next by those who may not read.
func (g *Guard) Protect(next http.Handler) http.Handler {
	if g == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.certificates && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0) {
			http.Error(w, "there is no certificate of the client; show one that the service trusts", http.StatusUnauthorized)
			return
		}
		if g.tokens != nil {
			ctx := metadata.NewIncomingContext(r.Context(), metadata.MD{"authorization": r.Header.Values("Authorization")})
			if _, err := g.tokens.check(ctx); err != nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, status.Convert(err).Message(), http.StatusUnauthorized)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
