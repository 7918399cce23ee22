package main

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"pressroom/internal/platform/tlscert"
	"pressroom/internal/server"
)

// tlsFlags are for a program that speaks TLS itself.
type tlsFlags struct {
	TLSCert    string   `name:"tls-cert" help:"File with the certificate and its chain, as PEM, by which the program speaks TLS itself; read again when it changes." type:"path" env:"PRESSROOM_TLS_CERT"`
	TLSKey     string   `name:"tls-key" help:"File with its key, as PEM." type:"path" env:"PRESSROOM_TLS_KEY"`
	ACMEDomain []string `name:"acme-domain" help:"Names for which certificates are got and renewed by ACME, in place of files. By that you agree to the authority's terms." env:"PRESSROOM_ACME_DOMAIN"`
	ACMEEmail  string   `name:"acme-email" help:"Address that the authority writes to." env:"PRESSROOM_ACME_EMAIL"`
	ACMECA     string   `name:"acme-ca" help:"Directory of the ACME server; Let's Encrypt's where empty." env:"PRESSROOM_ACME_CA"`
	ACMERoots  string   `name:"acme-roots" help:"File with the certificates, as PEM, that the ACME server itself is trusted by; the system's where empty." type:"path" env:"PRESSROOM_ACME_ROOTS"`
	ACMEFolder string   `name:"acme-folder" help:"Folder where certificates got by ACME are kept, the same for all nodes. With SQLite one beside the file where none is given." type:"path" env:"PRESSROOM_ACME_FOLDER"`
	PlainAddr  string   `name:"plain-addr" help:"Where plain HTTP is answered beside TLS, such as :80: the challenges of ACME, and pages with the way to TLS." env:"PRESSROOM_PLAIN_ADDR"`
}

func (f tlsFlags) options() tlscert.Options {
	return tlscert.Options{
		Files: tlscert.Files{Certificate: f.TLSCert, Key: f.TLSKey},
		ACME:  tlscert.ACME{Domains: f.ACMEDomain, Email: f.ACMEEmail, CA: f.ACMECA, Roots: f.ACMERoots, Folder: f.ACMEFolder},
	}
}

func (f tlsFlags) scheme() string {
	if f.options().Given() {
		return "https"
	}
	return "http"
}

// into writes what the flags say into the settings, with the address that follows from them.
func (f tlsFlags) into(cfg *server.Config, c serveCmd) error {
	cfg.PublicURL = strings.TrimRight(c.PublicURL, "/")
	opts := f.options()
	if !opts.Given() {
		if f.PlainAddr != "" {
			return errors.New("PRESSROOM_PLAIN_ADDR (--plain-addr) is for a program that speaks TLS itself: give PRESSROOM_TLS_CERT (--tls-cert) or PRESSROOM_ACME_DOMAIN (--acme-domain) too")
		}
		return nil
	}
	if cfg.PublicURL == "" && len(f.ACMEDomain) > 0 {
		cfg.PublicURL = "https://" + f.ACMEDomain[0]
	}
	if cfg.PublicURL != "" && !strings.HasPrefix(cfg.PublicURL, "https://") {
		return errors.New("PRESSROOM_PUBLIC_URL (--public-url) has to begin with https:// where the program speaks TLS itself")
	}
	if path, isSQLite := strings.CutPrefix(c.Database, "sqlite:"); isSQLite && opts.ACME.Folder == "" {
		opts.ACME.Folder = path + certsEnd
	}
	opts.ACME.TLSPort, opts.ACME.HTTPPort = portOf(c.Addr), portOf(f.PlainAddr)
	cfg.Certificates, cfg.PlainAddr = opts, f.PlainAddr
	return nil
}

// portOf is the port of an address to listen at; 0 where it has none that is known.
func portOf(addr string) int {
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
