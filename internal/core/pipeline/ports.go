package pipeline

import (
	"context"
	"crypto/sha256"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// Ports holds the dependencies of the pipeline.
type Ports struct {
	Keys        Keys
	Idempotency Idempotency
	Rates       Rates
	FreeCalls   FreeCalls
	Credits     Credits
	Slots       *loadshed.Limiter // limits concurrent calls; nil for the default limit
	// Unavailable reports whether an error means that one of the node's dependencies is unavailable. If Unavailable is
	// nil, no error does.
	Unavailable func(error) bool
	// Healthy reports whether the dependencies respond. If they do, a call's timeout is an internal error, because the
	// call itself was too slow. If Healthy is nil, the dependencies are assumed not to respond.
	Healthy func() bool
}

// The ports.
type (
	// Keys authenticates credentials. It returns unauthorized for every credential that it rejects.
	Keys interface {
		Authenticate(ctx context.Context, credential string) (*access.Actor, error)
	}
	// Idempotency runs work once per idempotency key. For repeats, it returns the first result.
	Idempotency interface {
		// Once commits the work and its record in one transaction. It may run the work again after a conflict.
		Once(ctx context.Context, claim Claim, work func(context.Context, *db.Tx) (operation.Result, error)) (
			result operation.Result, replayed bool, err error)
	}
	// Rates applies rate limits. It never fails.
	Rates interface {
		Take(ctx context.Context, scope Scope, caller int64) Rate
	}
	// FreeCalls manages the teams' daily allowances of free calls.
	FreeCalls interface {
		// Take takes a call from the day's allowance, outside of any transaction. It returns false if no call is left.
		Take(ctx context.Context, actor *access.Actor) (FreeCall, bool, error)
	}
	// FreeCall is a call that was taken from the allowance.
	FreeCall interface {
		// Return puts the call back into the allowance. It is used if the call was rejected, was paid, or repeated an
		// earlier call.
		Return()
	}
	// Credits manages the teams' wallets.
	Credits interface {
		// CheckUnspent returns charge_key_spent if the claim's key already paid for a call.
		CheckUnspent(ctx context.Context, tx *db.Tx, claim Claim) error
		// Reserve reserves credits in the call's transaction and returns the ID of the reservation. It returns an
		// error if the amount exceeds a daily limit or the balance.
		Reserve(ctx context.Context, tx *db.Tx, charge Charge) (int64, error)
		// Balance returns the team's balance as q sees it.
		Balance(ctx context.Context, q db.Querier, team int64) (int64, error)
	}
)

// Claim identifies a request that may be repeated.
type Claim struct {
	APIKey    int64 // ID of the key, or the negated ID of a person who acts in the app
	Key       string
	Operation string
	Arguments []byte // canonical
	Instants  []byte // Arguments with all times as instants in UTC; nil if Arguments does not contain a time
	Paid      bool   // the operation is paid; the same key with a different request then identifies another call
}

// Hash returns the hash of the operation and its arguments, including the arguments in the path.
func (c Claim) Hash() []byte { return c.hash(c.Arguments) }

// InstantHash returns a hash that is equal for requests that differ only in the notation of times. It returns nil if
// the arguments do not contain a time.
func (c Claim) InstantHash() []byte {
	if c.Instants == nil {
		return nil
	}
	return c.hash(c.Instants)
}

func (c Claim) hash(arguments []byte) []byte {
	sum := sha256.Sum256(append([]byte(c.Operation+"\n"), arguments...))
	return sum[:]
}

// Charge describes the charge for a paid call.
type Charge struct {
	Call   operation.Call
	Claim  Claim
	Amount int64 // credits, at least 1
}

// Scope identifies what a rate limit counts. It is the context.scope of a rate_limited error.
type Scope string

// The scopes of the pipeline's rate limits.
const (
	PerCredential Scope = "credential" // all requests of a key
	PerConnection Scope = "connection" // writes of a key or of an assistant's connection
	PerProvider   Scope = "provider"   // calls that reach social networks
)

// Rate is the state of a rate limit after a call was counted.
type Rate struct {
	Scope      Scope
	Quota      int           // burst size
	Window     time.Duration // time to refill the whole quota
	Remaining  int           // calls that are allowed now
	Reset      time.Duration // time until the whole quota is available
	Limited    bool          // this call exceeds the limit
	RetryAfter time.Duration // time until the next call is allowed, if Limited is true
}
