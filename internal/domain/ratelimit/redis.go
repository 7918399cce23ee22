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
	responseTimeout  = 100 * time.Millisecond // timeout for a call to Redis; after it, the call is counted in memory
	startTimeout     = time.Second            // timeout at start, which may include a TLS handshake
	redisPrefix      = "pressroom:rate:"      // prefix of every key
	redisPoolSize    = 64                     // connections
	redisBufferSize  = 4 << 10                // bytes; commands and responses need a tenth of it
	redisMaxIdleTime = 5 * time.Minute        // maximum idle time of a connection, because firewalls drop idle ones
	redisDialTimeout = time.Second            // timeout for connecting, which happens in the background
)

// These errors must not contain the URL or wrap errors that contain it, because the URL includes the password.
var (
	errRedisURL = errors.New("the Redis URL must look like redis://user:password@host:6379/0, or " +
		"rediss://… for TLS; percent-encode special characters in the password, such as %40 for @")
	errRedisQuery = errors.New("the Redis URL can have only the parameters db, client_name and skip_verify; " +
		"write a question mark in the password as %3F")
)

// redisOptions parses the URL of a Redis server.
func redisOptions(redisURL string) (*redis.Options, error) {
	u, err := url.Parse(redisURL)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "" || u.Fragment != "" {
		return nil, errRedisURL
	}
	if _, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && err != nil {
		return nil, errRedisURL
	}
	for name := range u.Query() {
		if !slices.Contains([]string{"db", "client_name", "skip_verify"}, name) {
			return nil, errRedisQuery
		}
	}
	opts, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, errRedisURL
	}
	setLimits(opts)
	return opts, nil
}

// setLimits sets timeouts, retries and the number of connections.
func setLimits(opts *redis.Options) {
	opts.ContextTimeoutEnabled = true
	// The deadline of a call ends it before these timeouts.
	opts.ReadTimeout, opts.WriteTimeout, opts.PoolTimeout = startTimeout, startTimeout, startTimeout
	opts.MaxRetries = -1 // none: failed calls are counted in memory
	opts.DialTimeout, opts.DialerRetries, opts.DialerRetryTimeout = redisDialTimeout, 1, time.Nanosecond
	opts.PoolSize, opts.ConnMaxIdleTime = redisPoolSize, redisMaxIdleTime
	opts.ReadBufferSize, opts.WriteBufferSize = redisBufferSize, redisBufferSize
	opts.Protocol, opts.DisableIdentity = 2, true
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

// redisStore stores counts in Redis.
type redisStore struct {
	opts    *redis.Options
	current atomic.Pointer[redisLink]
	mu      sync.Mutex // held while the link is replaced
	closed  bool
}

// redisLink is a Redis client and the throttled store that uses it.
type redisLink struct {
	client *redis.Client
	store  *goredisstore.GoRedisStore
}

// disableRedisLog disables the log of the go-redis package, which writes to standard error.
var disableRedisLog = sync.OnceFunc(logging.Disable)

func newRedisStore(redisURL string) (*redisStore, error) {
	opts, err := redisOptions(redisURL)
	if err != nil {
		return nil, err
	}
	disableRedisLog()
	s := &redisStore{opts: opts}
	return s, s.connect()
}

// connect creates a client, which connects on demand.
func (s *redisStore) connect() error {
	client := redis.NewClient(s.opts)
	store, err := goredisstore.NewCtx(client, redisPrefix)
	if err != nil {
		return fmt.Errorf("creating the store in Redis: %w", err)
	}
	s.current.Store(&redisLink{client, store})
	return nil
}

// renew replaces all connections. After an outage, some connections may be half-open, and each would make a call time
// out.
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

// redact returns the text of an error without the password. A server that does not know a command returns an error that
// quotes the command's arguments.
func (s *redisStore) redact(err error) string {
	if s.opts.Password == "" {
		return err.Error()
	}
	return strings.ReplaceAll(err.Error(), s.opts.Password, "…")
}

// redisStore uses only the compare-and-swap of goredisstore. The other methods of goredisstore lose the reason why a
// connection was rejected, and give counts too short a lifetime.
var _ throttled.GCRAStoreCtx = (*redisStore)(nil)

// ttlRounding is added to a count's lifetime, because lifetimes are rounded down to whole seconds. If a count expired
// early, its caller could exceed the quota.
const ttlRounding = time.Second

// GetWithTime returns a count, or -1 if there is none. It also returns the Redis server's time, so that all nodes use
// the same clock.
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

// SetIfNotExistsWithTTL creates a count with its lifetime and reports whether it did not exist. It sets both at once,
// so that a crash cannot leave a count that never expires.
func (s *redisStore) SetIfNotExistsWithTTL(
	ctx context.Context, key string, value int64, ttl time.Duration,
) (bool, error) {
	created, err := s.current.Load().client.SetNX(ctx, redisPrefix+key, value, ttl+ttlRounding).Result()
	if err != nil {
		return false, fmt.Errorf("creating a count: %w", err)
	}
	return created, nil
}

// CompareAndSwapWithTTL changes a count and reports whether it still had the old value.
func (s *redisStore) CompareAndSwapWithTTL(
	ctx context.Context, key string, oldValue, newValue int64, ttl time.Duration,
) (bool, error) {
	changed, err := s.current.Load().store.CompareAndSwapWithTTL(ctx, key, oldValue, newValue, ttl+ttlRounding)
	if err != nil {
		return false, fmt.Errorf("changing a count: %w", err)
	}
	return changed, nil
}
