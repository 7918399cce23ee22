package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// echo responds with the body of the request.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Path", r.URL.Path)
	if r.TLS != nil {
		w.Header().Set("X-TLS", r.TLS.NegotiatedProtocol)
	}
	_ = http.NewResponseController(w).Flush() // the header first, so that the body is a write of its own
	_, _ = w.Write(body)
})

// serveHandler serves a handler like the server, with or without TLS, and returns its address.
func serveHandler(t *testing.T, secure bool, h http.Handler) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	d := httpListener{server: newHTTPServer(h), listener: l, tls: secure}
	d.server.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn)
	if secure {
		d.server.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{testCertificate(t)},
		}
	}
	(&protocolErrors{"https://press.test", slog.New(slog.DiscardHandler), http.Header{"X-Frame-Options": {"DENY"}}}).attach(&d)
	ended := make(chan error, 1)
	go func() { ended <- d.serve() }()
	t.Cleanup(func() {
		_ = d.server.Close()
		<-ended
	})
	return l.Addr().String()
}

func testCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return s.TLS.Certificates[0]
}

func dial(t *testing.T, addr string, secure bool) net.Conn {
	t.Helper()
	var c net.Conn
	var err error
	if secure {
		c, err = tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	} else {
		c, err = net.Dial("tcp", addr)
	}
	must.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// transports runs a test with and without TLS.
func transports(t *testing.T, run func(t *testing.T, secure bool)) {
	t.Helper()
	for name, secure := range map[string]bool{"tcp": false, "tls": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, secure)
		})
	}
}

