package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"

	"pressroom.example/pressroom/internal/apierr"
)

// handshakeListener completes the TLS handshake of each connection before it returns the connection. net/http does this
// only for a *tls.Conn, which cannot be wrapped. The listener returns HTTP/2 connections unchanged, and wraps HTTP/1.x
// connections with a guard (see protocolErrors).
type handshakeListener struct {
	net.Listener

	config   *tls.Config
	server   *http.Server
	problems *protocolErrors
	results  chan acceptResult
	start    sync.Once
	ctx      context.Context //nolint:containedctx // ends with the listener
	cancel   context.CancelFunc
}

type acceptResult struct {
	conn net.Conn
	err  error
}

func newHandshakeListener(l net.Listener, server *http.Server, p *protocolErrors) *handshakeListener {
	h := &handshakeListener{
		Listener: l, config: server.TLSConfig, server: server, problems: p, results: make(chan acceptResult),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Accept returns the next connection whose handshake is complete.
func (h *handshakeListener) Accept() (net.Conn, error) {
	h.start.Do(func() { go h.run() }) // not earlier, because Serve first completes the TLS configuration
	select {
	case r := <-h.results:
		return r.conn, r.err
	case <-h.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close closes the listener, and all connections whose handshake is not complete.
func (h *handshakeListener) Close() error {
	h.cancel()
	return h.Listener.Close()
}

func (h *handshakeListener) run() {
	for {
		c, err := h.Listener.Accept()
		if err != nil {
			if !h.send(acceptResult{err: err}) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // Serve waits after a temporary error, and closes the listener after any other error
		}
		go h.handshake(c)
	}
}

// send passes a result to Accept. It returns false if the listener was closed.
func (h *handshakeListener) send(r acceptResult) bool {
	select {
	case h.results <- r:
		return true
	case <-h.ctx.Done():
		return false
	}
}

// handshake completes the handshake of a connection and sends it to Accept.
func (h *handshakeListener) handshake(c net.Conn) {
	ctx, cancel := context.WithTimeout(h.ctx, headerTimeout)
	defer cancel()
	conn := tls.Server(c, h.config)
	if err := conn.HandshakeContext(ctx); err != nil {
		h.reject(c, err)
		return
	}
	var accepted net.Conn = conn
	switch conn.ConnectionState().NegotiatedProtocol {
	case "h2":
	case "", "http/1.1":
		accepted = &secureConn{Conn: conn, guard: guard{protocolErrors: h.problems}}
	default: // an ACME challenge, for which the handshake is all that is needed
		_ = c.Close()
		return
	}
	if !h.send(acceptResult{conn: accepted}) {
		_ = c.Close()
	}
}

var errNotTLS = apierr.New(apierr.MalformedRequest, "This port requires TLS. Use https.")

// reject closes a connection whose handshake failed. If the client sent plain HTTP, reject first sends an error
// response.
func (h *handshakeListener) reject(c net.Conn, err error) {
	reason := err.Error()
	if head, ok := errors.AsType[tls.RecordHeaderError](err); ok && head.Conn != nil &&
		looksLikeHTTP(head.RecordHeader) {
		reason = "client sent an HTTP request to an HTTPS server"
		_, _ = head.Conn.Write(h.problems.response(errNotTLS)) // the client may have disconnected
	}
	_ = c.Close()
	//nolint:forbidigo // net/http also logs handshake errors there
	h.server.ErrorLog.Printf("http: TLS handshake error from %s: %s", c.RemoteAddr(), reason)
}

// looksLikeHTTP reports whether the header of a TLS record is the start of a plain HTTP request.
func looksLikeHTTP(head [5]byte) bool {
	switch string(head[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		return true
	}
	return false
}
