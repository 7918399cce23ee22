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

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/test/money/standin"
)

// The database commits but its answer is lost: the caller gets an error, and a repeat finds the one charge.
func TestCommitAnswerLost(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, where string) {
		t.Parallel()
		if !postgres(where) {
			return // SQLite answers within the process
		}
		between := newCutter(t, where)
		in := newInside(t, between.url, 1, -1)
		m := in.team(t, "UTC", 1)
		in.grant(t, m, 100, "start")
		key := m.keys[0]
		for _, o := range []order{
			{tool: standin.Search, query: "7 part", idem: "a"}, {tool: standin.Search, query: "7 none", idem: "b"},
			{tool: standin.Tracking, report: "r", query: "7 part", idem: "a"},
		} {
			got, err := in.nodes[0].ask(between.lose(t.Context(), workPoint[o.tool]), key, o, false)
			if err != nil || got.refusal() != "503 service_unavailable cut_off" {
				t.Fatalf("%+v: %v %s", o, err, got.raw)
			}
			first := in.mustAnswer(t.Context(), t, m, o)
			if !first.replayed {
				t.Fatalf("%+v was done twice: %s", o, first.raw)
			}
			m.accept(in.clock.Now(), key, o, first)
			in.mustShow(t, m)
		}
		for _, c := range m.searches {
			if err := in.nodes[0].do(between.lose(t.Context(), "stand_in.settled"), c.job); err == nil {
				t.Fatal("the work did not miss the answer")
			}
			m.end(c)
			in.mustShow(t, m)
			must.NoError(t, in.nodes[0].do(t.Context(), c.job))
			in.mustShow(t, m)
		}
	})
}

// mustShow holds the figures and the ledger against the model.
func (in *inside) mustShow(t *testing.T, m *modelTeam) {
	t.Helper()
	var got credits
	in.nodes[0].show(t, m.keys[0], "/credits", &got)
	if want := m.figures(in.clock.Now(), m.keys[0]); got.figures() != want {
		t.Errorf("the credits are %+v instead of %+v", got, want)
	}
	if n := in.number(t, `SELECT COUNT(*) FROM reservations WHERE team_id = ?`, m.id); n != int64(len(m.charges)) {
		t.Errorf("%d reservations instead of %d", n, len(m.charges))
	}
	in.sound(t)
}

// cutter is a proxy between the program and PostgreSQL that can lose the answer to a commit.
type cutter struct {
	t     *testing.T
	url   string
	to    string
	armed atomic.Bool
}

func newCutter(t *testing.T, where string) *cutter {
	t.Helper()
	u := must.Get(url.Parse(where))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &cutter{t: t, to: u.Host}
	u.Host = listener.Addr().String()
	c.url = u.String()
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			connections.Go(func() { c.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return c
}

// lose makes a context whose call loses the answer to its commit, which follows some point.
func (c *cutter) lose(ctx context.Context, after string) context.Context {
	return standin.WithInjector(ctx, func(_ context.Context, _ *db.Tx, at string) error {
		if at == after {
			c.armed.Store(true)
		}
		return nil
	})
}

// carry carries one connection.
func (c *cutter) carry(program net.Conn) {
	defer program.Close()
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		c.t.Errorf("reaching the database: %v", err)
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
	_, _ = io.Copy(forward{c, server, &cut}, program) // ends with either side
	_ = server.Close()
	back.Wait()
}

// forward forwards the program's messages.
type forward struct {
	*cutter
	server net.Conn
	cut    *atomic.Bool
}

func (f forward) Write(said []byte) (int, error) {
	if bytes.Contains(said, []byte("commit\x00")) && f.armed.CompareAndSwap(true, false) {
		f.cut.Store(true)
	}
	return f.server.Write(said)
}
