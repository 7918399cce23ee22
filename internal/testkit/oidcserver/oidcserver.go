// Package oidcserver runs an OpenID Connect provider over TLS for tests.
package oidcserver

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/oauth2-proxy/mockoidc"
)

// Provider is an OpenID Connect provider that signs in queued people in order.
type Provider struct {
	*mockoidc.MockOIDC

	Roots *x509.CertPool // trusts the provider's certificate
	PEM   []byte         // the certificate
}

// Run runs a provider on a free port until the test ends.
func Run(tb testing.TB) *Provider {
	tb.Helper()
	// Use the certificate of httptest for 127.0.0.1.
	server := httptest.NewTLSServer(http.NotFoundHandler())
	config := &tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	p := &Provider{Roots: x509.NewCertPool(), PEM: pem.EncodeToMemory(block)}
	p.Roots.AddCert(server.Certificate())
	server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	if p.MockOIDC, err = mockoidc.NewServer(nil); err == nil {
		err = p.Start(tls.NewListener(listener, config), config)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Shutdown(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// AddPerson queues a person whose address the provider has verified.
func (p *Provider) AddPerson(subject, email string) {
	p.QueueUser(&mockoidc.MockUser{Subject: subject, Email: email, EmailVerified: true})
}

// Client returns a client that trusts the provider and follows no redirect.
func (p *Provider) Client() *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Roots, MinVersion: tls.VersionTLS12}}
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: noRedirects}
}
