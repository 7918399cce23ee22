package main

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/platform/tlscert"
	"pressroom.example/pressroom/internal/server"
)

// tlsFlags are the flags for serving TLS.
type tlsFlags struct {
	TLSCert    string   `name:"tls-cert" help:"PEM file of the certificate chain, reloaded on change." type:"path" env:"PRESSROOM_TLS_CERT"`
	TLSKey     string   `name:"tls-key" help:"PEM file of the private key." type:"path" env:"PRESSROOM_TLS_KEY"`
	ACMEDomain []string `name:"acme-domain" help:"Domains to get certificates for. You accept the CA's terms." env:"PRESSROOM_ACME_DOMAIN"`
	ACMEEmail  string   `name:"acme-email" help:"Contact email address for the CA." env:"PRESSROOM_ACME_EMAIL"`
	ACMECA     string   `name:"acme-ca" help:"ACME directory URL. Default: Let's Encrypt." env:"PRESSROOM_ACME_CA"`
	ACMERoots  string   `name:"acme-roots" help:"PEM file of root certificates for the ACME server." type:"path" env:"PRESSROOM_ACME_ROOTS"`
	ACMEFolder string   `name:"acme-folder" help:"Folder of ACME certificates, shared by nodes." type:"path" env:"PRESSROOM_ACME_FOLDER"`
	PlainAddr  string   `name:"plain-addr" help:"Address for ACME challenges and HTTPS redirects, such as :80." env:"PRESSROOM_PLAIN_ADDR"`
}

func (f tlsFlags) options() tlscert.Options {
	return tlscert.Options{
		Files: tlscert.Files{Certificate: f.TLSCert, Key: f.TLSKey},
		ACME: tlscert.ACME{
			Domains: f.ACMEDomain, Email: f.ACMEEmail, CA: f.ACMECA, Roots: f.ACMERoots, Folder: f.ACMEFolder,
		},
	}
}

func (f tlsFlags) scheme() string {
	if f.options().IsConfigured() {
		return "https"
	}
	return "http"
}

// apply sets the TLS settings and the public URL of cfg.
func (f tlsFlags) apply(cfg *server.Config, c serveCmd) error {
	cfg.PublicURL = strings.TrimRight(c.PublicURL, "/")
	opts := f.options()
	if !opts.IsConfigured() {
		if f.PlainAddr != "" {
			return errors.New("PRESSROOM_PLAIN_ADDR (--plain-addr) requires TLS: set PRESSROOM_TLS_CERT (--tls-cert) or " +
				"PRESSROOM_ACME_DOMAIN (--acme-domain) too")
		}
		return nil
	}
	if cfg.PublicURL == "" && len(f.ACMEDomain) > 0 {
		cfg.PublicURL = "https://" + f.ACMEDomain[0]
	}
	if cfg.PublicURL != "" && !strings.HasPrefix(cfg.PublicURL, "https://") {
		return errors.New("PRESSROOM_PUBLIC_URL (--public-url) must begin with https:// if TLS is on")
	}
	if path, isSQLite := strings.CutPrefix(c.Database, "sqlite:"); isSQLite && opts.ACME.Folder == "" {
		opts.ACME.Folder = path + certsSuffix
	}
	opts.ACME.TLSPort, opts.ACME.HTTPPort = parsePort(c.Addr), parsePort(f.PlainAddr)
	cfg.Certificates, cfg.PlainAddr = opts, f.PlainAddr
	return nil
}

// parsePort returns the port of a listen address, or 0 if the port is not a number.
func parsePort(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return port
}
