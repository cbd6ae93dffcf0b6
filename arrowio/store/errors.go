package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/gcerrors"

	"github.com/gladflow/gladflow/arrowio"
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

// unopened sorts an error of opening a bucket, for which nothing has been asked
// of the store yet.
func (l location) unopened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return l.explain(ctx, err)
	}
	return &arrowio.InputError{Path: l.name, Err: l.clean(err),
		Reason: fmt.Sprintf("the URL's parameters or the credentials cannot be used (%v); they are looked for in %s", l.clean(err), l.credentials())}
}

// explain sorts an error of a store or a server: the context's, the machine's,
// or the user's (an InputError).
func (l location) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("reading %s: %w", l.name, ctx.Err())
	}
	status, code := l.answerOf(err)
	advice := l.advice(err)
	switch {
	case advice != "":
		return &arrowio.InputError{Path: l.name, Err: l.clean(err), Reason: advice}
	// Before the status, which may be that of who was asked for them.
	case l.lacksCredentials(err):
		return &arrowio.InputError{Path: l.name, Err: l.clean(err, fs.ErrPermission),
			Reason: fmt.Sprintf("no credentials are found; they are looked for in %s", l.credentials())}
	case status == http.StatusForbidden || status == http.StatusUnauthorized || gcerrors.Code(err) == gcerrors.PermissionDenied:
		return &arrowio.InputError{Path: l.name, Err: l.clean(err, fs.ErrPermission),
			Reason: fmt.Sprintf("permission to read it is denied%s; credentials are looked for in %s", code, l.credentials())}
	case status == http.StatusNotFound || status != 0 && gcerrors.Code(err) == gcerrors.NotFound:
		return &arrowio.InputError{Path: l.name, Err: l.clean(err, fs.ErrNotExist),
			Reason: fmt.Sprintf("there is no such object%s; check the bucket and the key", code)}
	case status >= 300 && !transient(status):
		return &arrowio.InputError{Path: l.name, Err: l.clean(err),
			Reason: fmt.Sprintf("the store refuses the request%s; check the URL, its region and endpoint", code)}
	}
	return fmt.Errorf("reading %s: %w", l.name, l.clean(err))
}

// credentials is where the store looks for them, for messages.
func (l location) credentials() string {
	if l.store == nil {
		return ""
	}
	return l.store.credentials
}

// advice is what the store says of an error that only it has.
func (l location) advice(err error) string {
	if l.store == nil || l.store.advice == nil {
		return ""
	}
	return l.store.advice(err)
}

// answerOf is the HTTP status that a store answered with, 0 if it did not answer,
// and its own word for that in brackets.
func (l location) answerOf(err error) (status int, code string) {
	if l.store != nil && l.store.answer != nil {
		status, code = l.store.answer(err)
	}
	var other interface{ HTTPStatusCode() int }
	if status == 0 && errors.As(err, &other) {
		status = other.HTTPStatusCode()
		var word interface{ ErrorCode() string }
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

// lacksCredentials recognises an error of a client that finds none, for which
// the clients of clouds have words and no types.
func (l location) lacksCredentials(err error) bool {
	var none *noCredentials
	if errors.As(err, &none) {
		return true
	}
	return l.store != nil && slices.ContainsFunc(l.store.missing, func(words string) bool { return strings.Contains(err.Error(), words) })
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
