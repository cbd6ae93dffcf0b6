package security

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// callerKey is the key of the caller in the context of a call.
type callerKey struct{}

// CallerOf is the identity of who makes a call, by the call's context: that of the
// token, that of the client's certificate, or both, joined by a plus. It is
// printable, has no secrets, and stays the same when a token or certificate is
// renewed for the same name. It is empty for a call that needs neither.
func CallerOf(ctx context.Context) string {
	caller, _ := ctx.Value(callerKey{}).(string)
	return caller
}

// KnowsCallers says whether calls have an identity.
func (c Config) KnowsCallers() bool { return c.TokenFile != "" || c.ClientCAFile != "" }

// identify makes a server find out who makes a call, before anything else looks at
// it, and refuse the calls of nobody. Methods that are open need no token, and have
// the identity of the certificate where that is all.
func (c Config) identify(tokens *tokens, open func(method string) bool) []grpc.ServerOption {
	identified := func(ctx context.Context, method string) (context.Context, error) {
		if open(method) && (tokens != nil || c.ClientCAFile == "") {
			return ctx, nil
		}
		var parts []string
		if tokens != nil {
			caller, err := tokens.check(ctx)
			if err != nil {
				return nil, err
			}
			parts = append(parts, caller)
		}
		if c.ClientCAFile != "" {
			caller, err := certified(ctx)
			if err != nil {
				return nil, err
			}
			parts = append(parts, caller)
		}
		return context.WithValue(ctx, callerKey{}, strings.Join(parts, "+")), nil
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			ctx, err := identified(ctx, info.FullMethod)
			if err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			ctx, err := identified(stream.Context(), info.FullMethod)
			if err != nil {
				return err
			}
			return next(service, WithContext(stream, ctx))
		}),
	}
}

// certified is the identity of the certificate that the client has shown, which TLS
// has verified.
func certified(ctx context.Context) (string, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
			return certificateCaller(info.State.VerifiedChains), nil
		}
	}
	return "", status.Error(codes.Unauthenticated, "the connection shows no certificate; connect with one that the service's authorities have signed")
}

// certificateCaller is the name in a certificate and the key of the authority that
// stands for it: two authorities may sign the same name.
func certificateCaller(chains [][]*x509.Certificate) string {
	var authority string
	for _, chain := range chains { // there may be several, in any order
		if key := shortHash(chain[len(chain)-1].RawSubjectPublicKeyInfo); authority == "" || key < authority {
			authority = key
		}
	}
	return "certificate:" + subject(chains[0][0]) + "@" + authority
}

// subject is the name in a certificate: the SPIFFE id or another URI, or the first
// name of a host, or the common name, or without any of them the key.
func subject(c *x509.Certificate) string {
	for _, u := range c.URIs {
		if u.Scheme == "spiffe" {
			return "uri:" + printable(u.String())
		}
	}
	switch {
	case len(c.URIs) > 0:
		return "uri:" + printable(c.URIs[0].String())
	case len(c.DNSNames) > 0:
		return "dns:" + printable(c.DNSNames[0])
	case c.Subject.CommonName != "":
		return "cn:" + printable(c.Subject.CommonName)
	}
	return "key:" + shortHash(c.RawSubjectPublicKeyInfo)
}

// printable quotes a name with anything but plain characters, so that no two
// become one.
func printable(name string) string {
	for _, r := range name {
		if r <= ' ' || r > '~' || r == '"' || r == '\\' {
			return strconv.QuoteToASCII(name)
		}
	}
	return name
}

// shortHash tells keys and tokens without a name apart.
func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// WithContext is a stream with another context.
func WithContext(stream grpc.ServerStream, ctx context.Context) grpc.ServerStream {
	return &contextStream{stream, ctx}
}

type contextStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *contextStream) Context() context.Context { return s.ctx }
