package ratelimit_test

import (
	"bytes"
	"context"
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

	"pressroom/internal/core/pipeline"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
	"pressroom/internal/testkit/redis"
)

const (
	patient = time.Minute     // where Redis is to answer, however busy the machine is
	pause   = 3 * time.Second // for which nobody asks a Redis that did not answer
)

// fifty calls at once, and hardly one more while a test runs.
var fifty = plan.Limits{Requests: plan.Rate{PerMinute: 1, Burst: 50}, Writes: one, Networks: one}

func TestRatesOfTwoNodes(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	a, b := newNode(t, server.URL(), patient), newNode(t, server.URL(), patient)
	take := func(n *node) pipeline.Rate { return n.rates.Take(t.Context(), pipeline.PerCredential, 7) }
	for i := range 25 {
		for j, n := range []*node{a, b} {
			if got := take(n); got.Limited || got.Remaining != 49-2*i-j || got.Quota != 50 ||
				got.Window != 50*time.Minute || got.RetryAfter != 0 {
				t.Fatalf("call %d of node %d: %+v", i, j, got)
			}
		}
	}
	for _, n := range []*node{a, b, a, b} {
		got := take(n)
		if !got.Limited || got.Remaining != 0 || got.RetryAfter > time.Minute || got.RetryAfter < 50*time.Second ||
			got.Reset > 50*time.Minute || got.Reset < 49*time.Minute {
			t.Errorf("a call too many: %+v", got)
		}
	}
	for _, free := range []pipeline.Rate{
		a.rates.Take(t.Context(), pipeline.PerCredential, 8), b.rates.Take(t.Context(), pipeline.PerConnection, 7),
	} {
		if free.Limited || free.Remaining != free.Quota-1 {
			t.Errorf("another's call, or one of another scope: %+v", free)
		}
	}
	if life := number(t, server.Tell("PTTL pressroom:rate:credential:7")); life < 49*60_000 || life > 50*60_000+1000 {
		t.Errorf("a count lives for %d ms", life)
	}
	a.said(t, "")
	b.said(t, "")
}

// A count that expires before its time is quota given away.
func TestRatesLiveLongEnough(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	for range 3 { // the first makes the count, others change it
		began := time.Now() // before Redis looked at its clock; it tells a life in whole milliseconds
		reset := n.rates.Take(t.Context(), pipeline.PerCredential, 7).Reset
		life := time.Duration(number(t, server.Tell("PTTL pressroom:rate:credential:7"))) * time.Millisecond
		if life+time.Millisecond < reset-time.Since(began) || life > reset+time.Second {
			t.Errorf("a count lives for %v, and is needed for %v", life, reset)
		}
	}
}

// However many come at the same time to all nodes, as many as the quota are let through.
func TestRatesOfTwoNodesTogether(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	a, b := newNode(t, server.URL(), patient), newNode(t, server.URL(), patient)
	if got := crowd(64, 5, a.rates, b.rates); got != 50 {
		t.Errorf("%d calls were let through of a quota of 50", got)
	}
	a.said(t, "")
	b.said(t, "")
}

func TestRedisGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	n.shares(t, true)
	n.through(t, 50)
	server.Stop()
	n.through(t, 50) // counted here alone, from nothing
	n.shares(t, false)
	n.said(t, "WARN Redis does not answer")
	server.Restart()
	n.clock.Advance(pause - time.Millisecond)
	n.shares(t, false) // nobody asked yet
	n.clock.Advance(time.Millisecond)
	n.through(t, 50)
	n.shares(t, true)
	n.said(t, "WARN Redis does not answer; INFO Redis answers again away=3s")
	if got := server.Tell("EXISTS pressroom:rate:credential:7"); got != ":1" {
		t.Errorf("the count is not in Redis: %s", got)
	}
	server.Stop()
	n.shares(t, false)
	n.clock.Advance(time.Hour)
	n.shares(t, false)
	n.said(t, "WARN Redis does not answer; INFO Redis answers again away=3s; WARN Redis does not answer")
}

