package ratelimit_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/testkit/redis"
)

const (
	patient = time.Minute     // timeout if Redis must answer on a busy machine
	pause   = 3 * time.Second // probeInterval
)

// fifty allows fifty calls at once, and about one more during a test.
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
			t.Errorf("a call beyond the quota: %+v", got)
		}
	}
	for _, free := range []pipeline.Rate{
		a.rates.Take(t.Context(), pipeline.PerCredential, 8), b.rates.Take(t.Context(), pipeline.PerConnection, 7),
	} {
		if free.Limited || free.Remaining != free.Quota-1 {
			t.Errorf("another's call, or one of another scope: %+v", free)
		}
	}
	if life := number(t, server.Do("PTTL pressroom:rate:credential:7")); life < 49*60_000 || life > 50*60_000+1000 {
		t.Errorf("a count expires after %d ms", life)
	}
	a.checkLog(t, "")
	b.checkLog(t, "")
}

// TestLifetimeOfCounts checks that counts do not expire early, which would increase the quota.
func TestLifetimeOfCounts(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	for range 3 { // the first creates the count, others change it
		began := time.Now() // before Redis reads its clock; PTTL is in whole milliseconds
		reset := n.rates.Take(t.Context(), pipeline.PerCredential, 7).Reset
		life := time.Duration(number(t, server.Do("PTTL pressroom:rate:credential:7"))) * time.Millisecond
		if life+time.Millisecond < reset-time.Since(began) || life > reset+time.Second {
			t.Errorf("a count expires after %v, but is needed for %v", life, reset)
		}
	}
}

func TestConcurrentRatesOfTwoNodes(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	a, b := newNode(t, server.URL(), patient), newNode(t, server.URL(), patient)
	if got := runConcurrently(64, 5, a.rates, b.rates); got != 50 {
		t.Errorf("%d calls were let through of a quota of 50", got)
	}
	a.checkLog(t, "")
	b.checkLog(t, "")
}

func TestRedisReconnects(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	n.shares(t, true)
	n.through(t, 50)
	server.Stop()
	n.through(t, 50) // counted on this node from 0
	n.shares(t, false)
	n.checkLog(t, "WARN Redis does not respond")
	server.Restart()
	n.clock.Advance(pause - time.Millisecond)
	n.shares(t, false) // not probed yet
	n.clock.Advance(time.Millisecond)
	n.through(t, 50)
	n.shares(t, true)
	n.checkLog(t, "WARN Redis does not respond; INFO Redis is back away=3s")
	if got := server.Do("EXISTS pressroom:rate:credential:7"); got != ":1" {
		t.Errorf("the count is not in Redis: %s", got)
	}
	server.Stop()
	n.shares(t, false)
	n.clock.Advance(time.Hour)
	n.shares(t, false)
	n.checkLog(t, "WARN Redis does not respond; INFO Redis is back away=3s; WARN Redis does not respond")
}

func TestRedisHangs(t *testing.T) {
	t.Parallel()
	const wait = 500 * time.Millisecond
	server := redis.Start(t)
	n := newNode(t, server.URL(), wait)
	n.shares(t, true)
	server.Pause()
	began := time.Now()
	if got := runConcurrently(64, 100, n.rates); got != 50 {
		t.Errorf("%d calls were let through of a quota of 50", got)
	}
	// The first calls waited concurrently.
	if took := time.Since(began); took > 20*wait {
		t.Errorf("6400 calls took %v; only the first may wait, up to %v", took, wait)
	}
	n.checkLog(t, "WARN Redis does not respond")
	server.Resume()
	n.clock.Advance(90 * time.Second)
	until(t, func() bool {
		n.clock.Advance(pause)
		_, answers := n.rates.RedisStatus(t.Context())
		return answers
	})
	n.checkLog(t, "WARN Redis does not respond; INFO Redis is back")
}

