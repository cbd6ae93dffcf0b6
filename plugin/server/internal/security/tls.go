package security

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"google.golang.org/grpc/credentials"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// serverTLS is TLS by files that are read again when they change, so that
// certificates can be renewed.
func (c Config) serverTLS() (credentials.TransportCredentials, error) {
	current, err := newReloader(c.Logger, c.readTLS, c.tlsFiles()...)
	if err != nil {
		return nil, err
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return current.get(), nil },
	}), nil
}

// tlsFiles are those that readTLS reads.
func (c Config) tlsFiles() []string {
	files := []string{c.CertFile, c.KeyFile}
	if c.ClientCAFile != "" {
		files = append(files, c.ClientCAFile)
	}
	return files
}

func (c Config) readTLS() (*tls.Config, error) {
	if err := cmp.Or(checkReadable(setting.CertFile, c.CertFile), checkReadable(setting.KeyFile, c.KeyFile)); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, setting.Errorf(setting.CertFile, "%s and %s are no certificate with its key in PEM: %s", c.CertFile, c.KeyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if c.ClientCAFile == "" {
		return t, nil
	}
	if err := checkReadable(setting.ClientCAFile, c.ClientCAFile); err != nil {
		return nil, err
	}
	authorities, err := os.ReadFile(c.ClientCAFile)
	if err != nil {
		return nil, err
	}
	t.ClientCAs = x509.NewCertPool()
	if !t.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, setting.Errorf(setting.ClientCAFile, "%s holds no certificate in PEM", c.ClientCAFile)
	}
	t.ClientAuth = tls.RequireAndVerifyClientCert
	return t, nil
}
