package tlscert

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/caddyserver/certmagic"
)

// ACME configures certificates from an ACME server (RFC 8555).
type ACME struct {
	Domains []string
	Email   string // contact address, sent to the certificate authority
	CA      string // directory URL of the certificate authority; Let's Encrypt if empty
	Roots   string // PEM file with root certificates for requests to the certificate authority; the system's if empty
	Folder  string // stores keys and certificates; shared by all nodes
	// HTTPPort and TLSPort are this node's ports for HTTP-01 and TLS-ALPN-01 challenges. The certificate authority
	// connects to ports 80 and 443, which must be forwarded to these ports. Port 0 disables the challenge.
	HTTPPort, TLSPort int
}

func openACME(o Options) (*Certificates, error) {
	if o.ACME.Folder == "" {
		return nil, errors.New("ACME needs a folder for its certificates, shared by all nodes: set PRESSROOM_ACME_FOLDER (--acme-folder)")
	}
	roots, err := readRoots(o.ACME.Roots)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.ACME.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder for certificates: %w", err)
	}
	log := zapLogger(o.Log)
	var acmeConfig *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return acmeConfig, nil }, Logger: log,
	})
	acmeConfig = certmagic.New(cache, certmagic.Config{Storage: &certmagic.FileStorage{Path: o.ACME.Folder}, Logger: log})
	issuer := certmagic.NewACMEIssuer(acmeConfig, certmagic.ACMEIssuer{
		CA: o.ACME.CA, Email: o.ACME.Email, Agreed: true, TrustedRoots: roots, Logger: log,
		AltHTTPPort: o.ACME.HTTPPort, AltTLSALPNPort: o.ACME.TLSPort,
		DisableHTTPChallenge: o.ACME.HTTPPort == 0, DisableTLSALPNChallenge: o.ACME.TLSPort == 0,
	})
	acmeConfig.Issuers = []certmagic.Issuer{issuer}
	config := baseTLS()
	config.GetCertificate = acmeConfig.GetCertificate
	config.NextProtos = append(config.NextProtos, acmeConfig.TLSConfig().NextProtos...) // includes acme-tls/1
	return &Certificates{
		config:           config,
		handleChallenges: issuer.HTTPChallengeHandler,
		manage:           func(ctx context.Context) error { return manage(ctx, acmeConfig, o.ACME.Domains) },
		stop:             cache.Stop,
		expiry:           func() map[string]time.Time { return expiries(cache, o.ACME.Domains) },
	}, nil
}

func manage(ctx context.Context, magic *certmagic.Config, domains []string) error {
	if err := magic.ManageAsync(ctx, domains); err != nil {
		return fmt.Errorf("managing certificates: %w", err)
	}
	return nil
}

func expiries(cache *certmagic.Cache, domains []string) map[string]time.Time {
	out := map[string]time.Time{}
	for _, domain := range domains {
		for _, cert := range cache.AllMatchingCertificates(domain) {
			if cert.Leaf != nil && cert.Leaf.NotAfter.After(out[domain]) {
				out[domain] = cert.Leaf.NotAfter
			}
		}
	}
	return out
}

// readRoots returns the certificates of a PEM file. If path is empty, it returns nil for the system's roots.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // nil means the system's roots
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator chooses the file
	if err != nil {
		return nil, fmt.Errorf("reading the root certificates of the ACME server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, errors.New("the file with the root certificates of the ACME server (--acme-roots) does not contain a PEM certificate")
	}
	return pool, nil
}
