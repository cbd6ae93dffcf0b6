package arrowio

import (
	"context"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// A location is a path that is a URL.
type location struct {
	*url.URL
	name string // without secrets, for messages
}

// schemeList is for messages.
const schemeList = "s3, gs, azblob, https, http, file"

// isURL tells URLs from names of files, of which none begins like this.
var isURL = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+://`).MatchString

// openURL opens what a URL names.
func (s *source) openURL(ctx context.Context, path string) error {
	// The parser's own words quote parts of the URL that may be secret.
	u, err := url.Parse(path)
	if err != nil || u.Fragment != "" {
		return fault(s.name, "this is not a URL as RFC 3986 has it; write a space as %%20, %% as %%25, ? as %%3F and # as %%23")
	}
	l := location{u, s.name}
	switch l.Scheme {
	case "file":
		return s.openFileURL(l)
	case "http", "https":
		return s.openHTTP(ctx, l)
	case "s3", "gs", "azblob":
		return s.openObject(ctx, l)
	}
	return fault(s.name, "URLs of the scheme %s are not read; use one of %s", l.Scheme, schemeList)
}

// finally has f called when s is closed. What has been read has been read,
// whatever the closing of a connection brings.
func (s *source) finally(f func()) {
	s.closers = append(s.closers, func() error { f(); return nil })
}

// openFileURL opens the file itself, so that it can be read by position.
func (s *source) openFileURL(l location) error {
	path, ok := LocalPath(l.String())
	if !ok {
		return fault(l.name, "a file URL holds a whole path and nothing else, such as file:///data/samples.csv")
	}
	return s.openFile(path)
}

// LocalPath returns the path of the file on this machine that path names, as it
// is or by a file URL, and false if path is another URL. "-" is left as it is.
func LocalPath(path string) (local string, ok bool) {
	if !isURL(path) {
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
	if !isURL(path) {
		return path
	}
	scheme, rest, _ := strings.Cut(path, "://")
	parameters := ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest, parameters = rest[:i], "?…"
	}
	authority, _, _ := strings.Cut(rest, "/")
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	// A password that was not escaped may reach beyond what looks like the
	// end of the authority.
	if !plainHost(host) || strings.Contains(rest[len(authority):], "@") && strings.Contains(authority, ":") {
		return scheme + "://…"
	}
	return scheme + "://" + host + rest[len(authority):] + parameters
}

// plainHost matches a host or a bucket, with a port at most.
var plainHost = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[^:\[\]]*)(:[0-9]*)?$`).MatchString

// pathOf is what tells the format of a file: the path of a URL without its
// parameters, and any other path as it is.
func pathOf(path string) string {
	if isURL(path) {
		path, _, _ = strings.Cut(path, "?")
	}
	return path
}

// beside appends suffix to the name of the file that path names. It is empty
// for a file on a web server, which may answer for files that are not there.
func beside(path, suffix string) string {
	if !isURL(path) {
		return path + suffix
	}
	if scheme, _, _ := strings.Cut(strings.ToLower(path), "://"); scheme == "http" || scheme == "https" {
		return ""
	}
	name, parameters, found := strings.Cut(path, "?")
	if found {
		parameters = "?" + parameters
	}
	return name + suffix + parameters
}
