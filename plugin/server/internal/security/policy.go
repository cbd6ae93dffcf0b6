// Package security decides who may reach the service, and says who it is: TLS from
// files that may be renewed, bearer tokens, and addresses that only this machine can
// reach.
package security

import (
	"errors"
	"io/fs"
	"os"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// A Config is the part of a server.ListenConfig that is about security.
type Config struct {
	CertFile, KeyFile, ClientCAFile, TokenFile string

	Insecure bool
	Logger   hclog.Logger
}

// Options make a gRPC server as c says. Calls of methods for which open returns
// true need no token.
func (c Config) Options(open func(method string) bool) ([]grpc.ServerOption, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	options := []grpc.ServerOption{grpc.Creds(insecure.NewCredentials())}
	if !c.Insecure {
		credentials, err := c.serverTLS()
		if err != nil {
			return nil, err
		}
		options = []grpc.ServerOption{grpc.Creds(credentials)}
	}
	if !c.KnowsCallers() {
		return options, nil
	}
	var tokens *tokens // nil without a file of them
	if c.TokenFile != "" {
		var err error
		if tokens, err = readTokens(c.TokenFile, c.Logger); err != nil {
			return nil, err
		}
	}
	return append(options, c.identify(tokens, open)...), nil
}

// check says whether connections are secured, or need not be.
func (c Config) check() error {
	secured := c.CertFile != "" || c.KeyFile != ""
	switch {
	case c.Insecure && (secured || c.ClientCAFile != ""):
		return setting.Errorf(setting.Insecure, "there is a certificate as well; leave out one of them")
	case !c.Insecure && !secured:
		return setting.Errorf(setting.CertFile, "there is no certificate; give one with its key (%s, %s), or serve this machine alone with %s",
			setting.CertFile, setting.KeyFile, setting.Insecure)
	case secured && c.CertFile == "":
		return setting.Errorf(setting.CertFile, "there is a key without its certificate; give it with %s", setting.CertFile)
	case secured && c.KeyFile == "":
		return setting.Errorf(setting.KeyFile, "there is a certificate without its key; give it with %s", setting.KeyFile)
	}
	return nil
}

// checkReadable returns an error of a setting whose file cannot be opened.
func checkReadable(f setting.Field, path string) error {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return setting.Errorf(f, "there is no file %s", path)
	case err != nil:
		return setting.Errorf(f, "%s cannot be read: %s", path, errors.Unwrap(err))
	}
	return file.Close()
}
