// Package acme runs Pebble, an ACME server that validates challenges, for tests. All names resolve to this machine.
package acme

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// Server is a running ACME server.
type Server struct {
	Directory string         // URL of the ACME directory
	Roots     string         // PEM file with the root certificate of the server's own TLS certificate
	Issued    *x509.CertPool // root certificate of the issued certificates
}

// Start runs a server until the test ends. It validates HTTP and TLS challenges at these ports. The test must not be
// parallel, because Pebble is configured by an environment variable.
func Start(t *testing.T, httpPort, tlsPort int) Server {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	discard := log.New(io.Discard, "", 0) //nolint:forbidigo // Pebble needs it
	store := db.NewMemoryStore()
	authority := ca.New(discard, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	front := wfe.New(discard, store, va.New(discard, httpPort, tlsPort, true, startNameServer(t), store), authority,
		[]string{"pebble.test"}, true, false, 0, 0)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	roots := filepath.Join(t.TempDir(), "acme-roots.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(roots, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	issued := x509.NewCertPool()
	root, err := x509.ParseCertificate(authority.GetRootCert(0).DER)
	if err != nil {
		t.Fatal(err)
	}
	issued.AddCert(root)
	return Server{Directory: server.URL + wfe.DirectoryPath, Roots: roots, Issued: issued}
}

// startNameServer starts a name server that resolves every name to this machine, and returns its address.
func startNameServer(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0") // Pebble uses TCP
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, request *dns.Msg) {
		response := new(dns.Msg).SetReply(request)
		for _, q := range request.Question {
			if q.Qtype == dns.TypeA {
				header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}
				response.Answer = append(response.Answer, &dns.A{Hdr: header, A: net.IPv4(127, 0, 0, 1)})
			}
		}
		_ = w.WriteMsg(response) // The test notices failures.
	})}
	go func() { _ = server.ActivateAndServe() }()
	t.Cleanup(func() { _ = server.Shutdown() })
	return socket.Addr().String()
}
