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

// ACME says for what certificates are got, and from whom.
type ACME struct {
	Domains []string
	Email   string // whom the authority writes to
	CA      string // its directory; Let's Encrypt's where empty
	Roots   string // file with the certificates, as PEM, that the authority itself is trusted by; the system's where empty
	Folder  string // where keys and certificates are kept, the same for all nodes
	// HTTPPort and TLSPort are where this node listens. The authority comes by ports 80 and 443, which have to lead there.
	// It is not answered at a port that is 0.
	HTTPPort, TLSPort int
}

func openACME(o Options) (*Certificates, error) {
	if o.ACME.Folder == "" {
		return nil, errors.New("certificates that are got by ACME need a folder to be kept in (--acme-folder), the same for all nodes")
	}
	roots, err := readRoots(o.ACME.Roots)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.ACME.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for certificates: %w", err)
	}
	log := zapped(o.Log)
	var magic *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return magic, nil }, Logger: log,
	})
	magic = certmagic.New(cache, certmagic.Config{Storage: &certmagic.FileStorage{Path: o.ACME.Folder}, Logger: log})
	issuer := certmagic.NewACMEIssuer(magic, certmagic.ACMEIssuer{
		CA: o.ACME.CA, Email: o.ACME.Email, Agreed: true, TrustedRoots: roots, Logger: log,
		AltHTTPPort: o.ACME.HTTPPort, AltTLSALPNPort: o.ACME.TLSPort, DisableHTTPChallenge: o.ACME.HTTPPort == 0, DisableTLSALPNChallenge: o.ACME.TLSPort == 0,
	})
	magic.Issuers = []certmagic.Issuer{issuer}
	config := baseTLS()
	config.GetCertificate = magic.GetCertificate
	config.NextProtos = append(config.NextProtos, magic.TLSConfig().NextProtos...) // the challenge's own among them
	return &Certificates{
		config: config,
		answer: issuer.HTTPChallengeHandler,
		manage: func(ctx context.Context) error { return manage(ctx, magic, o.ACME.Domains) },
		stop:   cache.Stop,
		expiry: func() map[string]time.Time { return expiries(cache, o.ACME.Domains) },
	}, nil
}

func manage(ctx context.Context, magic *certmagic.Config, domains []string) error {
	if err := magic.ManageAsync(ctx, domains); err != nil {
		return fmt.Errorf("looking after certificates: %w", err)
	}
	return nil
}

func expiries(cache *certmagic.Cache, domains []string) map[string]time.Time {
	out := map[string]time.Time{}
	for _, domain := range domains {
		for _, held := range cache.AllMatchingCertificates(domain) {
			if held.Leaf != nil && held.Leaf.NotAfter.After(out[domain]) {
				out[domain] = held.Leaf.NotAfter
			}
		}
	}
	return out
}

// readRoots gives the certificates of a file; nil, for those of the system, where none is named.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // crypto/tls takes nil for the system's
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator says which file
	if err != nil {
		return nil, fmt.Errorf("reading by what the ACME server is trusted: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, errors.New("the file by which the ACME server is trusted (--acme-roots) holds no certificate as PEM")
	}
	return pool, nil
}
