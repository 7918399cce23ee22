package ratelimit_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/testkit"
)

// node is a node's rates, with its clock and its log.
type node struct {
	rates *ratelimit.Rates
	clock *testkit.Clock
	log   *record
}

func newNode(t *testing.T, url string, within time.Duration) *node {
	t.Helper()
	n := &node{clock: testkit.NewClock(start), log: &record{}}
	var err error
	n.rates, err = ratelimit.NewRatesWithin(fifty,
		ratelimit.RatesOptions{Redis: url, Now: n.clock.Now, Log: slog.New(slog.NewTextHandler(n.log, nil))}, within)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.rates.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// through makes calls until one is rejected, and checks their number.
func (n *node) through(t *testing.T, want int) {
	t.Helper()
	for i := range want + 1 {
		got := n.rates.Take(t.Context(), pipeline.PerCredential, 7)
		if got.Limited != (i == want) {
			t.Fatalf("call %d: %+v", i+1, got)
		}
	}
}

func (n *node) shares(t *testing.T, want bool) {
	t.Helper()
	if configured, answers := n.rates.RedisStatus(t.Context()); !configured || answers != want {
		t.Errorf("shared: %t, answers: %t, want %t", configured, answers, want)
	}
}

// checkLog checks the beginnings of the lines of the log.
func (n *node) checkLog(t *testing.T, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(n.log.String()), "\n")
	wants := strings.Split(want, "; ")
	if len(lines) != len(wants) {
		t.Fatalf("want %q, log:\n%s", want, n.log.String())
	}
	for i, line := range lines {
		level, text, _ := strings.Cut(wants[i], " ")
		text, away, _ := strings.Cut(text, " away=")
		if want != "" && (!strings.Contains(line, "level="+level+` msg="`+text) || !strings.Contains(line, away)) {
			t.Errorf("want %q, the log says: %s", wants[i], line)
		}
	}
}

// record is a log that can be read while it is written to.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// silent is a server that accepts connections and never answers.
type silent struct {
	addr        string
	connections atomic.Int64
}

func newSilent(t *testing.T) *silent {
	t.Helper()
	s := &silent{}
	s.addr = listen(t, func(conn net.Conn) {
		s.connections.Add(1)
		_, _ = io.Copy(io.Discard, conn)
	})
	return s
}

// repeating returns the address of a server that rejects all commands and repeats them in its errors, as Redis does.
func repeating(t *testing.T) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			words := strings.Fields(string(buf[:n]))
			fmt.Fprintf(conn, "-ERR unknown command '%s', with args beginning with: %s\r\n", words[2], words[len(words)-1])
		}
	})
}

func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(group.Wait)
	t.Cleanup(func() { l.Close() })
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			group.Go(func() { serve(conn) })
		}
	})
	return l.Addr().String()
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(limit) {
			t.Fatal("the condition was not met in time")
		}
	}
}

func number(t *testing.T, answer string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(answer, ":"), 10, 64)
	if err != nil {
		t.Fatalf("not a number: %s", answer)
	}
	return n
}
