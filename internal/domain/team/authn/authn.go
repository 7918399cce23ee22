// Package authn authenticates callers by API key, by an assistant's access token, or by a session of the app. It
// returns their permissions and records when keys were used.
package authn

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
)

// errUnauthorized is returned for all invalid credentials.
var errUnauthorized = apierr.New(apierr.Unauthorized,
	"Send a valid API key or access token as a Bearer token in the Authorization header.")

// Authenticator authenticates API keys. It caches them.
type Authenticator struct {
	db           *db.DB
	cache        *keyCache
	guessLimiter GuessLimiter
	catalog      plan.Catalog
	uses         pendingUses
}

// GuessLimiter limits the rate of repeated wrong credentials.
type GuessLimiter interface {
	// RecordFailure counts a wrong credential and returns how long the caller must wait, or 0.
	RecordFailure(credential string) time.Duration
}

// New returns an Authenticator.
func New(d *db.DB, limiter GuessLimiter, t plan.Catalog) *Authenticator {
	return &Authenticator{db: d, cache: newKeyCache(d), guessLimiter: limiter, catalog: t, uses: pendingUses{byKey: map[int64]time.Time{}}}
}

// Authenticate returns the actor of an API key. It returns the same error for all invalid keys, except rate_limited for
// an invalid key that is sent many times.
func (a *Authenticator) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	return a.authenticate(ctx, credential, a.find)
}

// Tokens looks up the connections of access tokens.
type Tokens interface {
	// Connection returns the ID of a token's connection and when the token expires. found is false if the token is not
	// valid for the resource, which is a URL.
	Connection(ctx context.Context, resource, token string) (id int64, expires time.Time, found bool, err error)
}

// TokenAuthenticator authenticates API keys and assistants' access tokens.
type TokenAuthenticator struct {
	keys     *Authenticator
	tokens   Tokens
	resource string
}

// WithTokens returns an authenticator that also accepts access tokens for a resource, which is a URL.
func (a *Authenticator) WithTokens(tokens Tokens, resource string) TokenAuthenticator {
	return TokenAuthenticator{a, tokens, resource}
}

// Authenticate returns the actor of an API key or access token. It returns the same errors as
// Authenticator.Authenticate.
func (t TokenAuthenticator) Authenticate(ctx context.Context, credential string) (*access.Actor, error) {
	return t.keys.authenticate(ctx, credential, t.find)
}

func (a *Authenticator) authenticate(
	ctx context.Context, credential string, find func(context.Context, string) (*access.Actor, bool, error),
) (*access.Actor, error) {
	actor, found, err := find(ctx, credential)
	if err != nil {
		return nil, err
	}
	if found {
		a.uses.record(actor.KeyID, a.db.Now())
		return actor, nil
	}
	if wait := a.guessLimiter.RecordFailure(credential); credential != "" && wait > 0 {
		return nil,
			apierr.New(apierr.RateLimited,
				"The same invalid key was sent many times. Fix the key, then wait.").With("scope",
				"failed_authentication").WithRetryAfter(wait)
	}
	return nil, errUnauthorized
}

// find returns the actor of an API key and reports whether the key is valid. It ignores credentials that are not API
// keys, because the cache also contains tokens.
func (a *Authenticator) find(ctx context.Context, credential string) (*access.Actor, bool, error) {
	if !apikey.IsWellFormed(apikey.APIKey, credential) {
		return nil, false, nil
	}
	hash := apikey.Hash(credential)
	return a.cachedActor(ctx, hash, func(ctx context.Context) (cachedKey, error) {
		return a.read(ctx, a.db, keyByHashQuery, hash[:])
	})
}

func (t TokenAuthenticator) find(ctx context.Context, credential string) (*access.Actor, bool, error) {
	if credential == "" || apikey.IsWellFormed(apikey.APIKey, credential) {
		return t.keys.find(ctx, credential)
	}
	// The hash includes the resource, because the cache is shared with other resources, and the token may not be valid
	// for them.
	return t.keys.cachedActor(ctx, apikey.Hash(t.resource+" "+credential), func(ctx context.Context) (cachedKey, error) {
		connection, expires, found, err := t.tokens.Connection(ctx, t.resource, credential)
		if err != nil {
			return cachedKey{}, fmt.Errorf("looking up a token: %w", err)
		}
		if !found {
			return cachedKey{}, nil
		}
		k, err := t.keys.read(ctx, t.keys.db, connectionByIDQuery, connection)
		if k.expiresAt.IsZero() || expires.Before(k.expiresAt) {
			k.expiresAt = expires
		}
		return k, err
	})
}

// cachedActor returns the actor of a credential from the cache, or looks it up and caches it. It reports whether the
// credential is valid.
func (a *Authenticator) cachedActor(
	ctx context.Context, hash [sha256.Size]byte, lookUp func(context.Context) (cachedKey, error),
) (*access.Actor, bool, error) {
	if actor, ok := a.cache.get(hash, a.db.Now()); ok {
		return actor, actor != nil, nil
	}
	version := a.cache.version.Load()
	k, err := lookUp(ctx)
	if err != nil || k.actor == nil {
		return nil, false, err
	}
	a.cache.put(hash, k, version)
	return k.actor, !k.isExpired(a.db.Now()), nil
}

