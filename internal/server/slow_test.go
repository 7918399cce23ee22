package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// pipes is a listener for in-memory connections, which use the fake clock of the test.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connectionTime returns how long a client keeps a connection. The handler reads the body and responds with more
// bytes than buffers hold.
func connectionTime(t *testing.T, behave func(net.Conn)) time.Duration {
	t.Helper()
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		listener, handled := make(pipes), make(chan struct{}, 1)
		server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
		}))
		server.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				handled <- struct{}{}
			}
		}
		go func() { _ = server.Serve(listener) }()
		ours, theirs := net.Pipe()
		began := time.Now()
		listener <- theirs
		go behave(ours)
		select {
		case <-handled:
		case <-time.After(time.Hour):
		}
		took = time.Since(began)
		ours.Close()
		<-time.After(time.Hour) // until a slow sender has noticed
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return took
}

// drip sends a text byte by byte and reads nothing.
func drip(text string, every time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		for i := range text {
			if _, err := io.WriteString(c, text[i:i+1]); err != nil {
				return
			}
			<-time.After(every)
		}
	}
}

// Clients that send slowly, send nothing or do not read are disconnected.
func TestSlowClientsDisconnected(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
	reads := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, c) }()
			_, _ = io.WriteString(c, text)
		}
	}
	for name, c := range map[string]struct {
		behave func(net.Conn)
		limit  time.Duration
	}{
		"nothing is sent": {func(net.Conn) {}, 10 * time.Second},
		"a slow header": {func(c net.Conn) {
			reads("GET / HTTP/1.1\r\n")(c)
			drip("Host: x\r\n"+strings.Repeat("X: y\r\n", 100), time.Second)(c)
		}, 10 * time.Second},
		"no body": {reads(head), time.Minute},
		"a slow body": {func(c net.Conn) {
			reads(head)(c)
			drip(strings.Repeat("x", 1000), 5*time.Second)(c)
		}, time.Minute},
		"the response is not read": {drip("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0), 2 * time.Minute},
		"no next request":          {reads("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), 2 * time.Minute},
		"endless chunks": {func(c net.Conn) {
			reads("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")(c)
			drip(strings.Repeat("1\r\nx\r\n", 500), time.Second)(c)
		}, time.Minute},
	} {
		if took := connectionTime(t, c.behave); took > c.limit+time.Second {
			t.Errorf("%s: connected for %v", name, took)
		}
	}
}

// A chunked request closes the connection. Other requests do not.
func TestChunkedRequestsCloseTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for body, closes := range map[string]bool{"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n": true, "Content-Length: 0\r\n\r\n": false} {
			listener := make(pipes)
			server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
			go func() { _ = server.Serve(listener) }()
			ours, theirs := net.Pipe()
			listener <- theirs
			go func() { _, _ = io.WriteString(ours, "POST / HTTP/1.1\r\nHost: x\r\n"+body) }()
			must.NoError(t, ours.SetReadDeadline(time.Now().Add(time.Minute)))
			raw, err := io.ReadAll(ours)
			if got := err == nil; got != closes {
				t.Errorf("%q: %v %s", body, err, raw)
			}
			if err := errors.Join(ours.Close(), server.Close()); err != nil {
				t.Error(fmt.Errorf("ending: %w", err))
			}
		}
	})
}
