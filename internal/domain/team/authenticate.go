package team

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// unauthorized is the one refusal of everything that does not authenticate.
var unauthorized = apierr.New(apierr.Unauthorized,
	"Send a valid API key as a Bearer token in the Authorization header.")

// Authenticate finds who an API key acts for. Anything that is wrong with it, the refusal is the same; repeating one
// wrong credential many times is rate_limited (spec, Authentication 3).
func (s *Service) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	return s.authenticate(ctx, credential, s.find)
}

// AtTools authenticates where tools are called: by keys, and by the tokens of assistants' connections.
type AtTools struct {
	s      *Service
	tokens Tokens
}

// AtTools takes tokens beside keys.
func (s *Service) AtTools(tokens Tokens) AtTools { return AtTools{s, tokens} }

// Authenticate finds who a key or a token acts for, and refuses what is wrong as it is refused where keys alone are
// taken.
func (t AtTools) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	return t.s.authenticate(ctx, credential, t.find)
}

func (s *Service) authenticate(
	ctx context.Context, credential string, find func(context.Context, string) (*access.Actor, bool, error),
) (*access.Actor, error) {
	actor, found, err := find(ctx, credential)
	if err != nil {
		return nil, err
	}
	if found {
		s.uses.note(actor.KeyID, s.db.Now())
		return actor, nil
	}
	if wait := s.slow.Wrong(credential); credential != "" && wait > 0 {
		return nil,
			apierr.New(apierr.RateLimited,
				"The same invalid key was sent many times. Fix the key, then wait.").With("scope",
				"failed_authentication").After(wait)
	}
	return nil, unauthorized
}

// find reports false for a credential that is nobody's. What is no key by its form is not even looked for among what is
// remembered, where tokens are too.
func (s *Service) find(ctx context.Context, credential string) (*access.Actor, bool, error) {
	if !apikey.WellFormed(apikey.APIKey, credential) {
		return nil, false, nil
	}
	hash := apikey.Hash(credential)
	return s.cachedActor(ctx, hash, func(ctx context.Context) (cached, error) {
		return s.read(ctx, s.db, keysByHash, hash[:])
	})
}

func (t AtTools) find(ctx context.Context, credential string) (*access.Actor, bool, error) {
	if credential == "" || apikey.WellFormed(apikey.APIKey, credential) {
		return t.s.find(ctx, credential)
	}
	return t.s.cachedActor(ctx, apikey.Hash(credential), func(ctx context.Context) (cached, error) {
		connection, expires, found, err := t.tokens.Connection(ctx, credential)
		if err != nil {
			return cached{}, fmt.Errorf("looking whose a token is: %w", err)
		}
		if !found {
			return cached{}, nil
		}
		k, err := t.s.read(ctx, t.s.db, connectionsByID, connection)
		if k.expires.IsZero() || expires.Before(k.expires) {
			k.expires = expires
		}
		return k, err
	})
}

// cachedActor returns the actor of a credential from the cache, or looks it up and caches it.
func (s *Service) cachedActor(
	ctx context.Context, hash [sha256.Size]byte, lookUp func(context.Context) (cached, error),
) (*access.Actor, bool, error) {
	if known, ok := s.cache.get(hash, s.db.Now()); ok {
		return known, known != nil, nil
	}
	version := s.cache.version.Load()
	k, err := lookUp(ctx)
	if err != nil || k.actor == nil {
		return nil, false, err
	}
	s.cache.put(hash, k, version)
	return k.actor, !k.isExpired(s.db.Now()), nil
}

// cached is a key as it is remembered.
type cached struct {
	actor   *access.Actor
	expires time.Time // from when on it is nobody's
	recheck time.Time // from when on it has to be read again: its team's plan lapses
}

func (c cached) isExpired(now time.Time) bool { return !c.expires.IsZero() && !now.Before(c.expires) }

func (c cached) stale(now time.Time) bool { return !c.recheck.IsZero() && !now.Before(c.recheck) }

// row is a key as the database has it, with all that decides what it may do.
type row struct {
	access.Actor
	zone                                  string
	kind                                  Kind
	granted                               string
	expires, planUntil, accessOff, closed int64
	lost                                  string
	held                                  int // of the owner and, of a connection, its person, how many are suspended
	teamCredits, ownCredits               sql.NullInt64
}

// Standing returns the actor of a key or connection by its ID, or nil if it no longer exists.
func (s *Service) Standing(ctx context.Context, q db.Querier, key int64) (*access.Actor, error) {
	k, err := s.read(ctx, q, keysByID, key)
	if err != nil || k.actor == nil || k.isExpired(s.db.Now()) {
		return nil, err
	}
	return k.actor, nil
}

