package plugintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// An identity is the certificate of a host, as go-plugin's AutoMTLS makes it:
// the host gives it to the plugin in PLUGIN_CLIENT_CERT, the plugin answers
// with its own in the handshake, and each trusts the other's and no more.
type identity struct {
	certificate []byte // PEM
	pair        tls.Certificate
}

func newIdentity(t testing.TB) *identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	fatal(t, "a key", err)
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "localhost"},
		DNSNames:              []string{"localhost"},
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		SerialNumber:          big.NewInt(1),
		NotBefore:             time.Now().Add(-time.Minute),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	fatal(t, "a certificate", err)
	return &identity{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pair:        tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
	}
}

// credentials trust the certificate of a handshake; none if there is none.
func (id *identity) credentials(certificate string) (credentials.TransportCredentials, error) {
	if certificate == "" {
		return insecure.NewCredentials(), nil
	}
	der, err := base64.RawStdEncoding.DecodeString(certificate)
	if err != nil {
		return nil, fmt.Errorf("it must be DER in base64 without padding: %w", err)
	}
	plugin, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(plugin)
	return credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{id.pair}, RootCAs: pool, ServerName: "localhost", MinVersion: tls.VersionTLS12,
	}), nil
}
