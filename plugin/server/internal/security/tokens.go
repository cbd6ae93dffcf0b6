package security

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// digest is what is kept of a token: digests are compared in a time that says
// nothing about the tokens, not even their length.
type digest [sha256.Size]byte

// A token is one of those that calls may carry.
type token struct {
	digest digest
	caller string // see CallerOf
}

// tokens are those of a file, one a line; lines that begin with # are not. A line
// "# caller: NAME" directly above a token says whose it is.
type tokens struct{ current *reloader[[]token] }

// readTokens warns of a file that others can read, where there are permissions.
func readTokens(path string, log hclog.Logger) (*tokens, error) {
	current, err := newReloader(log, func() ([]token, error) { return readTokenFile(path) }, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 {
		log.Warn("the file of tokens can be read by others; take the permission away with chmod 600", "file", path)
	}
	return &tokens{current}, nil
}

func readTokenFile(path string) ([]token, error) {
	if err := checkReadable(setting.TokenFile, path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, setting.Errorf(setting.TokenFile, "%s cannot be read: %s", path, errors.Unwrap(err))
	}
	var all []token
	name, number := "", 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			// The line above has lost its effect: its token was commented out.
			if name, ok = callerNamed(comment); !ok {
				return nil, setting.Errorf(setting.TokenFile, "%s, line %d: the name of a caller has 1 to %d letters, digits and _ . @ / -; write it as # caller: alice",
					path, number, maxName)
			}
			continue
		}
		if line != "" {
			t := newToken(name, line)
			if i := slices.IndexFunc(all, func(other token) bool { return other.digest == t.digest }); i >= 0 && all[i].caller != t.caller {
				return nil, setting.Errorf(setting.TokenFile, "%s, line %d: the token is another caller's already; give every caller one of its own", path, number)
			}
			all = append(all, t)
		}
		name = ""
	}
	if all == nil {
		return nil, setting.Errorf(setting.TokenFile, "%s holds no token; write one a line", path)
	}
	return all, nil
}

// newToken is a token with its caller: the name, or without one what tells it from
// other tokens and does not tell the token.
func newToken(name, text string) token {
	if name == "" {
		name = "sha256:" + shortHash([]byte("gladflow caller\n"+text))
	}
	return token{sha256.Sum256([]byte(text)), "token:" + name}
}

// maxName is the most characters of a caller's name.
const maxName = 64

// callerNamed is the name of a comment "caller: NAME", or nothing for another
// comment. It reports false for a name that cannot be one.
func callerNamed(comment string) (name string, ok bool) {
	name, ok = strings.CutPrefix(strings.TrimSpace(comment), "caller:")
	if !ok {
		return "", true
	}
	name = strings.TrimSpace(name)
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.@/-", r)) {
			return "", false
		}
	}
	return name, len(name) >= 1 && len(name) <= maxName
}

// check is the caller of the token that a call carries, as the header
// "authorization: Bearer TOKEN", or says that there is none.
func (t *tokens) check(ctx context.Context) (caller string, err error) {
	headers := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(headers) != 1 {
		return "", status.Error(codes.Unauthenticated, "the call carries no token; send the header \"authorization: Bearer TOKEN\"")
	}
	scheme, text, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", status.Error(codes.Unauthenticated, "the header authorization is no bearer token; send it as \"authorization: Bearer TOKEN\"")
	}
	given := digest(sha256.Sum256([]byte(strings.TrimSpace(text))))
	for _, known := range t.current.get() {
		if subtle.ConstantTimeCompare(given[:], known.digest[:]) == 1 {
			caller = known.caller
		}
	}
	if caller == "" {
		return "", status.Error(codes.Unauthenticated, "the token is unknown; ask whoever runs the service for one of its tokens")
	}
	return caller, nil
}
