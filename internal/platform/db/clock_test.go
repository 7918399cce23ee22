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
)

// However far a machine's clock is from PostgreSQL's, and whenever it is set, the program goes by PostgreSQL's.
func TestPostgresTellsTheTime(t *testing.T) {
	t.Parallel()
	url := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if url == "" {
		t.Skip("there is no PostgreSQL")
	}
	for _, off := range []time.Duration{0, time.Hour, -time.Hour} {
		d, err := Open(t.Context(), url, Options{machine: func() time.Time { return time.Now().Add(off) }})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		now := d.Now()
		const near = clockWithin // the longest way of an answer, on a machine that is busy
		if now.Before(before.Add(-near)) || now.After(time.Now().Add(near)) {
			t.Errorf("a machine %v ahead: it is %v, and the program goes by %v", off, before, now)
		}
		if by := d.ClockAhead(); (by - off).Abs() > near {
			t.Errorf("a machine %v ahead is told to be %v", off, by)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Whatever readings come, in whatever time, the clock is no further from the server's than the last one can tell, and
// a reading that can be right moves nothing.
func TestServerClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC) // the machine's
		ahead := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "ahead"))
		c := newServerClock(func() time.Time { return at })
		for range rapid.IntRange(1, 6).Draw(t, "readings") {
			out := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "out"))
			back := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "back"))
			asked := at
			told := at.Add(out - ahead)
			at = at.Add(out + back)
			believed := c.now()
			c.learn(asked, told, at)
			off := c.now().Sub(at.Add(-ahead))
			if off.Abs() > max(out, back)+clockSlack {
				t.Fatalf("%v out and %v back: off by %v", out, back, off)
			}
			if right := believed.Sub(at.Add(-ahead)); right >= -back && right <= out && !c.now().Equal(believed) {
				t.Fatalf("moved by %v though it could be right", c.now().Sub(believed))
			}
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "later")))
		}
	})
}

// A clock that is followed is held against the server's again and again, and no more once it is closed.
func TestClockIsFollowed(t *testing.T) {
	t.Parallel()
	url := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if url == "" {
		t.Skip("there is no PostgreSQL")
	}
	d, err := Open(context.Background(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	d.clock.last.Store(&reading{now, now.Add(-time.Hour)}) // as if the server's had been set since
	for until := time.Now().Add(30 * time.Second); d.Now().Before(now.Add(-time.Minute)); {
		if time.Now().After(until) {
			t.Fatal("the clock is not followed")
		}
		time.Sleep(20 * time.Millisecond) //nolint:forbidigo // the server's clock is real
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// A server that is slow to tell the time once, as a busy one is, is asked again before the opening fails.
func TestClockIsAskedAgain(t *testing.T) {
	t.Parallel()
	given := os.Getenv("PRESSROOM_TEST_POSTGRES")
	if given == "" {
		t.Skip("there is no PostgreSQL")
	}
	url, err := neturl.Parse(given)
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	accepted, server := make(chan int, 1), url.Host
	go func() { accepted <- silentOnce(front, server) }()
	url.Host = front.Addr().String()
	d, err := Open(t.Context(), url.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	_ = front.Close()
	if n := <-accepted; n < 3 {
		t.Fatalf("%d connections: none of them was silent", n)
	}
}

// silentOnce passes connections on but the second, by which the time is asked for first, and counts them.
func silentOnce(front net.Listener, to string) int {
	for n := 1; ; n++ {
		from, err := front.Accept()
		if err != nil {
			return n - 1
		}
		if n == 2 {
			defer from.Close()
			continue // never answered
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
