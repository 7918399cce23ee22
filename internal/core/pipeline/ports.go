package pipeline

import (
	"context"
	"crypto/sha256"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
)

// Ports are what the pipeline needs.
type Ports struct {
	Keys      Keys
	Replay    Replay
	Rates     Rates
	FreeCalls FreeCalls
	Credits   Credits
	Room      *loadshed.Room   // for calls; one of its own where nil
	Away      func(error) bool // whether an error says that what the node stands on cannot be reached; never where nil
	// whether what it stands on answers now: then what took too long did so by itself; never where nil
	Answers func() bool
}

// The ports.
type (
	// Keys finds who a credential acts for. What does not authenticate is unauthorized, whatever the cause.
	Keys interface {
		Authenticate(ctx context.Context, credential string) (*access.Actor, error)
	}
	// Replay does work once for a key and gives the first result to every repeat.
	Replay interface {
		// The work and its record commit in one transaction. The work may run again when another transaction got in
		// the way.
		Once(ctx context.Context, claim Claim, work func(context.Context, *db.Tx) (operation.Result, error)) (
			result operation.Result, replayed bool, err error)
	}
	// Rates counts what is done how fast. It never fails: what cannot be counted in one place is counted in another.
	Rates interface {
		Take(ctx context.Context, scope Scope, who int64) Rate
	}
	// FreeCalls is the team's daily allowance of calls that cost nothing.
	FreeCalls interface {
		// Take takes one call out of the day's allowance, outside of any transaction; false where none is left.
		// An error means that it could not be told.
		Take(ctx context.Context, actor *access.Actor) (FreeCall, bool, error)
	}
	// FreeCall is one call that was taken.
	FreeCall interface {
		// Return gives it back: the call was refused, repeated an earlier one, or was paid for.
		Return()
	}
	// Credits is the team's money.
	Credits interface {
		// Unspent refuses a claim that paid for an earlier call: charge_key_spent.
		Unspent(ctx context.Context, tx *db.Tx, claim Claim) error
		// Reserve sets credits aside in the transaction of the call and returns the reservation's id. An amount that
		// crosses a daily limit or that the wallet lacks is refused.
		Reserve(ctx context.Context, tx *db.Tx, charge Charge) (int64, error)
		// Balance returns what the team has left, as the transaction of the call sees it.
		Balance(ctx context.Context, q db.Querier, team int64) (int64, error)
	}
)

// Claim is what a repeat is recognised by.
type Claim struct {
	APIKey    int64 // below 0 the person who acts in the app
	Key       string
	Operation string
	Arguments []byte // canonical
	Instants  []byte // Arguments with every time as an instant in UTC; nil if there is no time among them
	Paid      bool   // of a paid operation: the same key with another request is another call
}

// Hash is what sameness means: the operation and its arguments, those of the path among them.
func (c Claim) Hash() []byte { return c.hash(c.Arguments) }

// InstantHash returns the hash that two requests share if they differ only in how they write a time. It returns nil if
// there is no time among the arguments.
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

// Charge is what a paid call costs.
type Charge struct {
	Call   operation.Call
	Claim  Claim
	Amount int64 // credits, at least 1
}

// Scope is what a rate limit counts; it is what context.scope of a refusal says (spec, rate_limited).
type Scope string

// The scopes that the pipeline counts by rate.
const (
	PerCredential Scope = "credential" // every request of a key
	PerConnection Scope = "connection" // writes of a key or of an assistant's connection
	PerProvider   Scope = "provider"   // calls that reach social networks
)

// Rate is how a limit stands after a call was counted.
type Rate struct {
	Scope      Scope
	Quota      int           // how many calls may come at once after a rest
	Window     time.Duration // how long it takes until the whole quota is there again
	Remaining  int           // how many may come now
	Reset      time.Duration // until the whole quota is there again
	Limited    bool          // this call is one too many
	RetryAfter time.Duration // until the next one may come, where this one is too many
}
