package db

import (
	"context"
	"io"
	"net"
	neturl "net/url"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The program uses PostgreSQL's time, even if the machine's clock differs.
func TestPostgresTime(t *testing.T) {
	t.Parallel()
	url := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if url == "" {
		t.Skip("PRESSROOM_TEST_POSTGRES is not set")
	}
	for _, off := range []time.Duration{0, time.Hour, -time.Hour} {
		d := must.Get(Open(t.Context(), url, Options{machine: func() time.Time { return time.Now().Add(off) }}))(t)
		before := time.Now()
		now := d.Now()
		const tolerance = clockTimeout
		if now.Before(before.Add(-tolerance)) || now.After(time.Now().Add(tolerance)) {
			t.Errorf("machine clock %v ahead: the time is %v, want %v", off, now, before)
		}
		if by := d.ClockOffset(); (by - off).Abs() > tolerance {
			t.Errorf("machine clock %v ahead: ClockOffset is %v", off, by)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The estimate is as accurate as the last query, and a query does not change an estimate that agrees with it.
func TestServerClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC) // time on the machine's clock
		ahead := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "ahead"))
		c := newServerClock(func() time.Time { return at })
		for range rapid.IntRange(1, 6).Draw(t, "readings") {
			out := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "out"))
			back := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "back"))
			asked := at
			server := at.Add(out - ahead)
			at = at.Add(out + back)
			estimate := c.now()
			c.correct(asked, server, at)
			off := c.now().Sub(at.Add(-ahead))
			if off.Abs() > max(out, back)+clockSlack {
				t.Fatalf("%v out and %v back: off by %v", out, back, off)
			}
			if by := estimate.Sub(at.Add(-ahead)); by >= -back && by <= out && !c.now().Equal(estimate) {
				t.Fatalf("a possible estimate was changed by %v", c.now().Sub(estimate))
			}
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "later")))
		}
	})
}

// The estimate follows the server's clock until the database is closed.
func TestClockUpdated(t *testing.T) {
	t.Parallel()
	url := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if url == "" {
		t.Skip("PRESSROOM_TEST_POSTGRES is not set")
	}
	d := must.Get(Open(context.Background(), url, Options{}))(t)
	now := time.Now()
	d.clock.last.Store(&clockReading{now, now.Add(-time.Hour)}) // simulates that the server's clock was set
	for until := time.Now().Add(30 * time.Second); d.Now().Before(now.Add(-time.Minute)); {
		if time.Now().After(until) {
			t.Fatal("the clock is not updated")
		}
		time.Sleep(20 * time.Millisecond) //nolint:forbidigo // the server's clock is real
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Open queries the time again if the first query times out.
func TestClockQueriedAgain(t *testing.T) {
	t.Parallel()
	dsn := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("PRESSROOM_TEST_POSTGRES is not set")
	}
	url := must.Get(neturl.Parse(dsn))(t)
	front := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer front.Close()
	accepted, server := make(chan int, 1), url.Host
	go func() { accepted <- silentOnce(front, server) }()
	url.Host = front.Addr().String()
	d := must.Get(Open(t.Context(), url.String(), Options{}))(t)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	_ = front.Close()
	if n := <-accepted; n < 3 {
		t.Fatalf("%d connections, want at least 3", n)
	}
}

// silentOnce forwards all connections except the second one, which queries the time. It returns the number of
// connections.
func silentOnce(front net.Listener, to string) int {
	for n := 1; ; n++ {
		from, err := front.Accept()
		if err != nil {
			return n - 1
		}
		if n == 2 {
			defer from.Close()
			continue // send no response
		}
		go func() {
			defer from.Close()
			server, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(server, from); _ = server.Close() }()
			_, _ = io.Copy(from, server)
		}()
	}
}
