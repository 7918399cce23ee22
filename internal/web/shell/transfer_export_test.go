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

// pipes is a listener whose connections live in the test alone, so that its clock is theirs.
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

// serving runs a handler behind the deadlines that the program has, and gives a client of it.
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

// slow gives a byte now and then, and after that nothing more.
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

// An upload may take as long as it needs while bytes come, also where the work after it takes a while.
func TestUploadsMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			n, err := io.Copy(io.Discard, ArrivingIn(w, r))
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

// Who sends nothing for a minute is given up.
func TestStalledUploadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		began := time.Now()
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			body := ArrivingIn(w, r)
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

// drips runs a handler of an upload that sends a byte every 50 seconds, and gives how long it was read.
func drips(t *testing.T, read func(*Arriving)) time.Duration {
	t.Helper()
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		began, stop := time.Now(), make(chan struct{})
		client := serving(t, func(w http.ResponseWriter, r *http.Request) {
			read(ArrivingIn(w, r))
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
		<-time.After(2 * time.Minute) // until whoever sends has seen it
	})
	return took
}

// Who sends a byte now and then, so that a connection is held, is given up too; and of what is refused anyway nothing
// is waited for.
func TestDrippingUploadsEnd(t *testing.T) {
	whole := drips(t, func(body *Arriving) {
		if _, err := io.Copy(io.Discard, body); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it ended by %v", err)
		}
	})
	if whole < allowance || whole > allowance+stalled {
		t.Errorf("an upload was read for %v", whole)
	}
	if refused := drips(t, (*Arriving).discard); refused > discarding+time.Second {
		t.Errorf("an upload that was refused was read for %v", refused)
	}
}

// A file may take as long as it needs to be fetched while somebody takes its bytes.
func TestDownloadsMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			if _, err := io.Copy(LeavingBy(w), io.LimitReader(&slow{left: 100_000, every: time.Nanosecond}, 100_000)); err != nil {
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

// From its end on nothing of a file is given out: neither by a process that stood still since it opened it, nor to
// whoever takes its time, and what was given is not taken for the whole.
func TestNothingLeavesLate(t *testing.T) {
	for name, c := range map[string]struct {
		still, taking time.Duration
		least, most   int // bytes that arrive
	}{"in time": {0, 0, 100_000, 100_000}, "a process that stood still": {
		11 * time.Second, 0, 0, 0,
	}, "one that takes its time": {0, 4 * time.Second, 1, 20_000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := serving(t, func(w http.ResponseWriter, r *http.Request) {
					out := LeavingBy(w)
					out.Ends = time.Now().Add(10 * time.Second)
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

// What was written in time has left in time: nothing of it waits in the process for more.
func TestWhatIsWrittenLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, end := time.Now(), make(chan struct{})
		client := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			out := LeavingBy(w)
			out.Ends = time.Now().Add(10 * time.Second)
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
