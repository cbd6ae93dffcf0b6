package arrowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"gocloud.dev/gcerrors"
)

// answer is the HTTP status of a server that sent no object.
type answer int

func (a answer) Error() string {
	return fmt.Sprintf("the server answers %d %s", int(a), http.StatusText(int(a)))
}

// HTTPStatusCode has the name that the clients of other stores give it.
func (a answer) HTTPStatusCode() int { return int(a) }

// noCredentials says that there are none where they are looked for.
type noCredentials struct{ err error }

func (e *noCredentials) Error() string { return e.err.Error() }
func (e *noCredentials) Unwrap() error { return e.err }

// A remote reads a URL's bytes.
type remote struct {
	ctx context.Context
	in  io.Reader
	at  location
}

func (r remote) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && err != io.EOF {
		if r.ctx.Err() != nil {
			return n, r.ctx.Err()
		}
		err = r.at.clean(err)
	}
	return n, err
}

// unopened sorts an error of opening a bucket, for which nothing has been asked
// of the store yet.
func (l location) unopened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.explain(ctx, err)
	}
	return &InputError{Path: l.name, Err: l.clean(err),
		Reason: fmt.Sprintf("the URL's parameters or the credentials cannot be used (%v); they are looked for in %s", l.clean(err), storeOf(l.Scheme).credentials)}
}

// explain sorts an error of a store or a server as source.explain does: the
// context's, the machine's, or the user's.
func (l location) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("reading %s: %w", l.name, ctx.Err())
	}
	status, code := answerOf(err)
	var none *noCredentials
	switch {
	case lacksRegion(err):
		return &InputError{Path: l.name, Err: l.clean(err),
			Reason: "the region of the bucket is not known, or there is none of that name; add ?region=NAME or set AWS_REGION"}
	// Before the status, which may be that of who was asked for them.
	case errors.As(err, &none) || lacksCredentials(err):
		return &InputError{Path: l.name, Err: l.clean(err, fs.ErrPermission),
			Reason: fmt.Sprintf("no credentials are found; they are looked for in %s", storeOf(l.Scheme).credentials)}
	case status == http.StatusForbidden || status == http.StatusUnauthorized || gcerrors.Code(err) == gcerrors.PermissionDenied:
		return &InputError{Path: l.name, Err: l.clean(err, fs.ErrPermission),
			Reason: fmt.Sprintf("permission to read it is denied%s; credentials are looked for in %s", code, storeOf(l.Scheme).credentials)}
	case status == http.StatusNotFound || status != 0 && gcerrors.Code(err) == gcerrors.NotFound:
		return &InputError{Path: l.name, Err: l.clean(err, fs.ErrNotExist),
			Reason: fmt.Sprintf("there is no such object%s; check the bucket and the key", code)}
	case status >= 300 && !transient(status):
		return &InputError{Path: l.name, Err: l.clean(err),
			Reason: fmt.Sprintf("the store refuses the request%s; check the URL, its region and endpoint", code)}
	}
	return fmt.Errorf("reading %s: %w", l.name, l.clean(err))
}

// answerOf is the HTTP status that a store answered with, 0 if it did not answer,
// and its own word for that in brackets.
func answerOf(err error) (status int, code string) {
	var (
		azure *azcore.ResponseError
		other interface{ HTTPStatusCode() int }
		word  interface{ ErrorCode() string }
	)
	switch {
	case errors.As(err, &azure):
		status, code = azure.StatusCode, azure.ErrorCode
	case errors.As(err, &other):
		status = other.HTTPStatusCode()
		if errors.As(err, &word) {
			code = word.ErrorCode()
		}
	}
	if status != 0 && code == "" {
		code = http.StatusText(status)
	}
	if code != "" {
		code = fmt.Sprintf(" (%s)", code)
	}
	return status, code
}

// lacksRegion and lacksCredentials recognise the clients' words, for which they
// have no types.
func lacksRegion(err error) bool {
	text := err.Error()
	return strings.Contains(text, "region must be set") || strings.Contains(text, "Missing Region") ||
		strings.Contains(text, "Invalid region")
}

func lacksCredentials(err error) bool {
	text := err.Error()
	return strings.Contains(text, "get credentials") || strings.Contains(text, "get identity") || // AWS
		strings.Contains(text, "DefaultAzureCredential") || strings.Contains(text, "oauth2:") // Azure; Google
}

// cleaned is an error in one line without the secrets of a URL.
type cleaned struct {
	text   string
	causes []error
}

func (e *cleaned) Error() string   { return e.text }
func (e *cleaned) Unwrap() []error { return e.causes }

// clean says err in words that hold no parameter of the URL and no password.
// Clients put the URL that they asked for into their errors: what is wrong with
// it stands behind.
func (l location) clean(err error, kinds ...error) error {
	c := &cleaned{text: err.Error(), causes: append(kinds, err)}
	var asked *url.Error
	if errors.As(err, &asked) {
		c.text = asked.Err.Error()
	} else if _, after, found := strings.Cut(c.text, "(code=Unknown): "); found {
		c.text = after // gocloud's preamble
	}
	var secrets []string
	if l.RawQuery != "" {
		secrets = append(secrets, l.RawQuery)
	}
	for _, values := range l.Query() {
		for _, v := range values {
			secrets = append(secrets, v, url.QueryEscape(v))
		}
	}
	if l.User != nil {
		password, _ := l.User.Password()
		secrets = append(secrets, l.User.String(), password, l.User.Username())
	}
	for _, s := range secrets {
		if s != "" && s != "true" && s != "false" {
			c.text = strings.ReplaceAll(c.text, s, "…")
		}
	}
	c.text = strings.Join(strings.Fields(c.text), " ")
	return c
}
