package money

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/test/money/standin"
)

// The database commits, but its response is lost. The caller gets an error, and a repeat returns the first charge.
func TestLostCommitResponse(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		t.Parallel()
		if !postgres(databaseURL) {
			return // SQLite has no connection that can be cut
		}
		proxy := newCutter(t, databaseURL)
		in := newInProcess(t, proxy.url, 1, -1)
		m := in.team(t, "UTC", 1)
		in.grant(t, m, 100, "start")
		key := m.keys[0]
		for _, o := range []apiCall{
			{tool: standin.Search, query: "7 part", key: "a"}, {tool: standin.Search, query: "7 none", key: "b"},
			{tool: standin.Tracking, report: "r", query: "7 part", key: "a"},
		} {
			got, err := in.nodes[0].call(proxy.loseCommitAfter(t.Context(), workPoints[o.tool]), key, o, false)
			if err != nil || got.rejection() != "503 service_unavailable cut_off" {
				t.Fatalf("%+v: %v %s", o, err, got.raw)
			}
			first := in.mustAnswer(t.Context(), t, m, o)
			if !first.isReplay {
				t.Fatalf("%+v was charged twice: %s", o, first.raw)
			}
			m.accept(in.clock.Now(), key, o, first)
			in.mustMatch(t, m)
		}
		for _, c := range m.searches {
			if err := in.nodes[0].runJob(proxy.loseCommitAfter(t.Context(), "stand_in.settled"), c.job); err == nil {
				t.Fatal("the job got the response to its commit")
			}
			m.end(c)
			in.mustMatch(t, m)
			must.NoError(t, in.nodes[0].runJob(t.Context(), c.job))
			in.mustMatch(t, m)
		}
	})
}

// mustMatch compares the credits, the reservations and the audit with the model.
func (in *inProcess) mustMatch(t *testing.T, m *modelTeam) {
	t.Helper()
	var got credits
	in.nodes[0].readData(t, m.keys[0], "/credits", &got)
	if want := m.counts(in.clock.Now(), m.keys[0]); got.counts() != want {
		t.Errorf("credits = %+v, want %+v", got, want)
	}
	if n := in.queryInt(t, `SELECT COUNT(*) FROM reservations WHERE team_id = ?`, m.id); n != int64(len(m.charges)) {
		t.Errorf("%d reservations, want %d", n, len(m.charges))
	}
	in.mustPassAudit(t)
}

// cutter is a proxy between the server and PostgreSQL that can drop the response to a commit.
type cutter struct {
	t      *testing.T
	url    string
	target string      // address of PostgreSQL
	armed  atomic.Bool // drop the response to the next commit
}

func newCutter(t *testing.T, databaseURL string) *cutter {
	t.Helper()
	u := must.Get(url.Parse(databaseURL))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &cutter{t: t, target: u.Host}
	u.Host = listener.Addr().String()
	c.url = u.String()
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			connections.Go(func() { c.forwardConn(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return c
}

// loseCommitAfter returns a context that arms the proxy at the given point of the transaction.
func (c *cutter) loseCommitAfter(ctx context.Context, after string) context.Context {
	return standin.WithInjector(ctx, func(_ context.Context, _ *db.Tx, at string) error {
		if at == after {
			c.armed.Store(true)
		}
		return nil
	})
}

// forwardConn forwards one connection.
func (c *cutter) forwardConn(program net.Conn) {
	defer program.Close()
	server, err := net.Dial("tcp", c.target)
	if err != nil {
		c.t.Errorf("connecting to the database: %v", err)
		return
	}
	defer server.Close()
	var cut atomic.Bool
	var back sync.WaitGroup
	back.Go(func() {
		defer program.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || cut.Load() {
				return
			}
			if _, err := program.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	_, _ = io.Copy(commitWatcher{c, server, &cut}, program) // ends with either side
	_ = server.Close()
	back.Wait()
}

// commitWatcher passes the server's messages to PostgreSQL and detects commits.
type commitWatcher struct {
	*cutter
	server net.Conn
	cut    *atomic.Bool
}

func (f commitWatcher) Write(message []byte) (int, error) {
	if bytes.Contains(message, []byte("commit\x00")) && f.armed.CompareAndSwap(true, false) {
		f.cut.Store(true)
	}
	return f.server.Write(message)
}