// Reasons why a key or connection ended without being revoked. They are permanent, even if the person becomes a member
// again.
const (
	// LostOwnership means that the person who created the key is no longer the team's owner.
	LostOwnership = "ownership_lost"
	// LostMembership means that the person left the team.
	LostMembership = "membership_lost"
	// LostRole means that the person's role changed to client, or from a role that can publish to a role that cannot.
	LostRole = "role_lost"
)

// row is a stored key with all data that determines its permissions.
type row struct {
	access.Actor
	zone                                  string
	kind                                  string
	granted                               string
	expires, planUntil, accessOff, closed int64
	lost                                  string
	suspended                             int // number of suspended people among the owner and, for a connection, its person
	teamCredits, ownCredits               sql.NullInt64
}

// ActorByKeyID returns the actor of a key or connection, or nil if it does not exist, is revoked or has expired.
func (a *Authenticator) ActorByKeyID(ctx context.Context, q db.Querier, key int64) (*access.Actor, error) {
	k, err := a.read(ctx, q, keyByIDQuery, key)
	if err != nil || k.actor == nil || k.isExpired(a.db.Now()) {
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
	keyByHashQuery      = keyColumns + `k.kind = 'key' AND k.hash = ?`
	keyByIDQuery        = keyColumns + `k.id = ?`
	connectionByIDQuery = keyColumns + `k.kind = 'assistant' AND k.id = ?`
)

// read reads a key with its permissions. The actor in the result is nil if there is no such key.
func (a *Authenticator) read(ctx context.Context, q db.Querier, query string, arg any) (cachedKey, error) {
	var r row
	err := q.QueryRow(ctx, query, arg).
		Scan(&r.KeyID, &r.kind, &r.KeyName, &r.Level, &r.granted, &r.expires, &r.Daily.KeyCredits, &r.lost, &r.TeamID,
			&r.TeamName, &r.zone, &r.Language, &r.Plan, &r.planUntil,
			&r.teamCredits, &r.ownCredits, &r.accessOff, &r.closed, &r.PersonID, &r.PersonName, &r.Role, &r.suspended)
	if errors.Is(err, sql.ErrNoRows) {
		return cachedKey{}, nil
	}
	if err != nil {
		return cachedKey{}, fmt.Errorf("looking up a key: %w", err)
	}
	return a.newCachedKey(ctx, q, r)
}

// newCachedKey returns the actor of a key with its current permissions.
func (a *Authenticator) newCachedKey(ctx context.Context, q db.Querier, r row) (cachedKey, error) {
	out := cachedKey{actor: &r.Actor, expiresAt: db.Time(r.expires)}
	r.Assistant, r.Granted = r.kind == "assistant", access.SplitCapabilities(r.granted)
	var err error
	if r.Zone, err = time.LoadLocation(r.zone); err != nil {
		return cachedKey{}, fmt.Errorf("loading the time zone of team %d: %w", r.TeamID, err)
	}
	planUntil := db.Time(r.planUntil)
	if a.db.Now().Before(planUntil) {
		out.recheckAt = planUntil
	}
	currentPlan := a.catalog.PlanInEffect(r.Plan, planUntil, a.db.Now())
	r.Plan = currentPlan.ID
	r.Daily.FreeCalls, r.Daily.TeamCredits = currentPlan.FreeCallsPerDay, currentPlan.DailyCredits
	if r.teamCredits.Valid {
		r.Daily.TeamCredits = r.teamCredits.Int64
	}
	if r.ownCredits.Valid {
		r.Daily.TeamCredits = plan.LowerLimit(r.Daily.TeamCredits, r.ownCredits.Int64)
	}
	if r.Gates, err = readPauses(ctx, q, r.TeamID, r.KeyID); err != nil {
		return cachedKey{}, err
	}
	r.Gates.TeamOff, r.Gates.PlanLapsed, r.Gates.TeamClosed, r.Gates.OwnerSuspended = r.accessOff > 0, !currentPlan.APIKeys,
		r.closed > 0, r.suspended > 0
	r.Gates.MembershipLost, r.Gates.OwnershipLost, r.Gates.RoleLost = r.lost == LostMembership, r.lost == LostOwnership,
		r.lost == LostRole
	r.Capabilities = slices.DeleteFunc(r.BaseCapabilities(), r.IsPaused)
	return out, nil
}

// Refresh clears this process's key cache if permissions have changed since the last call.
func (a *Authenticator) Refresh(ctx context.Context) error { return a.cache.refresh(ctx) }

// Watch keeps the key cache up to date until ctx is canceled. It passes errors to report.
func (a *Authenticator) Watch(ctx context.Context, report func(error)) {
	tick := time.NewTicker(cachePollInterval)
	defer tick.Stop()
	for {
		if err := a.cache.refresh(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
