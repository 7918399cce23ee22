// Package tlscert provides the server's TLS certificates. They come from files that another program renews, or from an
// ACME server (RFC 8555).
package tlscert

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Options configure the certificates. Set either Files or ACME.
type Options struct {
	Files Files
	ACME  ACME
	Now   func() time.Time // nil means time.Now
	Log   *slog.Logger
}

// Files are the paths of a certificate chain and its key in PEM format.
type Files struct{ Certificate, Key string }

// IsConfigured reports whether Files or ACME is set.
func (o Options) IsConfigured() bool { return o.Files != Files{} || len(o.ACME.Domains) > 0 }

// Certificates are the certificates of a TLS server.
type Certificates struct {
	config           *tls.Config
	expiry           func() map[string]time.Time
	handleChallenges func(http.Handler) http.Handler
	manage           func(context.Context) error
	stop             func()
}

// Open reads the files or prepares ACME. It does not send requests.
func Open(o Options) (*Certificates, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	switch {
	case o.Files != Files{} && len(o.ACME.Domains) > 0:
		return nil, errors.New("set either --tls-cert and --tls-key, or --acme-domain, not both")
	case o.Files != Files{}:
		return openFiles(o)
	}
	return openACME(o)
}

// TLS returns a new configuration for TLS 1.2 and later, with HTTP/2 and HTTP/1.1.
func (c *Certificates) TLS() *tls.Config { return c.config.Clone() }

// Expiry returns the time at which the certificate of each name expires. It omits names that have no certificate yet.
func (c *Certificates) Expiry() map[string]time.Time { return c.expiry() }

// HandleChallenges returns a handler that responds to HTTP-01 challenges and passes all other requests to next.
func (c *Certificates) HandleChallenges(next http.Handler) http.Handler {
	return c.handleChallenges(next)
}

// Manage obtains missing certificates, and renews certificates in the background until the context ends. It logs
// failures and tries again.
func (c *Certificates) Manage(ctx context.Context) error { return c.manage(ctx) }

// Close stops managing certificates.
func (c *Certificates) Close() { c.stop() }

func baseTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
