package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// cached is a cached key.
type cached struct {
	actor   *access.Actor
	expires time.Time // when it becomes invalid; zero for never
	recheck time.Time // when to read it again, because its team's plan lapses
}

func (c cached) isExpired(now time.Time) bool { return !c.expires.IsZero() && !now.Before(c.expires) }

func (c cached) stale(now time.Time) bool { return !c.recheck.IsZero() && !now.Before(c.recheck) }

const (
	cachePoll  = 250 * time.Millisecond // how often each node checks whether keys changed
	cacheTrust = time.Second            // how long the cache is used without a check: changes apply within a second
	cacheMax   = 100_000                // cached keys
)

// keyCache caches keys and tokens by their hash. A version in the database counts changes of access. Each node compares
// it a few times a second and clears its cache on a change.
type keyCache struct {
	db      *db.DB
	mu      sync.RWMutex
	byHash  map[[sha256.Size]byte]cached
	version atomic.Int64 // the version that byHash belongs to
	looking sync.Mutex   // held during the comparison of the version
	looked  atomic.Int64 // when the version was last compared, microseconds
}

func newKeyCache(d *db.DB) *keyCache {
	return &keyCache{db: d, byHash: map[[sha256.Size]byte]cached{}}
}

// get returns the cached entry of a hash and whether it is valid. An expired key is cached as
// invalid.
func (c *keyCache) get(hash [sha256.Size]byte, now time.Time) (*access.Actor, bool) {
	if now.Sub(db.Time(c.looked.Load())) > cacheTrust {
		return nil, false
	}
	c.mu.RLock()
	k, ok := c.byHash[hash]
	c.mu.RUnlock()
	if !ok || k.isExpired(now) || k.stale(now) {
		return nil, ok && !k.stale(now)
	}
	return k.actor, true
}

// put caches a key that was read while the version was the one given.
func (c *keyCache) put(hash [sha256.Size]byte, k cached, version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version.Load() {
		return
	}
	if len(c.byHash) >= cacheMax {
		clear(c.byHash)
	}
	c.byHash[hash] = k
}

// look compares the version and clears the cache after a change.
func (c *keyCache) look(ctx context.Context) error {
	c.looking.Lock() // an older version must not replace a newer one
	defer c.looking.Unlock()
	at := c.db.Now()
	var version int64
	if err := c.db.QueryRow(ctx, `SELECT version FROM access_version WHERE id = 1`).Scan(&version); err != nil {
		return fmt.Errorf("reading the version of access: %w", err)
	}
	c.mu.Lock()
	if version != c.version.Load() {
		clear(c.byHash)
		c.version.Store(version)
	}
	c.mu.Unlock()
	c.looked.Store(db.Micros(at))
	return nil
}
