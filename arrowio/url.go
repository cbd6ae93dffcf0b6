package arrowio

import (
	"context"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/gladflow/gladflow/arrowio/uri"
)

// An Opener opens inputs that are URLs; package store has one.
type Opener interface {
	// Open begins to read what a URL names; the end of ctx ends the reading
	// too. What is also an io.ReaderAt and an fs.File of a regular file, as an
	// os.File is, is read by position.
	//
	// What the user can put right is an *InputError, which wraps
	// fs.ErrNotExist or fs.ErrPermission where that is what is wrong; other
	// errors are failures of the machine. No error holds a secret of the URL.
	Open(ctx context.Context, url string) (io.ReadCloser, error)
}

// LocalPath returns the path of the file on this machine that path names, as it
// is or by a file URL, and false if path is another URL. "-" is left as it is.
func LocalPath(path string) (local string, ok bool) {
	if !uri.Is(path) {
		return path, true
	}
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(u.Path) < 2 {
		return "", false
	}
	local = u.Path
	if runtime.GOOS == "windows" {
		local = strings.TrimPrefix(local, "/") // of /C:/data
	}
	return filepath.FromSlash(local), true
}

// Redacted returns path as it may be shown and recorded: without the parameters
// of a URL, which may be signatures or tokens, and without user and password.
// What is no URL is returned as it is.
func Redacted(path string) string {
	if !uri.Is(path) {
		return path
	}
	after := ":/"
	if strings.HasPrefix(path[strings.IndexByte(path, ':'):], "://") {
		after = "://"
	}
	scheme, rest, _ := strings.Cut(path, after)
	parameters := ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, parameters = rest[:i], "?…"
	}
	authority, _, _ := strings.Cut(rest, "/")
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	// A password that was not escaped may reach beyond what looks like the
	// end of the authority.
	if !plainHost(host) || strings.Contains(rest[len(authority):], "@") && strings.Contains(authority, ":") {
		return scheme + after + "…"
	}
	return scheme + after + host + rest[len(authority):] + parameters
}

// plainHost matches a host or a bucket, with a port at most.
var plainHost = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(:[0-9]*)?$`).MatchString

// pathOf is what tells the format of a file: the path of a URL without its
// parameters, and any other path as it is.
func pathOf(path string) string {
	if uri.Is(path) {
		path, _, _ = strings.Cut(path, "?")
	}
	return path
}

// beside appends suffix to the name of the file that path names. It is empty
// for a file on a web server, which may answer for files that are not there.
func beside(path, suffix string) string {
	if !uri.Is(path) {
		return path + suffix
	}
	if scheme, _, _ := strings.Cut(strings.ToLower(path), ":/"); scheme == "http" || scheme == "https" {
		return ""
	}
	name, parameters, found := strings.Cut(path, "?")
	if found {
		parameters = "?" + parameters
	}
	return name + suffix + parameters
}
