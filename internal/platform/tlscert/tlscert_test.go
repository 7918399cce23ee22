package tlscert_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/tlscert"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/acme"
)

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// writeCertificate writes a certificate for a name with a serial number, and its key.
func writeCertificate(t *testing.T, files tlscert.Files, name string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		files.Certificate: {Type: "CERTIFICATE", Bytes: der}, files.Key: {Type: "PRIVATE KEY", Bytes: raw},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// servedSerial returns the serial number of the certificate that a handshake uses.
func servedSerial(t *testing.T, certs *tlscert.Certificates) int64 {
	t.Helper()
	clientConn, serverConn := net.Pipe()
	defer clientConn.Close()
	go func() {
		defer serverConn.Close()
		_ = tls.Server(serverConn, certs.TLS()).HandshakeContext(t.Context()) // The client reports failures.
	}()
	client := tls.Client(clientConn, &tls.Config{InsecureSkipVerify: true})
	if err := client.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// TestFilesReloaded checks that new files are loaded once both have been replaced.
func TestFilesReloaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := tlscert.Files{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	writeCertificate(t, files, "press.test", 1)
	clock := testkit.NewClock(time.Now())
	certs, err := tlscert.Open(tlscert.Options{Files: files, Now: clock.Now, Log: discardLogger()})
	if err != nil {
		t.Fatal(err)
	}
	defer certs.Close()
	if n := servedSerial(t, certs); n != 1 {
		t.Fatalf("served certificate %d", n)
	}
	next := tlscert.Files{Certificate: filepath.Join(dir, "next.crt"), Key: filepath.Join(dir, "next.key")}
	writeCertificate(t, next, "press.test", 2)
	for _, step := range []struct {
		from, to   string
		wantSerial int64
	}{{next.Certificate, files.Certificate, 1}, {next.Key, files.Key, 2}} {
		if err := os.Rename(step.from, step.to); err != nil {
			t.Fatal(err)
		}
		clock.Advance(2 * time.Second)
		if n := servedSerial(t, certs); n != step.wantSerial {
			t.Errorf("after replacing %s: certificate %d, want %d", filepath.Base(step.to), n, step.wantSerial)
		}
	}
	if err := os.Remove(files.Key); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Second)
	if n := servedSerial(t, certs); n != 2 {
		t.Errorf("without files: certificate %d", n)
	}
	if ends := certs.Expiry()["press.test"]; time.Until(ends) < 23*time.Hour {
		t.Errorf("expires at %v", ends)
	}
}

// TestInvalidOptions checks that errors about invalid options name the flags.
func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := tlscert.Files{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	writeCertificate(t, files, "press.test", 1)
	for _, c := range []struct {
		opts    tlscert.Options
		wantErr string
	}{
		{tlscert.Options{Files: tlscert.Files{Certificate: files.Certificate}}, "--tls-key"},
		{tlscert.Options{Files: tlscert.Files{Certificate: files.Key, Key: files.Key}}, "reading the certificate"},
		{tlscert.Options{Files: files, ACME: tlscert.ACME{Domains: []string{"press.test"}}}, "not both"},
		{tlscert.Options{ACME: tlscert.ACME{Domains: []string{"press.test"}}}, "--acme-folder"},
		{tlscert.Options{ACME: tlscert.ACME{Domains: []string{"press.test"}, Folder: dir, Roots: files.Key}}, "--acme-roots"},
	} {
		c.opts.Log = discardLogger()
		if _, err := tlscert.Open(c.opts); err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("%+v: %v, want %q", c.opts, err, c.wantErr)
		}
	}
}

// TestACME checks that each challenge obtains a certificate from an ACME server, and that a second node uses the
// certificate in the shared folder.
func TestACME(t *testing.T) {
	t.Parallel()
	for _, byHTTP := range []bool{true, false} {
		t.Run(map[bool]string{true: "by HTTP", false: "by TLS"}[byHTTP], func(t *testing.T) {
			t.Parallel()
			// certmagic keeps the open challenges of a process by domain, so the tests need different domains.
			domain := map[bool]string{true: "http.press.test", false: "tls.press.test"}[byHTTP]
			tlsListener, httpListener := listen(t), listen(t)
			folder := filepath.Join(t.TempDir(), "certificates")
			unusedPort := 1 // an unused port
			httpPort, tlsPort, validationPort := 0, port(tlsListener), port(tlsListener)
			if byHTTP {
				httpPort, tlsPort, validationPort = port(httpListener), 0, unusedPort
			}
			authority := acme.Start(t, max(httpPort, unusedPort), validationPort)
			opts := tlscert.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), ACME: tlscert.ACME{
				Domains: []string{domain}, Email: "ada@press.test", CA: authority.Directory,
				Roots: authority.RootsFile, Folder: folder, HTTPPort: httpPort, TLSPort: tlsPort,
			}}
			certs := serve(t, opts, tlsListener, httpListener)
			want := fetch(t, tlsListener, domain, authority.Issued)
			if ends := certs.Expiry()[domain]; !ends.Equal(want.NotAfter) {
				t.Errorf("certificate expires at %v, Expiry returns %v", want.NotAfter, ends)
			}
			second := listen(t)
			opts.ACME.TLSPort = port(second)
			serve(t, opts, second, listen(t))
			if got := fetch(t, second, domain, authority.Issued); got.SerialNumber.Cmp(want.SerialNumber) != 0 {
				t.Error("the second node serves another certificate")
			}
		})
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// serve serves HTTPS at one listener and HTTP with challenges at the other.
func serve(t *testing.T, opts tlscert.Options, tlsListener, httpListener net.Listener) *tlscert.Certificates {
	t.Helper()
	certs, err := tlscert.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	ctx, stop := context.WithCancel(t.Context())
	servers := []*http.Server{
		{
			Handler: hello, TLSConfig: certs.TLS(), ReadHeaderTimeout: time.Second,
			ErrorLog: slog.NewLogLogger(discardLogger().Handler(), slog.LevelError),
		},
		{Handler: certs.HandleChallenges(hello), ReadHeaderTimeout: time.Second},
	}
	go func() { _ = servers[0].ServeTLS(tlsListener, "", "") }()
	go func() { _ = servers[1].Serve(httpListener) }()
	t.Cleanup(func() {
		stop()
		certs.Close()
		for _, s := range servers {
			_ = s.Close()
		}
	})
	if err := certs.Manage(ctx); err != nil {
		t.Fatal(err)
	}
	return certs
}

// fetch connects until TLS succeeds with the authority's root certificate, and returns the server's certificate.
func fetch(t *testing.T, l net.Listener, domain string, roots *x509.CertPool) *x509.Certificate {
	t.Helper()
	dialer := tls.Dialer{
		Config: &tls.Config{RootCAs: roots, ServerName: domain, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}},
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for {
		conn, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
		if err == nil {
			defer conn.Close()
			state := conn.(*tls.Conn).ConnectionState()
			if state.NegotiatedProtocol != "h2" {
				t.Errorf("negotiated protocol %q", state.NegotiatedProtocol)
			}
			return state.PeerCertificates[0]
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no certificate within 30 seconds: %v", err)
		}
	}
}