const (
	keyColumns = `SELECT k.id, k.kind, k.name, k.level, k.capabilities, k.expires_at, k.daily_credits, k.lost,
			t.id, t.name, t.timezone, t.content_language, t.plan, t.plan_until, t.daily_credits, t.own_daily_credits,
		t.access_off_at, t.closed_at, p.id, p.name, COALESCE(m.role, ''),
			(SELECT COUNT(*) FROM memberships o JOIN people h ON h.id = o.person_id
		WHERE o.team_id = t.id AND (o.role = 'owner' OR k.kind = 'assistant' AND o.person_id = k.person_id) AND
		h.held_at > 0)
		FROM api_keys k JOIN teams t ON t.id = k.team_id JOIN people p ON p.id = k.person_id
		LEFT JOIN memberships m ON m.team_id = k.team_id AND m.person_id = k.person_id
		WHERE k.revoked_at = 0 AND `
	keysByHash      = keyColumns + `k.kind = 'key' AND k.hash = ?`
	keysByID        = keyColumns + `k.id = ?`
	connectionsByID = keyColumns + `k.kind = 'assistant' AND k.id = ?`
)

// read reads a key with all that decides what it may do; one without an actor if there is none.
func (s *Service) read(ctx context.Context, q db.Querier, query string, by any) (cached, error) {
	var r row
	err := q.QueryRow(ctx, query, by).
		Scan(&r.KeyID, &r.kind, &r.KeyName, &r.Level, &r.granted, &r.expires, &r.Daily.KeyCredits, &r.lost, &r.TeamID,
			&r.TeamName, &r.zone, &r.Language, &r.Plan, &r.planUntil,
			&r.teamCredits, &r.ownCredits, &r.accessOff, &r.closed, &r.PersonID, &r.PersonName, &r.Role, &r.held)
	if errors.Is(err, sql.ErrNoRows) {
		return cached{}, nil
	}
	if err != nil {
		return cached{}, fmt.Errorf("looking up a key: %w", err)
	}
	return s.actor(ctx, q, r)
}

// actor works out what a key may do now.
func (s *Service) actor(ctx context.Context, q db.Querier, r row) (cached, error) {
	out := cached{actor: &r.Actor, expires: db.Time(r.expires)}
	r.Assistant, r.Granted = r.kind == OfAssistant, splitCapabilities(r.granted)
	var err error
	if r.Zone, err = time.LoadLocation(r.zone); err != nil {
		return cached{}, fmt.Errorf("loading the time zone of team %d: %w", r.TeamID, err)
	}
	until := db.Time(r.planUntil)
	if s.db.Now().Before(until) {
		out.recheck = until
	}
	plan := s.terms.InEffect(r.Plan, until, s.db.Now())
	r.Plan = plan.ID
	r.Daily.FreeCalls, r.Daily.TeamCredits = plan.FreeCallsPerDay, plan.DailyCredits
	if r.teamCredits.Valid {
		r.Daily.TeamCredits = r.teamCredits.Int64
	}
	if r.ownCredits.Valid {
		r.Daily.TeamCredits = lower(r.Daily.TeamCredits, r.ownCredits.Int64)
	}
	if r.Gates, err = pausedFor(ctx, q, r.TeamID, r.KeyID); err != nil {
		return cached{}, err
	}
	r.Gates.TeamOff, r.Gates.PlanLapsed, r.Gates.TeamClosed, r.Gates.OwnerHeld = r.accessOff > 0, !plan.APIKeys,
		r.closed > 0, r.held > 0
	r.Gates.NotMember, r.Gates.NotOwner, r.Gates.NotRole = r.lost == lostMembership, r.lost == lostOwnership,
		r.lost == lostRole
	r.Capabilities = slices.DeleteFunc(r.BaseCapabilities(), r.IsPaused)
	return out, nil
}

const (
	cachePoll  = 250 * time.Millisecond // how often each node looks whether keys changed
	cacheTrust = time.Second            // without such a look the cache is not used: a change holds within a second
	cacheMax   = 100_000                // keys remembered
)

// keyCache remembers keys and tokens by their hash. A version in the database counts every change that touches access;
// each node compares it a few times a second, on both databases alike, and forgets everything on a change.
type keyCache struct {
	db      *db.DB
	mu      sync.RWMutex
	byHash  map[[sha256.Size]byte]cached
	version atomic.Int64 // the version that byHash belongs to
	looked  atomic.Int64 // when the version was last compared, microseconds
}

func newKeyCache(d *db.DB) *keyCache {
	return &keyCache{db: d, byHash: map[[sha256.Size]byte]cached{}}
}

// get returns the cached entry of a hash and whether it is valid. A key past its end is remembered
// as nobody's.
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

// put remembers a key that was read while the version was the one given.
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

// look compares the version and forgets what is out of date.
func (c *keyCache) look(ctx context.Context) error {
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

// Watch keeps the cache of keys valid until ctx is canceled. It passes errors to report.
func (s *Service) Watch(ctx context.Context, report func(error)) {
	tick := time.NewTicker(cachePoll)
	defer tick.Stop()
	for {
		if err := s.cache.look(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