func TestRedisHangs(t *testing.T) {
	t.Parallel()
	const wait = 500 * time.Millisecond
	server := redis.Start(t)
	n := newNode(t, server.URL(), wait)
	n.shares(t, true)
	server.Pause()
	began := time.Now()
	if got := crowd(64, 100, n.rates); got != 50 {
		t.Errorf("%d calls were let through of a quota of 50", got)
	}
	// Those that were there at the beginning waited, and all at the same time.
	if took := time.Since(began); took > 20*wait {
		t.Errorf("6400 calls took %v, although nobody is to wait for long after the first %v", took, wait)
	}
	n.said(t, "WARN Redis does not answer")
	server.Resume()
	n.clock.Advance(90 * time.Second)
	until(t, func() bool {
		n.clock.Advance(pause)
		_, answers := n.rates.Shared(t.Context())
		return answers
	})
	n.said(t, "WARN Redis does not answer; INFO Redis answers again")
}

// While Redis is away one call in three seconds tries whether it is back, and no other.
func TestOneCallTries(t *testing.T) {
	t.Parallel()
	dead := hung(t)
	n := newNode(t, "redis://"+dead.addr, 300*time.Millisecond)
	for round := int64(1); round <= 3; round++ {
		crowd(32, 10, n.rates)
		n.shares(t, false)
		until(t, func() bool { return dead.connections.Load() >= round })
		if got := dead.connections.Load(); got != round {
			t.Fatalf("round %d: asked %d times", round, got)
		}
		n.clock.Advance(pause)
	}
	n.said(t, "WARN Redis does not answer")
}

func TestRedisThatIsNotThereAtStart(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	server.Stop()
	n := newNode(t, server.URL(), patient)
	n.said(t, "WARN Redis does not answer")
	n.through(t, 50)
	server.Restart()
	n.clock.Advance(pause)
	n.shares(t, true) // though nobody calls
	n.said(t, "WARN Redis does not answer; INFO Redis answers again away=3s")
}

// A Redis that is full answers a ping, and counts nothing.
func TestRedisThatIsFull(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	server.Tell("CONFIG SET maxmemory 1")
	n.through(t, 50)
	for range 3 {
		n.clock.Advance(pause)
		n.shares(t, false)
	}
	n.said(t, "WARN Redis does not answer")
	server.Tell("CONFIG SET maxmemory 0")
	n.clock.Advance(pause)
	n.shares(t, true)
}

// A client that hangs up says nothing about Redis, and its call counts.
func TestClientHangsUp(t *testing.T) {
	t.Parallel()
	n := newNode(t, redis.Start(t).URL(), patient)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if got := n.rates.Take(gone, pipeline.PerCredential, 7); got.Remaining != 49 {
		t.Errorf("%+v", got)
	}
	if got := n.rates.Take(t.Context(), pipeline.PerCredential, 7); got.Remaining != 48 {
		t.Errorf("%+v", got)
	}
	n.said(t, "")
}

func TestClosedRates(t *testing.T) {
	t.Parallel()
	n := newNode(t, redis.Start(t).URL(), patient)
	for range 2 {
		must.NoError(t, n.rates.Close())
	}
	n.through(t, 50)
}

func TestAddressOfRedis(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"127.0.0.1:6379", "redis:127.0.0.1:6379", "redis://", "redis://:hidden@/0", "redis://:hidden@127.0.0.1:99999",
		"http://u:hidden@127.0.0.1", "unix:///hidden",
		"redis://:hid#den@127.0.0.1", "redis://:hid/den@127.0.0.1", "redis://:hid?den@127.0.0.1",
		"redis://:hidden@127.0.0.1/none", "redis://:hidden@127.0.0.1/0/1",
		"redis://u:12#hidden@127.0.0.1:6379", "redis://u:12/hidden@127.0.0.1:6379",
		"redis://u:12?hidden@127.0.0.1:6379", "redis://:%hidden@127.0.0.1",
		"redis://:hidden@127.0.0.1?read_timeout=1h", "redis://:hidden@127.0.0.1?db=hidden", "redis://:hidden@127.0.0.1\n",
	} {
		_, err := ratelimit.NewRates(fifty, ratelimit.RatesOptions{Redis: address})
		if err == nil || !strings.HasPrefix(err.Error(), "the address of Redis ") {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for _, part := range []string{"hidden", "hid", "den", "127.0.0.1"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("the error about %q repeats %s: %v", address, part, err)
			}
		}
	}
	for _, address := range []string{
		"redis://127.0.0.1:1", "rediss://u:p%40@127.0.0.1:1/3?skip_verify=true", "redis://[::1]:1?client_name=boat&db=2",
	} {
		rates, err := ratelimit.NewRatesWithin(fifty, ratelimit.RatesOptions{Redis: address}, time.Millisecond)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		rates.Close()
	}
}

