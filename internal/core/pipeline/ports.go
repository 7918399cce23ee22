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

// Ports are the dependencies of the pipeline.
type Ports struct {
	Keys        Keys
	Idempotency Idempotency
	Rates       Rates
	FreeCalls   FreeCalls
	Credits     Credits
	Slots       *loadshed.Limiter // limits concurrent calls; nil for the default
	// Unavailable reports whether an error means that a dependency of the node is unavailable. If nil, the result is
	// always false.
	Unavailable func(error) bool
	// Healthy reports whether the dependencies respond. If they do, the timeout of a call is an internal error, because
	// the call itself was too slow. If nil, the result is always false.
	Healthy func() bool
}

// The ports.
type (
	// Keys authenticates credentials. The error is unauthorized for every credential that it rejects.
	Keys interface {
		Authenticate(ctx context.Context, credential string) (*access.Actor, error)
	}
	// Idempotency runs work once per idempotency key and returns the first result for repeats.
	Idempotency interface {
		// Once commits the work and its record in one transaction. It may run the work again after a conflict.
		Once(ctx context.Context, claim Claim, work func(context.Context, *db.Tx) (operation.Result, error)) (
			result operation.Result, replayed bool, err error)
	}
	// Rates applies rate limits. It never fails.
	Rates interface {
		Take(ctx context.Context, scope Scope, caller int64) Rate
	}
	// FreeCalls is the team's daily allowance of free calls.
	FreeCalls interface {
		// Take takes a call from the day's allowance, outside of any transaction. It returns false if none is left.
		Take(ctx context.Context, actor *access.Actor) (FreeCall, bool, error)
	}
	// FreeCall is a call taken from the allowance.
	FreeCall interface {
		// Return returns the call to the allowance if it was rejected, was paid, or repeated an earlier call.
		Return()
	}
	// Credits is the team's wallet.
	Credits interface {
		// CheckUnspent returns charge_key_spent if the claim's key already paid for a call.
		CheckUnspent(ctx context.Context, tx *db.Tx, claim Claim) error
		// Reserve reserves credits in the call's transaction and returns the ID of the reservation. It returns an
		// error if the amount exceeds a daily limit or the balance.
		Reserve(ctx context.Context, tx *db.Tx, charge Charge) (int64, error)
		// Balance returns the team's balance as seen by q.
		Balance(ctx context.Context, q db.Querier, team int64) (int64, error)
	}
)

// Claim identifies a request that may be repeated.
type Claim struct {
	APIKey    int64 // or the negated ID of the person who acts in the app
	Key       string
	Operation string
	Arguments []byte // canonical
	Instants  []byte // Arguments with every time as an instant in UTC; nil if they contain no time
	Paid      bool   // the operation is paid; the same key with a different request then identifies another call
}

// Hash returns the hash of the operation and its arguments, including those of the path.
func (c Claim) Hash() []byte { return c.hash(c.Arguments) }

// InstantHash returns the hash shared by requests that differ only in the notation of times. It returns nil if the
// arguments have no time.
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

// Charge is the charge for a paid call.
type Charge struct {
	Call   operation.Call
	Claim  Claim
	Amount int64 // credits, at least 1
}

// Scope names what a rate limit counts. It is the context.scope of a rate_limited error.
type Scope string

// The scopes of the pipeline's rate limits.
const (
	PerCredential Scope = "credential" // every request of a key
	PerConnection Scope = "connection" // writes of a key or of an assistant's connection
	PerProvider   Scope = "provider"   // calls that reach social networks
)

// Rate is the state of a rate limit after a call was counted.
type Rate struct {
	Scope      Scope
	Quota      int           // burst size
	Window     time.Duration // time to refill the whole quota
	Remaining  int           // calls that are allowed now
	Reset      time.Duration // until the whole quota is available
	Limited    bool          // this call exceeds the limit
	RetryAfter time.Duration // until the next call is allowed, if Limited
}
