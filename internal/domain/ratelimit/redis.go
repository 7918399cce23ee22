package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/throttled/throttled/v2"
	goredisstore "github.com/throttled/throttled/v2/store/goredisstore.v9"
)

const (
	answerWithin = 100 * time.Millisecond // a call that Redis has not answered by then is counted in memory
	startWithin  = time.Second            // and at start, when there may be a connection to make over TLS
	redisPrefix  = "pressroom:rate:"      // of every key in Redis
	redisPool    = 64                     // connections; a call waits for a free one no longer than for an answer
	redisBuffer  = 4 << 10                // bytes; our commands and their answers are a tenth of it
	redisIdle    = 5 * time.Minute        // after which a connection is not used again; firewalls forget them
	redisDialing = time.Second            // to connect; the call does not wait for that, a later one has the connection
)

// These do not repeat the address, nor wrap an error that does: it holds the password.
var (
	errRedisAddress = errors.New("the address of Redis has to look like redis://user:password@host:6379/0, or " +
		"rediss://… for TLS; " +
		"what is neither a letter nor a digit in the password is written with a percent sign, such as %40 for @")
	errRedisQuery = errors.New("the address of Redis may have db, client_name and skip_verify after a question mark, " +
		"and nothing else; " +
		"a question mark in the password is written as %3F")
)

// redisOptions reads the address of a Redis.
func redisOptions(address string) (*redis.Options, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || u.Fragment != "" {
		return nil, errRedisAddress
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
		return nil, errRedisAddress
	}
	for name := range u.Query() {
		if !slices.Contains([]string{"db", "client_name", "skip_verify"}, name) {
			return nil, errRedisQuery
		}
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, errRedisAddress
	}
	bound(o)
	return o, nil
}

// bound sets what is ours to say: how long everything may take, how often it is tried, and how many connections there
// are.
func bound(o *redis.Options) {
	o.ContextTimeoutEnabled = true
	// the call's own deadline comes first
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = startWithin, startWithin, startWithin
	o.MaxRetries = -1 // none: what is not answered is counted in memory
	o.DialTimeout, o.DialerRetries, o.DialerRetryTimeout = redisDialing, 1, time.Nanosecond
	o.PoolSize, o.ConnMaxIdleTime = redisPool, redisIdle
	o.ReadBufferSize, o.WriteBufferSize = redisBuffer, redisBuffer
	o.Protocol, o.DisableIdentity = 2, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// redisStore keeps counts in a Redis.
type redisStore struct {
	opts    *redis.Options
	current atomic.Pointer[redisLink]
	mu      sync.Mutex // held while the link is exchanged
	closed  bool
}

type redisLink struct {
	client *redis.Client
	store  *goredisstore.GoRedisStore
}

// quietRedis keeps the client's package from writing to standard error: what there is to say is said by us.
var quietRedis = sync.OnceFunc(logging.Disable)

func newRedisStore(address string) (*redisStore, error) {
	opts, err := redisOptions(address)
	if err != nil {
		return nil, err
	}
	quietRedis()
	s := &redisStore{opts: opts}
	return s, s.connect()
}

// connect makes connections from now on, where others were closed before.
func (s *redisStore) connect() error {
	client := redis.NewClient(s.opts)
	store, err := goredisstore.NewCtx(client, redisPrefix)
	if err != nil {
		return fmt.Errorf("making the store in Redis: %w", err)
	}
	s.current.Store(&redisLink{client, store})
	return nil
}

// renew throws all connections away. After an outage some only look alive, as nobody told them that the server at
// their other end is gone, and each would cost a call its deadline.
func (s *redisStore) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	old := s.current.Load()
	err := s.connect()
	return errors.Join(err, old.client.Close())
}

func (s *redisStore) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.current.Load().client.Close(); err != nil {
		return fmt.Errorf("closing the connections to Redis: %w", err)
	}
	return nil
}

// said is an error without the password: a server that does not know a command repeats what it was sent.
func (s *redisStore) said(err error) string {
	if s.opts.Password == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), s.opts.Password, "…")
}

// The store of a limiter. The limiter's own does the hard part, to change a count that nobody changed meanwhile. It
// is not asked for the rest: it would lose the reason of a connection that is refused, and give counts too short a
// life.
var _ throttled.GCRAStoreCtx = (*redisStore)(nil)

// lifeRounding is what is added to a count's life, as that is rounded down to seconds: a count that is forgotten
// before its time is quota given away.
const lifeRounding = time.Second

// GetWithTime reads a count, -1 where there is none, and the time by the clock of Redis, which is the same for all
// nodes.
func (s *redisStore) GetWithTime(ctx context.Context, key string) (int64, time.Time, error) {
	pipe := s.current.Load().client.Pipeline()
	now, count := pipe.Time(ctx), pipe.Get(ctx, redisPrefix+key)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return 0, time.Time{}, fmt.Errorf("reading a count: %w", err)
	}
	value, err := count.Int64()
	if errors.Is(err, redis.Nil) {
		return -1, now.Val(), nil
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("reading a count: %w", err)
	}
	return value, now.Val(), nil
}

// SetIfNotExistsWithTTL makes a count together with its life. Set one after the other, a late loser's life would
// shorten that of a count which others have raised since, and a crash between would leave it there for ever.
func (s *redisStore) SetIfNotExistsWithTTL(
	ctx context.Context, key string, value int64, life time.Duration,
) (bool, error) {
	made, err := s.current.Load().client.SetNX(ctx, redisPrefix+key, value, life+lifeRounding).Result()
	if err != nil {
		return false, fmt.Errorf("making a count: %w", err)
	}
	return made, nil
}

// CompareAndSwapWithTTL changes a count that nobody changed meanwhile.
func (s *redisStore) CompareAndSwapWithTTL(
	ctx context.Context, key string, was, is int64, life time.Duration,
) (bool, error) {
	changed, err := s.current.Load().store.CompareAndSwapWithTTL(ctx, key, was, is, life+lifeRounding)
	if err != nil {
		return false, fmt.Errorf("changing a count: %w", err)
	}
	return changed, nil
}
