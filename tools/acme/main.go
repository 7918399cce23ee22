// Command acme runs Pebble, an ACME test server that validates challenges. All host names resolve to this machine.
// The command prints its address and certificates as one line of JSON, and runs until its standard input is closed.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// started is the output that the test reads. Certificates are DER-encoded.
type started struct {
	Directory string // URL of the ACME directory
	Own       []byte // the server's own TLS certificate
	Root      []byte // root certificate for the issued certificates
}

func main() {
	httpPort := flag.Int("http", 0, "port for HTTP challenges")
	tlsPort := flag.Int("tls", 0, "port for TLS challenges")
	flag.Parse()
	if err := run(*httpPort, *tlsPort); err != nil {
		log.Fatal(err)
	}
}

func run(httpPort, tlsPort int) error {
	if err := os.Setenv("PEBBLE_VA_NOSLEEP", "1"); err != nil {
		return err
	}
	names, err := startNameServer()
	if err != nil {
		return err
	}
	discard := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	authority := ca.New(discard, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {}})
	front := wfe.New(discard, store, va.New(discard, httpPort, tlsPort, true, names, store), authority, []string{"pebble.test"},
		true, false, 0, 0)
	server := httptest.NewTLSServer(front.Handler())
	defer server.Close()
	if err := json.NewEncoder(os.Stdout).Encode(started{
		Directory: server.URL + wfe.DirectoryPath, Own: server.Certificate().Raw, Root: authority.GetRootCert(0).DER,
	}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startNameServer starts a name server that resolves every name to this machine, and returns its address.
func startNameServer() (string, error) {
	socket, err := net.Listen("tcp", "127.0.0.1:0") // Pebble uses TCP
	if err != nil {
		return "", err
	}
	server := &dns.Server{Listener: socket, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, request *dns.Msg) {
		response := new(dns.Msg).SetReply(request)
		for _, q := range request.Question {
			if q.Qtype == dns.TypeA {
				header := dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}
				response.Answer = append(response.Answer, &dns.A{Hdr: header, A: net.IPv4(127, 0, 0, 1)})
			}
		}
		_ = w.WriteMsg(response) // If this fails, the test fails.
	})}
	go func() { _ = server.ActivateAndServe() }()
	return socket.Addr().String(), nil
}
