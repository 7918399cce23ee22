package safehttp

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// shortIdle sets a short idle timeout.
func shortIdle(o *Options) { o.Idle = 150 * time.Millisecond }

// raw returns a handler that sends the raw text and closes the connection. If more is not empty, it repeats more until
// the client disconnects.
func raw(t *testing.T, text, more string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		buffered.WriteString(text)
		buffered.Flush()
		if more != "" {
			dribble(conn, more)
		}
	}
}

func dribble(into io.Writer, text string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(into, text); err != nil {
			return
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, tt := range map[string]struct{ answer, more, code string }{
		"a file":            {ok + "Content-Length: 4\r\n\r\nfile", "", ""},
		"in chunks":         {ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nfile\r\n0\r\n\r\n", "", ""},
		"until it closes":   {"HTTP/1.0 200 OK\r\n\r\nfile", "", ""},
		"after early hints": {"HTTP/1.1 103 Early Hints\r\n\r\n" + ok + "Content-Length: 4\r\n\r\nfile", "", ""},
		"maximum length":    {ok + "Content-Length: 1000\r\n\r\n" + strings.Repeat("a", 1000), "", ""},
		"one byte too long": {ok + "Content-Length: 1001\r\n\r\n" + strings.Repeat("a", 1001), "", CodeTooLarge},
		"far too long":      {ok + "Content-Length: 9223372036854775807\r\n\r\na", "", CodeTooLarge},
		"chunks too long": {
			ok + "Transfer-Encoding: chunked\r\n\r\n3E9\r\n" + strings.Repeat("a", 1001) + "\r\n0\r\n\r\n", "", CodeTooLarge,
		},
		"chunks without end":      {ok + "Transfer-Encoding: chunked\r\n\r\n", "64\r\n" + strings.Repeat("a", 100) + "\r\n", CodeTooLarge},
		"endless body":            {"HTTP/1.0 200 OK\r\n\r\n", strings.Repeat("a", 100), CodeTooLarge},
		"cut off":                 {ok + "Content-Length: 40\r\n\r\nfile", "", CodeUnavailable},
		"cut off in a chunk":      {ok + "Transfer-Encoding: chunked\r\n\r\n40\r\nfile", "", CodeUnavailable},
		"cut off after a chunk":   {ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nfile\r\n", "", CodeUnavailable},
		"not a chunk":             {ok + "Transfer-Encoding: chunked\r\n\r\nsecret-7Qx\r\n", "", CodeUnavailable},
		"cut off in the header":   {ok + "Content-Le", "", CodeUnavailable},
		"nothing":                 {"", "", CodeUnavailable},
		"empty":                   {ok + "Content-Length: 0\r\n\r\n", "", CodeUnavailable},
		"empty chunks":            {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", CodeUnavailable},
		"no HTTP":                 {"SSH-2.0-secret-7Qx\r\n", "", CodeUnavailable},
		"two lengths":             {ok + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nfiles", "", CodeUnavailable},
		"length below zero":       {ok + "Content-Length: -1\r\n\r\nfile", "", CodeUnavailable},
		"an encoding":             {ok + "Content-Encoding: br\r\nContent-Length: 4\r\n\r\nfile", "", CodeUnavailable},
		"another transfer coding": {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n4\r\nfile\r\n0\r\n\r\n", "", CodeUnavailable},
		"switching": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n" +
			"Connection: upgrade\r\n\r\nfile", "", CodeUnavailable},
		"header without end": {ok, "A: b\r\n", CodeUnavailable},
		"a large header": {
			ok + "A: " + strings.Repeat("b", maxHeader+5000) + "\r\nContent-Length: 4\r\n\r\nfile", "", CodeUnavailable,
		},
		"hints without end": {"", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := shortIdle
			if tt.code != CodeUnavailable {
				set = nil // no short timeout, because machines may be slow
			}
			w := newEnv(t, raw(t, tt.answer, tt.more), set)
			var into bytes.Buffer
			_, err := w.client.Get(t.Context(), w.at(host, secretPath), 1000, &into)
			if into.Len() > 1000 || strings.Contains(tt.answer, "1001\r\n\r\n") && into.Len() > 0 {
				t.Errorf("%d bytes were written", into.Len())
			}
			if tt.code != "" {
				wantCode(t, err, tt.code)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	var status int
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, "file")
	}, nil)
	for _, status = range []int{201, 202, 203, 204, 205, 206, 300, 304, 400, 401, 403, 404, 407, 410, 416, 429, 500, 502, 503, 999} {
		_, body, err := w.get(t, w.at(host, secretPath))
		wantCode(t, err, CodeUnavailable)
		if body != "" {
			t.Errorf("%d: %q was written", status, body)
		}
	}
}

func TestCompressed(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packer := gzip.NewWriter(w)
		io.Copy(packer, io.LimitReader(zeros{}, 1<<20))
		packer.Close()
	}, nil)
	_, body, err := w.get(t, w.at(host, secretPath))
	wantCode(t, err, CodeUnavailable)
	if body != "" {
		t.Errorf("%d bytes were written", len(body))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestStalledDownload(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"before the header": "", "in the header": "HTTP/1.1 200 OK\r\n", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nfile",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				io.WriteString(conn, answer)
				io.Copy(io.Discard, conn)
			}, shortIdle)
			_, _, err := w.get(t, w.at(host, secretPath))
			wantCode(t, err, CodeUnavailable)
		})
	}
}

