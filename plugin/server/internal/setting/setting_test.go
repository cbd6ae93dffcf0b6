package setting

import (
	"errors"
	"strings"
	"testing"
)

// A Go caller reads fields, and a command line its flags, of the setting and of
// those that its reason mentions.
func TestError(t *testing.T) {
	var err error = Errorf(CertFile, "%d files; give it with %s, or %s", 2, KeyFile, Insecure)
	if got, want := err.Error(), "CertFile: 2 files; give it with KeyFile, or Insecure"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var e *Error
	if !errors.As(err, &e) || e.Setting != "CertFile" {
		t.Errorf("%#v", err)
	}
	flag := func(field string) string { return "--" + strings.ToLower(field) }
	if got, want := e.Reason(flag), "2 files; give it with --keyfile, or --insecure"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
