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

	"pressroom/internal/api/problem"
	"pressroom/internal/apierr"
)

// refusals writes problem documents where net/http refuses a request in plain text, before any handler has it: a
// malformed request, a missing Host, header fields that are too large. Such a refusal is a single write to the
// connection while no handler answers, so that the bytes of an answer are never taken for one.
type refusals struct {
	publicURL string
	log       *slog.Logger
	secure    http.Header // of every answer
}

// attach has a door write its refusals as problem documents. The door does its own TLS handshakes then.
func (r *refusals) attach(d *door) {
	if d.tls {
		d.listener, d.tls = newHandshakes(d.listener, d.server, r), false
	} else {
		d.listener = refusing{d.listener, r}
	}
	next := d.server.Handler
	d.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if g, ok := req.Context().Value(guardKey{}).(*guard); ok {
			g.answering.Store(true)
		}
		next.ServeHTTP(w, req)
	})
	d.server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if g := guarding(c); g != nil {
			return context.WithValue(ctx, guardKey{}, g)
		}
		return ctx
	}
	d.server.ConnState = func(c net.Conn, state http.ConnState) {
		if g := guarding(c); g != nil && state == http.StateIdle {
			g.path = pathScan{}
			g.answering.Store(false)
		}
	}
}

// guard is what a connection knows of the request that is under way.
type guard struct {
	*refusals

	answering atomic.Bool // from when a handler has the request until its whole answer is written
	path      pathScan
}

type guardKey struct{}

func guarding(c net.Conn) *guard {
	switch c := c.(type) {
	case *plainConn:
		return &c.guard
	case *secureConn:
		return &c.guard
	}
	return nil
}

// plainConn and secureConn are connections of HTTP/1.x with a guard. What they embed gives net/http what it looks for:
// ReadFrom to send files by the kernel, CloseWrite, and the state of the TLS connection.
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

// refusing wraps the TCP connections of a listener.
type refusing struct {
	net.Listener

	refusals *refusals
}

func (l refusing) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return &plainConn{TCPConn: tcp, guard: guard{refusals: l.refusals}}, nil
	}
	return c, err //nolint:wrapcheck // net/http looks whether it is temporary
}

func (g *guard) read(p []byte) {
	if !g.answering.Load() {
		g.path.scan(p)
	}
}

// write writes to a connection, a problem document in place of a refusal of net/http.
func (g *guard) write(c net.Conn, p []byte) (int, error) {
	if g.answering.Load() {
		return c.Write(p) //nolint:wrapcheck // net/http compares errors of connections
	}
	refusal := refusalOf(p, g.path.malformed)
	if refusal == nil {
		return c.Write(p) //nolint:wrapcheck // as above
	}
	if _, err := c.Write(g.document(refusal)); err != nil {
		return 0, err //nolint:wrapcheck // as above
	}
	return len(p), nil
}

// What net/http refuses, by the status that it gives. 417 is for an Expect field of which it knows nothing.
var refused = map[string]error{
	"400": apierr.New(apierr.MalformedRequest,
		"The request is not valid HTTP/1.1. Check the request line, the Host header and the other header fields."),
	"417": apierr.New(apierr.MalformedRequest, "The Expect header field is not supported. Leave it out."),
	"431": apierr.New(apierr.HeadersTooLarge,
		fmt.Sprintf("The request line and the header fields take more than %d KiB together.", maxHeaders>>10)),
	"501": apierr.New(apierr.TransferCodingUnsupported, "The only transfer coding that is supported is chunked."),
	"505": apierr.New(apierr.HTTPVersionUnsupported, "Use HTTP/1.1 or HTTP/2."),
}

var errMalformedPath = apierr.New(apierr.EndpointNotFound,
	"The path holds a percent sign that no two hexadecimal digits follow.")

// refusalOf returns what to answer in place of a refusal of net/http, and nil for other bytes.
func refusalOf(p []byte, badPath bool) error {
	const version = "HTTP/1.1 "
	rest, ok := bytes.CutPrefix(p, []byte(version))
	if !ok || len(rest) < 4 {
		return nil
	}
	if badPath && bytes.HasPrefix(rest, []byte("400 Bad Request\r\n")) { // those of header fields say more
		return errMalformedPath
	}
	return refused[string(rest[:3])]
}

// document is the whole answer: it ends the connection, as net/http does.
func (r *refusals) document(refusal error) []byte {
	id := uuid.Must(uuid.NewV7()).String()
	doc := problem.Of(refusal, r.publicURL)
	body, err := json.Marshal(doc)
	if err != nil {
		body = []byte("{}")
	}
	body = append(body, '\n')
	h := r.secure.Clone()
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Type", "application/problem+json")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	h.Set("X-Request-Id", id)
	r.log.Info("request refused before it was read", "request_id", id, "status", doc.Status, "refused",
		string(doc.Code))
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", doc.Status, http.StatusText(doc.Status))
	_ = h.Write(&out) // to memory
	out.WriteString("\r\n")
	out.Write(body)
	return out.Bytes()
}

var (
	errNoPath = apierr.New(apierr.EndpointNotFound,
		"The request asks for no path. Ask for one that begins with a slash; the service is no proxy.")
	errPreface = apierr.New(apierr.HTTPVersionUnsupported, "HTTP/2 needs TLS here. Use HTTP/1.1, or https.")
)

// onlyPaths answers requests whose target is no path: those for *, tunnels by CONNECT (RFC 9112, section 3.2), and the
// preface of HTTP/2 without TLS, which reads like a request (RFC 9113, section 3.4). A mux would answer them with an
// empty body or as plain text.
func onlyPaths(publicURL string, log *slog.Logger, next http.Handler) http.Handler {
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
		refusal := errNoPath
		if r.Method == "PRI" {
			refusal = errPreface
		}
		status := problem.Write(w, refusal, publicURL)
		log.InfoContext(r.Context(), "request without a path refused", "request_id", id, "status", status)
	})
}

// pathScan looks for a percent sign in a request's path that no two hexadecimal digits follow, as the bytes arrive.
type pathScan struct {
	malformed bool
	done      bool // the path has ended
	digits    int  // that have to follow
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