// TestProbeDuringOutage checks that one call in three seconds probes Redis during an outage.
func TestProbeDuringOutage(t *testing.T) {
	t.Parallel()
	dead := newSilent(t)
	n := newNode(t, "redis://"+dead.addr, 300*time.Millisecond)
	for round := int64(1); round <= 3; round++ {
		runConcurrently(32, 10, n.rates)
		n.shares(t, false)
		until(t, func() bool { return dead.connections.Load() >= round })
		if got := dead.connections.Load(); got != round {
			t.Fatalf("round %d: probed %d times", round, got)
		}
		n.clock.Advance(pause)
	}
	n.checkLog(t, "WARN Redis does not respond")
}

func TestRedisDownAtStart(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	server.Stop()
	n := newNode(t, server.URL(), patient)
	n.checkLog(t, "WARN Redis does not respond")
	n.through(t, 50)
	server.Restart()
	n.clock.Advance(pause)
	n.shares(t, true) // even without calls
	n.checkLog(t, "WARN Redis does not respond; INFO Redis is back away=3s")
}

// TestFullRedis checks that a full Redis is an outage, although it answers pings.
func TestFullRedis(t *testing.T) {
	t.Parallel()
	server := redis.Start(t)
	n := newNode(t, server.URL(), patient)
	server.Do("CONFIG SET maxmemory 1")
	n.through(t, 50)
	for range 3 {
		n.clock.Advance(pause)
		n.shares(t, false)
	}
	n.checkLog(t, "WARN Redis does not respond")
	server.Do("CONFIG SET maxmemory 0")
	n.clock.Advance(pause)
	n.shares(t, true)
}

// TestClientDisconnects checks that a disconnecting client is not a failure of Redis, and that its call counts.
func TestClientDisconnects(t *testing.T) {
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
	n.checkLog(t, "")
}

func TestClosedRates(t *testing.T) {
	t.Parallel()
	n := newNode(t, redis.Start(t).URL(), patient)
	for range 2 {
		if err := n.rates.Close(); err != nil {
			t.Fatal(err)
		}
	}
	n.through(t, 50)
}

func TestParseRedisAddress(t *testing.T) {
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
		if err == nil || !strings.HasPrefix(err.Error(), "the Redis URL ") {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for _, part := range []string{"hidden", "hid", "den", "127.0.0.1"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("the error for %q contains %s: %v", address, part, err)
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

func TestPasswordNotLogged(t *testing.T) {
	t.Parallel()
	const password = "Xq7"
	server := redis.Start(t)
	right := newNode(t, server.URL(), patient)
	wrong := newNode(t, strings.Replace(server.URL(), server.Password(), password, 1), patient)
	echo := newNode(t, "redis://:"+password+"@"+repeating(t), patient)
	server.Stop()
	right.shares(t, false)
	for _, n := range []*node{right, wrong, echo} {
		n.checkLog(t, "WARN Redis does not respond")
		for _, hidden := range []string{server.Password(), password} {
			if strings.Contains(n.log.String(), hidden) {
				t.Errorf("the log contains %s: %s", hidden, n.log.String())
			}
		}
	}
	for n, reason := range map[*node]string{wrong: "WRONGPASS", echo: "beginning with: …"} {
		if !strings.Contains(n.log.String(), reason) {
			t.Errorf("the log has no reason: %s", n.log.String())
		}
	}
}

func BenchmarkTakeFromRedis(b *testing.B) {
	rates, err := ratelimit.NewRatesWithin(plan.Default().ScaleRates(1000).Limits,
		ratelimit.RatesOptions{Redis: redis.Start(b).URL()}, patient)
	if err != nil {
		b.Fatal(err)
	}
	defer rates.Close()
	b.ReportAllocs()
	var next atomic.Int64
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for who := next.Add(1_000_003); pb.Next(); who++ {
			rates.Take(context.Background(), pipeline.PerCredential, who%1000)
		}
	})
	if _, answers := rates.RedisStatus(context.Background()); !answers {
		b.Error("Redis does not answer: this measured memory")
	}
}
