package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// cachedKey is a cached key or token.
type cachedKey struct {
	actor     *access.Actor
	expiresAt time.Time // zero if it does not expire
	recheckAt time.Time // when the team's plan lapses and the key must be read again; zero if never
}

func (c cachedKey) isExpired(now time.Time) bool {
	return !c.expiresAt.IsZero() && !now.Before(c.expiresAt)
}

func (c cachedKey) needsRecheck(now time.Time) bool {
	return !c.recheckAt.IsZero() && !now.Before(c.recheckAt)
}

const (
	cachePollInterval = 250 * time.Millisecond // how often each node checks whether permissions changed
	cacheMaxAge       = time.Second            // how long the cache is valid after a check; changes apply within this time
	maxCachedKeys     = 100_000                // the cache is cleared when it is full
)

// keyCache caches keys and tokens by their hash. A transaction that changes permissions increments a version in the
// database. Each node reads the version several times a second and clears its cache when the version has changed.
type keyCache struct {
	db          *db.DB
	mu          sync.RWMutex
	byHash      map[[sha256.Size]byte]cachedKey
	version     atomic.Int64 // version of the permissions in byHash
	refreshMu   sync.Mutex   // held by refresh
	refreshedAt atomic.Int64 // when the version was last read, in microseconds
}

func newKeyCache(d *db.DB) *keyCache {
	return &keyCache{db: d, byHash: map[[sha256.Size]byte]cachedKey{}}
}

// get returns the cached actor of a hash, and reports whether the cache has a current entry. If it has one and the
// actor is nil, the key has expired.
func (c *keyCache) get(hash [sha256.Size]byte, now time.Time) (*access.Actor, bool) {
	if now.Sub(db.Time(c.refreshedAt.Load())) > cacheMaxAge {
		return nil, false
	}
	c.mu.RLock()
	k, ok := c.byHash[hash]
	c.mu.RUnlock()
	if !ok || k.isExpired(now) || k.needsRecheck(now) {
		return nil, ok && !k.needsRecheck(now)
	}
	return k.actor, true
}

// put caches a key that was read at a version of the permissions. It does nothing if the version has changed since.
func (c *keyCache) put(hash [sha256.Size]byte, k cachedKey, version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version.Load() {
		return
	}
	if len(c.byHash) >= maxCachedKeys {
		clear(c.byHash)
	}
	c.byHash[hash] = k
}

// refresh reads the version of the permissions and clears the cache if the version has changed.
func (c *keyCache) refresh(ctx context.Context) error {
	c.refreshMu.Lock() // Keep an older version from replacing a newer one.
	defer c.refreshMu.Unlock()
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
	c.refreshedAt.Store(db.Micros(at))
	return nil
}
