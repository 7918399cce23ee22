package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is an in-memory listener, so that connections use the test's clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close is called once, by the server.
func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

// serving runs a handler with the program's deadlines and returns a client of it.
func serving(t *testing.T, h http.HandlerFunc) *http.Client {
	t.Helper()
	listener := make(pipes)
	server := &http.Server{Handler: h, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute}
	go func() { _ = server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	return &http.Client{Transport: transport}
}

// slow yields a byte from time to time, then blocks.
type slow struct {
	left  int
	every time.Duration
	end   error
	stop  <-chan struct{}
}

func (s *slow) Read(p []byte) (int, error) {
	if s.left == 0 {
		if s.end != nil {
			return 0, s.end
		}
		<-s.stop
		return 0, io.ErrUnexpectedEOF
	}
	<-time.After(s.every)
	s.left--
	p[0] = 'x'
	return 1, nil
}

// TestLongUploads checks that uploads have no time limit as long as bytes arrive.
func TestLongUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, NewUpload(w, r))
			<-time.After(3 * time.Minute)
			if n != 30 || err != nil || r.Context().Err() != nil {
				t.Errorf("%d bytes, %v, %v", n, err, r.Context().Err())
			}
			w.WriteHeader(http.StatusCreated)
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://press.example/",
			&slow{left: 30, every: 40 * time.Second, end: io.EOF})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 30
		resp, err := client.Do(req)
		if err != nil || resp.StatusCode != http.StatusCreated {
			t.Fatalf("%+v (%v)", resp, err)
		}
		resp.Body.Close()
	})
}

func TestStalledUploadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		began := time.Now()
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			body := NewUpload(w, r)
			_, err := io.Copy(io.Discard, body)
			if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(body.Err(),
				os.ErrDeadlineExceeded) || took < 160*time.Second || took > 163*time.Second {
				t.Errorf("%v after %v", err, took)
			}
			body.discard()
			close(stop)
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://press.example/",
			&slow{left: 5, every: 20 * time.Second, stop: stop})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 30
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
		}
	})
}

// drips runs a handler for an upload that sends a byte every 50 seconds, and returns how long it was read.
func drips(t *testing.T, read func(*Upload)) time.Duration {
	t.Helper()
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		began, stop := time.Now(), make(chan struct{})
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			read(NewUpload(w, r))
			took = time.Since(began)
			close(stop)
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://press.example/",
			&slow{left: 1000, every: 50 * time.Second, stop: stop})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 1000
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
		}
		<-time.After(2 * time.Minute) // until the sender has received the response
	})
	return took
}

// TestSlowUploads checks that uploads below the minimum throughput end, and that rejected ones end sooner.
func TestSlowUploads(t *testing.T) {
	whole := drips(t, func(body *Upload) {
		if _, err := io.Copy(io.Discard, body); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the upload ended with %v", err)
		}
	})
	if whole < throughputGrace || whole > throughputGrace+stallTimeout {
		t.Errorf("upload was read for %v", whole)
	}
	if rejected := drips(t, (*Upload).discard); rejected > discardTimeout+time.Second {
		t.Errorf("rejected upload was read for %v", rejected)
	}
}

func TestLongDownloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			if _, err := io.Copy(NewDownload(w), io.LimitReader(&slow{left: 100_000, every: time.Nanosecond}, 100_000)); err != nil {
				t.Error(err)
			}
		})
		resp, err := client.Get("http://press.example/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		n, part := 0, make([]byte, 4096)
		for err == nil {
			var read int
			read, err = resp.Body.Read(part)
			n += read
			<-time.After(20 * time.Second)
		}
		if n != 100_000 || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes (%v)", n, err)
		}
	})
}

// TestNoWritesAfterDeadline checks that no bytes are sent after the deadline, even if the process was suspended or the
// client is slow, and that the client detects the truncation.
func TestNoWritesAfterDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		still, taking time.Duration
		least, most   int // received bytes
	}{"in time": {0, 0, 100_000, 100_000}, "a process that stood still": {
		11 * time.Second, 0, 0, 0,
	}, "one that takes its time": {0, 4 * time.Second, 1, 20_000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := serving(t, func(w http.ResponseWriter, r *http.Request) {
					out := NewDownload(w)
					out.ExpiresAt = time.Now().Add(10 * time.Second)
					<-time.After(c.still)
					http.ServeContent(out, r, "", time.Time{}, bytes.NewReader(make([]byte, 100_000)))
				})
				resp, err := client.Get("http://press.example/")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				n, part := 0, make([]byte, 4096)
				for err == nil {
					<-time.After(c.taking)
					var read int
					read, err = resp.Body.Read(part)
					n += read
				}
				if whole := c.least == 100_000; n < c.least || n > c.most || errors.Is(err, io.EOF) != whole {
					t.Errorf("%d bytes (%v)", n, err)
				}
			})
		})
	}
}

func TestWritesFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, end := time.Now(), make(chan struct{})
		client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			out := NewDownload(w)
			out.ExpiresAt = time.Now().Add(10 * time.Second)
			_, _ = out.Write(make([]byte, 100))
			<-end
		})
		time.AfterFunc(time.Minute, func() { close(end) })
		resp, err := client.Get("http://press.example/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadFull(resp.Body, make([]byte, 100)); err != nil || time.Since(began) > time.Second {
			t.Errorf("after %v (%v)", time.Since(began), err)
		}
		<-end
	})
}

// TestRejectClosesConnection checks that a connection is not used again if the body of a rejected upload was cut off.
func TestRejectClosesConnection(t *testing.T) {
	for size, closes := range map[int64]bool{100: false, maxDiscard + 1: true} {
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			body := NewUpload(w, r)
			body.LimitRest()
			_, _ = io.Copy(io.Discard, body)
			body.Reject(w, r, func() { w.WriteHeader(http.StatusTooManyRequests) })
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://press.example/",
			io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = size
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Close != closes {
			t.Errorf("%d bytes: connection closed: %v, want %v", size, resp.Close, closes)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