func TestPasswordIsNotLogged(t *testing.T) {
	t.Parallel()
	const password = "Xq7"
	server := redis.Start(t)
	right := newNode(t, server.URL(), patient)
	wrong := newNode(t, strings.Replace(server.URL(), server.Password(), password, 1), patient)
	echo := newNode(t, "redis://:"+password+"@"+repeating(t), patient)
	server.Stop()
	right.shares(t, false)
	for _, n := range []*node{right, wrong, echo} {
		n.said(t, "WARN Redis does not answer")
		for _, hidden := range []string{server.Password(), password} {
			if strings.Contains(n.log.String(), hidden) {
				t.Errorf("the log holds %s: %s", hidden, n.log.String())
			}
		}
	}
	for n, reason := range map[*node]string{wrong: "WRONGPASS", echo: "beginning with: …"} {
		if !strings.Contains(n.log.String(), reason) {
			t.Errorf("the log does not tell why: %s", n.log.String())
		}
	}
}

func BenchmarkTakeFromRedis(b *testing.B) {
	rates := must.Get(ratelimit.NewRatesWithin(plan.Default().ScaleRates(1000).Limits,
		ratelimit.RatesOptions{Redis: redis.Start(b).URL()}, patient))(b)
	defer rates.Close()
	b.ReportAllocs()
	var next atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for who := next.Add(1_000_003); pb.Next(); who++ {
			rates.Take(context.Background(), pipeline.PerCredential, who%1000)
		}
	})
	if _, answers := rates.Shared(context.Background()); !answers {
		b.Error("Redis does not answer: this measured memory")
	}
}

// node is one node's rates, with its clock and its log.
type node struct {
	rates *ratelimit.Rates
	clock *testkit.Clock
	log   *record
}

func newNode(t *testing.T, url string, within time.Duration) *node {
	t.Helper()
	n := &node{clock: testkit.NewClock(start), log: &record{}}
	n.rates = must.Get(ratelimit.NewRatesWithin(fifty,
		ratelimit.RatesOptions{Redis: url, Now: n.clock.Now, Log: slog.New(slog.NewTextHandler(n.log, nil))}, within))(t)
	t.Cleanup(func() {
		if err := n.rates.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// through makes calls until one is refused, and tells where it was not after so many.
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
	if configured, answers := n.rates.Shared(t.Context()); !configured || answers != want {
		t.Errorf("shared: %t, answers: %t, want %t", configured, answers, want)
	}
}

// said checks the lines of the log, of which each begins as it is given here.
func (n *node) said(t *testing.T, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(n.log.String()), "\n")
	wants := strings.Split(want, "; ")
	if len(lines) != len(wants) {
		t.Fatalf("want %q, the log says:\n%s", want, n.log.String())
	}
	for i, line := range lines {
		level, text, _ := strings.Cut(wants[i], " ")
		text, away, _ := strings.Cut(text, " away=")
		if want != "" && (!strings.Contains(line, "level="+level+` msg="`+text) || !strings.Contains(line, away)) {
			t.Errorf("want %q, the log says: %s", wants[i], line)
		}
	}
}

// record is a log that is read while it is written.
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

// silent is a server that takes connections and never says anything.
type silent struct {
	addr        string
	connections atomic.Int64
}

func hung(t *testing.T) *silent {
	t.Helper()
	s := &silent{}
	s.addr = listen(t, func(conn net.Conn) {
		s.connections.Add(1)
		_, _ = io.Copy(io.Discard, conn) // until the client has enough
	})
	return s
}

// repeating is the address of a server that knows no command, and says so as Redis does: with what it was sent.
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
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
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
			t.Fatal("it did not come to pass")
		}
	}
}

func number(t *testing.T, answer string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(answer, ":"), 10, 64)
	if err != nil {
		t.Fatalf("no number: %s", answer)
	}
	return n
}
