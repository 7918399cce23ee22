package program

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/acme"
	"pressroom.example/pressroom/internal/testkit/must"
)

// writeCertificate writes a certificate for press.test and its key. It returns a pool with the root certificate.
func writeCertificate(t *testing.T, certFile, keyFile string) *x509.CertPool {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject: pkix.Name{CommonName: "press.test"}, DNSNames: []string{"press.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	rawKey := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	for file, block := range map[string]*pem.Block{
		keyFile: {Type: "PRIVATE KEY", Bytes: rawKey}, certFile: {Type: "CERTIFICATE", Bytes: der},
	} {
		must.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	pool := x509.NewCertPool()
	leaf := must.Get(x509.ParseCertificate(der))(t)
	pool.AddCert(leaf)
	return pool
}

// browser returns a client that trusts roots, connects to addr for every host name and does not follow redirects.
func browser(roots *x509.CertPool, addr string) *http.Client {
	return &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			ForceAttemptHTTP2: true, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			},
		},
	}
}

// answers repeats a request until there is a response.
func (o *operator) answers(client *http.Client, url string) *http.Response {
	o.t.Helper()
	var got *http.Response
	o.until("an answer of "+url, func() bool {
		req := must.Get(http.NewRequestWithContext(o.t.Context(), http.MethodGet, url, nil))(o.t)
		resp, err := client.Do(req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		got = resp
		return true
	})
	return got
}

// The server uses and reloads TLS certificate files. Over plain HTTP, it redirects browsers and tells API clients
// that their key was exposed.
func TestTLSByFiles(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "agency")
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	roots := writeCertificate(t, certFile, keyFile)
	addr, plain := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	p := start(t, o.env, "serve", "--addr", addr, "--tls-cert", certFile, "--tls-key", keyFile, "--plain-addr", plain,
		"--public-url", "https://press.test")
	ready := o.answers(browser(roots, addr), "https://press.test/readyz")
	if ready.StatusCode != http.StatusOK || ready.ProtoMajor != 2 || ready.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%s %s %v", ready.Proto, ready.Status, ready.Header)
	}
	over := browser(nil, plain)
	for _, c := range []struct {
		method, url, authorization string
		status                     int
		leads                      string
	}{
		{"GET", "http://press.test/sign-in?next=%2Fposts", "", http.StatusMovedPermanently, "https://press.test/sign-in?next=%2Fposts"},
		{"HEAD", "http://elsewhere.test/", "", http.StatusMovedPermanently, "https://press.test/"},
		{"GET", "http://press.test//evil.test/", "", http.StatusMovedPermanently, "https://press.test//evil.test/"},
		{"GET", "http://press.test/api/v1/me", "Bearer " + key, http.StatusNotFound, ""},
		{"GET", "http://press.test/api/v1/openapi.json", "", http.StatusNotFound, ""},
		{"POST", "http://press.test/mcp", "Bearer " + key, http.StatusNotFound, ""},
		{"GET", "http://press.test/", "Bearer " + key, http.StatusNotFound, ""},
		{"POST", "http://press.test/sign-in", "", http.StatusNotFound, ""},
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), c.method, c.url, nil))(t)
		if c.authorization != "" {
			req.Header.Set("Authorization", c.authorization)
		}
		resp := must.Get(over.Do(req))(t)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || resp.Header.Get("Location") != c.leads {
			t.Errorf("%s %s: %s to %q", c.method, c.url, resp.Status, resp.Header.Get("Location"))
		}
		if c.status == http.StatusNotFound && (resp.Header.Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(string(body), "revoke it") || strings.Contains(string(body), key)) {
			t.Errorf("%s %s: %s %s", c.method, c.url, resp.Header.Get("Content-Type"), body)
		}
	}
	next := writeCertificate(t, certFile, keyFile)
	if again := o.answers(browser(next, addr), "https://press.test/livez"); again.StatusCode != http.StatusOK {
		t.Errorf("with the new certificate: %s", again.Status)
	}
	if status := p.end(); status != 0 {
		t.Errorf("ended with %d: %s", status, p.log)
	}
	if strings.Contains(p.log.String(), key) {
		t.Error("the key is in the log")
	}
}

// With only a host name, the server gets a certificate from an ACME server and reuses it after a restart.
func TestTLSByACME(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "agency")
	over, plain := freePort(t), freePort(t)
	authority := acme.Start(t, number(t, plain), number(t, over))
	for _, server := range []string{authority.Directory, authority.Directory} {
		p := start(t, append(o.env, "PRESSROOM_ACME_DOMAIN=press.test"), "serve", "--addr", "127.0.0.1:"+over,
			"--plain-addr", "127.0.0.1:"+plain,
			"--acme-email", "ada@press.test", "--acme-ca", server, "--acme-roots", authority.RootsFile)
		if ready := o.answers(browser(authority.Issued, "127.0.0.1:"+over),
			"https://press.test/readyz"); ready.StatusCode != http.StatusOK {
			t.Errorf("%s", ready.Status)
		}
		if led := o.answers(browser(nil, "127.0.0.1:"+plain), "http://press.test/").Header.Get("Location"); led != "https://press.test/" {
			t.Errorf("redirected to %q", led)
		}
		if status := p.end(); status != 0 {
			t.Errorf("ended with %d: %s", status, p.log)
		}
	}
	kept, err := filepath.Glob(filepath.Join(filepath.Dir(strings.TrimPrefix(o.env[0], "PRESSROOM_DATABASE=sqlite:")),
		"pressroom.db.certificates", "certificates", "*", "press.test", "press.test.crt"))
	if err != nil || len(kept) != 1 {
		t.Errorf("stored certificates: %v %v", kept, err)
	}
}
