package security

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// digest is what is kept of a token: digests are compared in a time that says
// nothing about the tokens, not even their length.
type digest [sha256.Size]byte

// tokens are those of a file, one a line; lines that begin with # are not.
type tokens struct{ current *reloader[[]digest] }

// readTokens warns of a file that others can read, where there are permissions.
func readTokens(path string, log hclog.Logger) (*tokens, error) {
	current, err := newReloader(log, func() ([]digest, error) { return readDigests(path) }, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 {
		log.Warn("the file of tokens can be read by others; take the permission away with chmod 600", "file", path)
	}
	return &tokens{current}, nil
}

func readDigests(path string) ([]digest, error) {
	if err := checkReadable(setting.TokenFile, path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, setting.Errorf(setting.TokenFile, "%s cannot be read: %s", path, errors.Unwrap(err))
	}
	var all []digest
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, sha256.Sum256([]byte(line)))
		}
	}
	if all == nil {
		return nil, setting.Errorf(setting.TokenFile, "%s holds no token; write one a line", path)
	}
	return all, nil
}

// check says whether a call carries a token, as the header
// "authorization: Bearer TOKEN".
func (t *tokens) check(ctx context.Context) error {
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

// options make a server ask for a token before anything else, but for methods
// that are open.
func (t *tokens) options(open func(method string) bool) []grpc.ServerOption {
	check := func(ctx context.Context, method string) error {
		if open(method) {
			return nil
		}
		return t.check(ctx)
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := check(ctx, info.FullMethod); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}),
		grpc.ChainStreamInterceptor(func(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := check(stream.Context(), info.FullMethod); err != nil {
				return err
			}
			return next(service, stream)
		}),
	}
}
