package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
)

// protocolErrors replaces net/http's plain-text rejections with problem documents. net/http sends such rejections
// before it calls a handler, for example for malformed requests. It writes a rejection in a single write while no
// handler is running, so a response is never mistaken for a rejection.
type protocolErrors struct {
	publicURL string
	log       *slog.Logger
	headers   http.Header // header fields for every response
}

// attach wraps a listener so that its connections have a guard. With TLS, the new listener also completes the
// handshakes.
func (p *protocolErrors) attach(l *httpListener) {
	if l.tls {
		l.listener, l.tls = newHandshakeListener(l.listener, l.server, p), false
	} else {
		l.listener = guardedListener{l.listener, p}
	}
	next := l.server.Handler
	l.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if g, ok := req.Context().Value(guardKey{}).(*guard); ok {
			g.responding.Store(true)
		}
		next.ServeHTTP(w, req)
	})
	l.server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if g := guardFrom(c); g != nil {
			return context.WithValue(ctx, guardKey{}, g)
		}
		return ctx
	}
	l.server.ConnState = func(c net.Conn, state http.ConnState) {
		if g := guardFrom(c); g != nil && state == http.StateIdle {
			g.path = pathScan{}
			g.responding.Store(false)
		}
	}
}

// guard is the state of a connection's current request.
type guard struct {
	*protocolErrors

	responding atomic.Bool // whether a handler is processing the request
	path       pathScan
}

type guardKey struct{}

func guardFrom(c net.Conn) *guard {
	switch c := c.(type) {
	case *plainConn:
		return &c.guard
	case *secureConn:
		return &c.guard
	}
	return nil
}

// plainConn and secureConn are HTTP/1.x connections with a guard. They embed the connection types, because net/http
// uses their ReadFrom method (for sendfile), CloseWrite method and TLS connection state.
type (
	plainConn struct {
		*net.TCPConn

		guard guard
	}
	secureConn struct {
		*tls.Conn

		guard guard
	}
)

func (c *plainConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	c.guard.read(p[:n])
	return n, err //nolint:wrapcheck // net/http compares errors of connections
}

func (c *plainConn) Write(p []byte) (int, error) { return c.guard.write(c.TCPConn, p) }

func (c *secureConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.guard.read(p[:n])
	return n, err //nolint:wrapcheck // net/http compares errors of connections
}

func (c *secureConn) Write(p []byte) (int, error) { return c.guard.write(c.Conn, p) }

// guardedListener wraps the TCP connections of a listener.
type guardedListener struct {
	net.Listener

	problems *protocolErrors
}

func (l guardedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return &plainConn{TCPConn: tcp, guard: guard{protocolErrors: l.problems}}, nil
	}
	return c, err //nolint:wrapcheck // net/http checks whether it is temporary
}

func (g *guard) read(p []byte) {
	if !g.responding.Load() {
		g.path.scan(p)
	}
}

// write writes p to a connection. If p is a rejection from net/http, write sends a problem document instead.
func (g *guard) write(c net.Conn, p []byte) (int, error) {
	if g.responding.Load() {
		return c.Write(p) //nolint:wrapcheck // net/http compares errors of connections
	}
	rejection := problemFor(p, g.path.malformed)
	if rejection == nil {
		return c.Write(p) //nolint:wrapcheck // as above
	}
	if _, err := c.Write(g.response(rejection)); err != nil {
		return 0, err //nolint:wrapcheck // as above
	}
	return len(p), nil
}

// problems maps the status of a net/http rejection to the error that replaces it. net/http uses 417 for an unknown
// Expect header field.
var problems = map[string]error{
	"400": apierr.New(apierr.MalformedRequest,
		"The request is not valid HTTP/1.1. Check the request line, the Host header and the other header fields."),
	"417": apierr.New(apierr.MalformedRequest, "The Expect header field is not supported. Remove it."),
	"431": apierr.New(apierr.HeadersTooLarge,
		fmt.Sprintf("The request line and header fields exceed %d KiB. Send fewer or shorter ones.", maxHeaderBytes>>10)),
	"501": apierr.New(apierr.TransferCodingUnsupported, "The only supported transfer coding is chunked."),
	"505": apierr.New(apierr.HTTPVersionUnsupported, "Use HTTP/1.1 or HTTP/2."),
}

var errMalformedPath = apierr.New(apierr.EndpointNotFound,
	"The path contains a percent sign without two hexadecimal digits after it.")

// problemFor returns the error that replaces the rejection p, or nil if p is not a rejection.
func problemFor(p []byte, badPath bool) error {
	const version = "HTTP/1.1 "
	rest, ok := bytes.CutPrefix(p, []byte(version))
	if !ok || len(rest) < 4 {
		return nil
	}
	if badPath && bytes.HasPrefix(rest, []byte("400 Bad Request\r\n")) { // rejections because of header fields have more text
		return errMalformedPath
	}
	return problems[string(rest[:3])]
}

// response returns a complete response for an error. Like net/http's rejections, it closes the connection.
func (p *protocolErrors) response(err error) []byte {
	id := uuid.Must(uuid.NewV7()).String()
	doc := problem.FromError(err, p.publicURL)
	body, marshalErr := json.Marshal(doc)
	if marshalErr != nil {
		body = []byte("{}")
	}
	body = append(body, '\n')
	h := p.headers.Clone()
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Type", "application/problem+json")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	h.Set("X-Request-Id", id)
	p.log.Info("request rejected before it was read", "request_id", id, "status", doc.Status, "refused",
		string(doc.Code))
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", doc.Status, http.StatusText(doc.Status))
	_ = h.Write(&out) // writing to memory never fails
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}

var (
	errNoPath = apierr.New(apierr.EndpointNotFound,
		"The request has no path. Send a path that begins with a slash; the service is not a proxy.")
	errHTTP2Preface = apierr.New(apierr.HTTPVersionUnsupported, "HTTP/2 requires TLS here. Use HTTP/1.1 or https.")
)

// rejectNonPaths returns a handler that rejects requests whose target is not a path: * and CONNECT (RFC 9112, section
// 3.2), and the HTTP/2 preface without TLS (RFC 9113, section 3.4). A mux would respond with an empty body or plain text.
func rejectNonPaths(publicURL string, log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI != "*" && r.Method != http.MethodConnect {
			next.ServeHTTP(w, r)
			return
		}
		id := uuid.Must(uuid.NewV7()).String()
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Connection", "close")
		h.Set("X-Request-Id", id)
		err := errNoPath
		if r.Method == "PRI" {
			err = errHTTP2Preface
		}
		status := problem.Write(w, err, publicURL)
		log.InfoContext(r.Context(), "request without a path rejected", "request_id", id, "status", status)
	})
}

// pathScan detects a percent sign without two hexadecimal digits in the path of a request. It scans the bytes as
// they arrive.
type pathScan struct {
	malformed bool
	done      bool // whether the path has ended
	digits    int  // number of hexadecimal digits that must follow
}

func (s *pathScan) scan(p []byte) {
	for _, c := range p {
		switch {
		case s.done:
			return
		case s.digits > 0 && !isHex(c):
			s.malformed, s.done = true, true
		case s.digits > 0:
			s.digits--
		case c == '%':
			s.digits = 2
		case c == '?' || c == '\n':
			s.done = true
		}
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