// TestSlowDownload checks that the total timeout ends a slow download.
func TestSlowDownload(t *testing.T) {
	t.Parallel()
	w := newEnv(t, raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "a"), func(o *Options) {
		o.Timeout = 300 * time.Millisecond
	})
	_, _, err := w.get(t, w.at(host, secretPath))
	wantCode(t, err, CodeUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// plain listens without TLS and calls serve for each connection.
func plain(t *testing.T, serve func(net.Conn)) net.Addr {
	t.Helper()
	listener, err := net.Listen("tcp", standsIn+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr()
}

func TestNoTLS(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(net.Conn){
		"silent": func(conn net.Conn) { io.Copy(io.Discard, conn) },
		"closed": func(net.Conn) {},
		"HTTP": func(conn net.Conn) {
			bufio.NewReader(conn).ReadByte()
			io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := envAt(t, plain(t, serve), newRoot(t), shortIdle)
			_, _, err := w.get(t, w.at(host, secretPath))
			wantCode(t, err, CodeUnavailable)
		})
	}
}

// TestCertificates checks that no request is sent to a server with an invalid certificate.
func TestCertificates(t *testing.T) {
	t.Parallel()
	root := newRoot(t)
	good := root.issue(t, host, otherHost)
	for name, config := range map[string]*tls.Config{
		"good":           {Certificates: []tls.Certificate{good}},
		"another name":   {Certificates: []tls.Certificate{root.issue(t, otherHost, standsIn)}},
		"another root":   {Certificates: []tls.Certificate{newRoot(t).issue(t, host)}},
		"old TLS":        {Certificates: []tls.Certificate{good}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		"without a name": {Certificates: []tls.Certificate{root.issue(t)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := plain(t, func(conn net.Conn) {
				secure := tls.Server(conn, config)
				if _, err := http.ReadRequest(bufio.NewReader(secure)); err != nil {
					return
				}
				if name != "good" {
					t.Error("the request was sent")
				}
				io.WriteString(secure, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile")
			})
			w := envAt(t, addr, root, nil)
			_, body, err := w.get(t, w.at(host, secretPath))
			if name == "good" {
				if err != nil || body != "file" {
					t.Errorf("got %q, %v", body, err)
				}
				return
			}
			wantCode(t, err, CodeUnavailable)
		})
	}
}

// TestReasons checks that other errors are logged only by type.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("dial tcp 10.0.0.1:443"), &net.AddrError{Err: "secret-7Qx", Addr: "10.0.0.1"},
		&net.DNSError{Err: "read udp 10.0.0.1:53", Name: host, Server: "10.0.0.1"},
		&net.OpError{Op: "dial", Err: errors.New(host)}, &net.DNSError{Name: host, IsTimeout: true},
	} {
		wantCode(t, connectError(err), CodeUnavailable)
		wantCode(t, readError(err), CodeUnavailable)
	}
}
