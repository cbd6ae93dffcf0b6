package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A SettingError says which setting of a ListenConfig cannot be used. It is the
// user who can put it right, so commands exit with code 2.
type SettingError struct {
	// Setting is called as the flag of gladflow serve, such as tls-cert.
	Setting string
	// Reason is one sentence that says what is wrong and what to do.
	Reason string
}

// Error implements error.
func (e *SettingError) Error() string { return e.Setting + ": " + e.Reason }

func setting(name, format string, args ...any) *SettingError {
	return &SettingError{Setting: name, Reason: fmt.Sprintf(format, args...)}
}

// checkSecurity says whether connections are secured, or need not be.
func (c *ListenConfig) checkSecurity() error {
	secured := c.CertFile != "" || c.KeyFile != ""
	switch {
	case c.Insecure && (secured || c.ClientCAFile != ""):
		return setting("insecure", "there is a certificate as well; leave out one of them")
	case !c.Insecure && !secured:
		return setting("tls-cert", "there is no certificate; give one with its key (--tls-cert, --tls-key), or serve this machine alone with --insecure")
	case secured && c.CertFile == "":
		return setting("tls-cert", "there is a key without its certificate; give it with --tls-cert")
	case secured && c.KeyFile == "":
		return setting("tls-key", "there is a certificate without its key; give it with --tls-key")
	}
	return nil
}

// loopback returns the address itself, its name resolved, if nobody outside
// this machine can reach it.
func loopback(ctx context.Context, address string) (string, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", setting("listen", "%q is no address; write it as 127.0.0.1:8815 or unix:/path", address)
	}
	if name == "" {
		return "", notLoopback(address)
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, name)
	if err != nil || len(found) == 0 {
		return "", setting("listen", "there is no host %q; write the address as 127.0.0.1:8815", name)
	}
	for _, a := range found {
		if !a.IP.IsLoopback() {
			return "", notLoopback(address)
		}
	}
	// Bound as it was checked: a second look-up might find another.
	return net.JoinHostPort(found[0].String(), port), nil
}

func notLoopback(address string) error {
	return setting("insecure", "%s can be reached from other machines; listen on 127.0.0.1, or secure connections with --tls-cert and --tls-key", address)
}

// serverTLS is TLS by files that are read again when they change, so that
// certificates can be renewed.
func serverTLS(c *ListenConfig, log hclog.Logger) (credentials.TransportCredentials, error) {
	files := []string{c.CertFile, c.KeyFile}
	if c.ClientCAFile != "" {
		files = append(files, c.ClientCAFile)
	}
	current, err := readFresh(log, func() (*tls.Config, error) { return readTLS(c) }, files...)
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return current.get(), nil },
	}), nil
}

func readTLS(c *ListenConfig) (*tls.Config, error) {
	if err := cmp.Or(readable("tls-cert", c.CertFile), readable("tls-key", c.KeyFile)); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, setting("tls-cert", "%s and %s are no certificate with its key in PEM: %s", c.CertFile, c.KeyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if c.ClientCAFile == "" {
		return t, nil
	}
	if err := readable("client-ca", c.ClientCAFile); err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(c.ClientCAFile)
	if err != nil {
		return nil, err
	}
	t.ClientCAs = x509.NewCertPool()
	if !t.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, setting("client-ca", "%s holds no certificate in PEM", c.ClientCAFile)
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	return t, nil
}

// readable blames a setting for a file that cannot be opened.
func readable(name, path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return setting(name, "there is no file %s", path)
	case err != nil:
		return setting(name, "%s cannot be read: %s", path, errors.Unwrap(err))
	}
	return f.Close()
}

// digest is what is kept of a token: digests are compared in a time that says
// nothing about the tokens, not even their length.
type digest [sha256.Size]byte

// tokens are those of a file, one a line; lines that begin with # are not.
type tokens struct{ current *fresh[[]digest] }

// readTokens warns of a file that others can read, where there are permissions.
func readTokens(path string, log hclog.Logger) (*tokens, error) {
	current, err := readFresh(log, func() ([]digest, error) { return readDigests(path) }, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 {
		log.Warn("the file of tokens can be read by others; take the permission away with chmod 600", "file", path)
	}
	return &tokens{current}, nil
}

func readDigests(path string) ([]digest, error) {
	if err := readable("token-file", path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, setting("token-file", "%s cannot be read: %s", path, errors.Unwrap(err))
	}
	var all []digest
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, sha256.Sum256([]byte(line)))
		}
	}
	if all == nil {
		return nil, setting("token-file", "%s holds no token; write one a line", path)
	}
	return all, nil
}

// check says whether a call carries a token, as the header
// "authorization: Bearer TOKEN".
func (t *tokens) check(ctx context.Context, method string) error {
	if strings.HasPrefix(method, healthPrefix) {
		return nil
	}
	headers := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(headers) != 1 {
		return status.Error(codes.Unauthenticated, "the call carries no token; send the header \"authorization: Bearer TOKEN\"")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return status.Error(codes.Unauthenticated, "the header authorization is no bearer token; send it as \"authorization: Bearer TOKEN\"")
	}
	given := digest(sha256.Sum256([]byte(strings.TrimSpace(token))))
	known := 0
	for _, d := range t.current.get() {
		known |= subtle.ConstantTimeCompare(given[:], d[:])
	}
	if known == 0 {
		return status.Error(codes.Unauthenticated, "the token is unknown; ask whoever runs the service for one of its tokens")
	}
	return nil
}

// options make a server ask for a token before anything else.
func (t *tokens) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := t.check(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := t.check(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(service, stream)
		}),
	}
}
