package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"

	"pressroom/internal/apierr"
)

// handshakes is a listener that does the TLS handshake of each connection before it hands it on. net/http would do it
// itself, but only for a *tls.Conn, which cannot be wrapped: connections of HTTP/2 are handed on as such, those of
// HTTP/1.x with a guard (see refusals).
type handshakes struct {
	net.Listener

	config   *tls.Config
	server   *http.Server
	refusals *refusals
	accepted chan accepted
	begin    sync.Once
	ctx      context.Context //nolint:containedctx // ends with the listener
	end      context.CancelFunc
}

type accepted struct {
	conn net.Conn
	err  error
}

func newHandshakes(l net.Listener, server *http.Server, r *refusals) *handshakes {
	h := &handshakes{Listener: l, config: server.TLSConfig, server: server, refusals: r, accepted: make(chan accepted)}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// Accept returns the next connection whose handshake is done.
func (h *handshakes) Accept() (net.Conn, error) {
	h.begin.Do(func() { go h.run() }) // not before, as Serve completes the TLS configuration
	select {
	case a := <-h.accepted:
		return a.conn, a.err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener. Connections whose handshake is under way are closed.
func (h *handshakes) Close() error {
	h.end()
	return h.Listener.Close()
}

func (h *handshakes) run() {
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			if !h.hand(accepted{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // Serve has waited a little where the error is temporary, and has closed the listener else
		}
		go h.shake(c)
	}
}

// hand reports whether somebody has taken a connection or an error.
func (h *handshakes) hand(a accepted) bool {
	select {
	case h.accepted <- a:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// shake does the handshake of a connection within the time that its header fields may take, and hands it on.
func (h *handshakes) shake(c net.Conn) {
	ctx, cancel := context.WithTimeout(h.ctx, headersWithin)
	defer cancel()
	conn := tls.Server(c, h.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		h.refuse(c, err)
		return
	}
	var out net.Conn = conn
	switch conn.ConnectionState().NegotiatedProtocol {
	case "h2":
	case "", "http/1.1":
		out = &secureConn{Conn: conn, guard: guard{refusals: h.refusals}}
	default: // a challenge of ACME, which the handshake has answered
		_ = c.Close()
		return
	}
	if !h.hand(accepted{conn: out}) {
		_ = c.Close()
	}
}

var errWithoutTLS = apierr.New(apierr.MalformedRequest, "This port speaks TLS. Use https.")

// refuse ends a connection whose handshake failed. A client that speaks HTTP without TLS is told so.
func (h *handshakes) refuse(c net.Conn, err error) {
	reason := err.Error()
	if head, ok := errors.AsType[tls.RecordHeaderError](err); ok && head.Conn != nil &&
		looksLikeHTTP(head.RecordHeader) {
		reason = "client sent an HTTP request to an HTTPS server"
		_, _ = head.Conn.Write(h.refusals.document(errWithoutTLS)) // the client may be gone
	}
	_ = c.Close()
	h.server.ErrorLog.Printf("http: TLS handshake error from %s: %s", c.RemoteAddr(), reason) //nolint:forbidigo // net/http logs the others there
}

// looksLikeHTTP reports whether a TLS record's header is the start of a request without TLS.
func looksLikeHTTP(head [5]byte) bool {
	switch string(head[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}