// Requests that net/http rejects before calling a handler get a problem document, on new and used connections.
func TestProtocolErrors(t *testing.T) {
	t.Parallel()
	transports(t, func(t *testing.T, secure bool) {
		addr := serveHandler(t, secure, echo)
		for name, c := range map[string]struct {
			text   string
			status int
			code   string
		}{
			"path":           {"GET /api/v1/posts/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 404, "endpoint_not_found"},
			"path cut short": {"GET /api/v1/posts/% HTTP/1.1\r\nHost: x\r\n\r\n", 404, "endpoint_not_found"},
			"no host":        {"GET / HTTP/1.1\r\n\r\n", 400, "malformed_request"},
			"two hosts":      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "malformed_request"},
			"request line":   {"GET\r\n\r\n", 400, "malformed_request"},
			"method":         {"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "malformed_request"},
			"field name":     {"GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", 400, "malformed_request"},
			"field value":    {"GET / HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400, "malformed_request"},
			"length":         {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "malformed_request"},
			"expectation":    {"POST / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\n\r\n", 400, "malformed_request"},
			"header":         {"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 2<<20) + "\r\n\r\n", 431, "headers_too_large"},
			"coding":         {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "transfer_coding_not_supported"},
			"version":        {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505, "http_version_not_supported"},
		} {
			for _, before := range []int{0, 2} {
				conn := dial(t, addr, secure)
				in := bufio.NewReader(conn)
				for i := range before {
					fmt.Fprintf(conn, "POST /%d%%41?x=%%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", i)
					resp, err := http.ReadResponse(in, nil)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || string(body) != "hi" {
						t.Errorf("%s: an earlier request: %d %q", name, resp.StatusCode, body)
					}
				}
				go func() { _, _ = io.WriteString(conn, c.text) }()
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				mustBeProblem(t, name, resp, c.status, c.code)
			}
		}
	})
}

func mustBeProblem(t *testing.T, name string, resp *http.Response, status int, code string) {
	t.Helper()
	defer resp.Body.Close()
	var doc problem.Document
	raw, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil || resp.StatusCode != status || doc.Status != status || string(doc.Code) != code ||
		doc.Type != "https://press.test/docs/errors#"+code || doc.Title == "" || doc.Detail == "" {
		t.Errorf("%s: %d %s (%v)", name, resp.StatusCode, raw, err)
	}
	h := resp.Header
	if h.Get("X-Frame-Options") != "DENY" || h.Get("Content-Type") != "application/problem+json" ||
		h.Get("Cache-Control") != "no-store" || len(h.Get("X-Request-Id")) != 36 || !resp.Close {
		t.Errorf("%s: %v", name, h)
	}
}

// Responses are never changed, even if they contain the bytes of a rejection.
func TestResponsesUnchanged(t *testing.T) {
	t.Parallel()
	const canned = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	transports(t, func(t *testing.T, secure bool) {
		addr := serveHandler(t, secure, echo)
		conn := dial(t, addr, secure)
		in := bufio.NewReader(conn)
		send := func(body string) {
			t.Helper()
			fmt.Fprintf(conn, "POST /%%41 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			resp := must.Get(http.ReadResponse(in, nil))(t)
			got, err := io.ReadAll(resp.Body)
			if err != nil || string(got) != body || resp.StatusCode != http.StatusOK {
				t.Fatalf("%d, %d bytes for %d (%v)", resp.StatusCode, len(got), len(body), err)
			}
		}
		for _, body := range []string{"", canned, strings.Repeat(canned, 100), "%zz", canned} {
			send(body)
		}
		rapid.Check(t, func(rt *rapid.T) {
			send(strings.Repeat("x", rapid.IntRange(0, 9000).Draw(rt, "before")) + canned + rapid.String().Draw(rt, "after"))
		})
	})
}

// With TLS, HTTP/2 works, requests have their connection state, and clients that speak plain HTTP get an error.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	addr := serveHandler(t, true, echo)
	for _, h2 := range []bool{true, false} {
		client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: h2, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		want := "http/1.1"
		if h2 {
			want = "h2"
		} else {
			client.Transport.(*http.Transport).TLSClientConfig.NextProtos = []string{"http/1.1"}
		}
		for range 3 {
			resp := must.Get(client.Get("https://" + addr + "/x"))(t)
			resp.Body.Close()
			if resp.Header.Get("X-TLS") != want || resp.StatusCode != http.StatusOK {
				t.Errorf("%d by %s: %v", resp.StatusCode, want, resp.Header)
			}
		}
		client.CloseIdleConnections()
	}
	conn := dial(t, addr, false)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	resp := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	mustBeProblem(t, "without TLS", resp, 400, "malformed_request")
}

// A slow handshake does not delay other connections and ends with the listener.
func TestConcurrentHandshakes(t *testing.T) {
	t.Parallel()
	var served atomic.Int64
	addr := serveHandler(t, true, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
	silent := dial(t, addr, false)
	conn := dial(t, addr, true)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusOK || served.Load() != 1 {
		t.Errorf("%v, %d served", err, served.Load())
	}
	_ = silent
}

// The result does not depend on how the bytes are split.
func TestPathScan(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"GET /%zz HTTP/1.1\r\n": true, "GET /%4 HTTP/1.1\r\n": true, "GET /% HTTP/1.1\r\n": true, "GET /%4": false, "GET /%41%": false,
		"GET /%41 HTTP/1.1\r\n": false, "GET /?%zz HTTP/1.1\r\n": false, "GET / HTTP/1.1\r\nA: %zz\r\n": false, "": false,
	} {
		for i := range len(line) + 1 {
			var s pathScan
			s.scan([]byte(line[:i]))
			s.scan([]byte(line[i:]))
			if s.malformed != want {
				t.Errorf("%q split at %d: %v", line, i, s.malformed)
			}
		}
	}
}

// Ordinary writes do not allocate memory.
func TestGuardAllocatesNothing(t *testing.T) {
	g := &guard{}
	page := bytes.Repeat([]byte("x"), 4096)
	if n := testing.AllocsPerRun(100, func() {
		g.read(page)
		if problemFor(page, false) != nil {
			t.Fail()
		}
		g.path = pathScan{}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The program rejects requests without a path with a problem document and the security headers.
func TestRequestsWithoutAPath(t *testing.T) {
	t.Parallel()
	key := must.Get(tokencrypt.NewKey())(t)
	s := must.Get(Open(t.Context(),
		Config{
			PublicURL: "https://press.test", Database: testkit.SQLite(t), SealingKey: key, Role: RoleAPI,
			Blobs: testkit.Blobs(t), Log: slog.New(slog.DiscardHandler),
		}))(t)
	t.Cleanup(func() { _ = s.Close() })
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.listen(ctx, l) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	for text, want := range map[string]struct {
		status int
		code   string
	}{
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n":               {404, "endpoint_not_found"},
		"GET * HTTP/1.1\r\nHost: x\r\n\r\n":                   {404, "endpoint_not_found"},
		"PRI * HTTP/1.1\r\nHost: x\r\n\r\n":                   {505, "http_version_not_supported"},
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                    {505, "http_version_not_supported"},
		"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n": {404, "endpoint_not_found"},
		"CONNECT /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n":      {404, "endpoint_not_found"},
		"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n":                {404, "endpoint_not_found"},
		"GET / HTTP/1.1\r\n\r\n":                              {400, "malformed_request"},
	} {
		conn := dial(t, l.Addr().String(), false)
		must.Get(io.WriteString(conn, text))(t)
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodGet})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		mustBeProblem(t, text, resp, want.status, want.code)
		for name, value := range s.securityHeaders() {
			if !slices.Equal(resp.Header.Values(name), value) || len(s.securityHeaders()) != 4 {
				t.Errorf("%q: %s is %q, want %q", text, name, resp.Header.Values(name), value)
			}
		}
	}
}
