// Package tlscert has the certificates that the program shows when it speaks TLS itself: out of files that somebody
// else renews, or got and renewed by ACME (RFC 8555).
package tlscert

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// Options say where certificates come from: Files, or ACME where it names domains.
type Options struct {
	Files Files
	ACME  ACME
	Now   func() time.Time // time.Now where nil
	Log   *slog.Logger
}

// Files are a certificate with its chain and its key, each as PEM.
type Files struct{ Certificate, Key string }

// Given tells whether the program speaks TLS itself.
func (o Options) Given() bool { return o.Files != Files{} || len(o.ACME.Domains) > 0 }

// Certificates are what the program shows at handshakes.
type Certificates struct {
	config *tls.Config
	expiry func() map[string]time.Time
	answer func(http.Handler) http.Handler
	manage func(context.Context) error
	stop   func()
}

// Open reads the files, or prepares ACME; nothing is asked of anybody before Manage.
func Open(o Options) (*Certificates, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	switch {
	case o.Files != Files{} && len(o.ACME.Domains) > 0:
		return nil, errors.New("certificates come from files (--tls-cert, --tls-key) or by ACME (--acme-domain), not from both")
	case o.Files != Files{}:
		return openFiles(o)
	}
	return openACME(o)
}

// TLS is how the program speaks it: TLS 1.2 and later, HTTP/2 and 1.1. The configuration is the caller's.
func (c *Certificates) TLS() *tls.Config { return c.config.Clone() }

// Expiry is when the certificate of each name ends. A name for which there is none yet is left out.
func (c *Certificates) Expiry() map[string]time.Time { return c.expiry() }

// Answer answers the challenges of an ACME server that come by plain HTTP, and lets all else go on.
func (c *Certificates) Answer(next http.Handler) http.Handler { return c.answer(next) }

// Manage gets what is missing and renews it from then on, until the context ends. It returns at once: what fails is
// told in the log and tried again.
func (c *Certificates) Manage(ctx context.Context) error { return c.manage(ctx) }

// Close ends what looks after the certificates.
func (c *Certificates) Close() { c.stop() }

func baseTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
