package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
)

// steps is the order of checks. Each passes the call on or ends it.
var steps = []step{
	{"authentication", (*Pipeline).authenticate},
	{"request_rate", (*Pipeline).requestRate},
	{"gates", (*Pipeline).gates},
	{"capability", (*Pipeline).capability},
	{"arguments", (*Pipeline).readArguments},
	{"room", (*Pipeline).takePlace},
	{"conditional_capability", (*Pipeline).conditionalCapability},
	{"idempotency", (*Pipeline).idempotency},
	{"action_limits", (*Pipeline).actionLimits},
	{"daily_calls", (*Pipeline).dailyCalls},
	{"credits", (*Pipeline).credits},
}

func (p *Pipeline) authenticate(ctx context.Context, f *flight, next handler) error {
	f.outcome.Call.Actor = f.request.Person
	if f.request.Person == nil {
		actor, err := p.Keys.Authenticate(ctx, f.request.Credential)
		if err != nil {
			return err
		}
		f.outcome.Call.Actor = actor
	}
	return next(ctx, f)
}

func (p *Pipeline) capability(ctx context.Context, f *flight, next handler) error {
	if err := f.outcome.Call.Require(f.request.Operation.Needs); err != nil {
		return err
	}
	return next(ctx, f)
}

func (p *Pipeline) readArguments(ctx context.Context, f *flight, next handler) error {
	args, err := f.request.Arguments()
	if err != nil {
		return err
	}
	if err := f.checkKey(); err != nil {
		if _, named := args[keyMember]; named && !f.request.Key.Given {
			_, err = f.request.Operation.Check(args) // it stands where no argument of this name is
		}
		return err
	}
	if f.arguments, err = f.request.Operation.Check(args); err != nil {
		return err
	}
	f.outcome.Call.Filters = f.arguments
	if f.request.Operation.Input.Properties["cursor"] != nil {
		f.outcome.Call.Filters = operation.Without(f.arguments, "cursor", "limit", "wait_seconds")
	}
	return next(ctx, f)
}

// takePlace takes the call's place on the node until it is answered. It comes once the whole request is there, as a
// slow sender must hold no place, and before the database is asked for the call alone. What a page does has the page's
// own place.
func (p *Pipeline) takePlace(ctx context.Context, f *flight, next handler) error {
	if f.request.Operation.Urgent || f.outcome.Call.InApp() {
		return next(ctx, f)
	}
	if err := p.Room.Enter(ctx); errors.Is(err, loadshed.ErrFull) {
		return apierr.Full(loadshed.ComeAgain())
	} else if err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	leave := p.Room.Leave
	if f.request.Operation.Waits {
		leave = sync.OnceFunc(leave)
		f.outcome.Call.Resting = leave
	}
	defer leave()
	return next(ctx, f)
}

// keyMember is what an Idempotency-Key is called that is sent as an argument in vain.
const keyMember = "idempotency_key"

func (p *Pipeline) conditionalCapability(ctx context.Context, f *flight, next handler) error {
	op := f.request.Operation
	if op.Also == nil || f.outcome.Call.Can(op.Also.Capability) {
		return next(ctx, f)
	}
	holds, err := op.AlsoHolds(ctx, f.outcome.Call, f.arguments)
	if err != nil {
		return err
	}
	if holds {
		return f.outcome.Call.Require(op.Also.Capability)
	}
	return next(ctx, f)
}

// idempotency does the rest once for a key. What lies outside is looked at, and a free call is taken, before the
// transaction that this may open, and given back where the call turns out to be none: a repeat, a refusal, or one that
// is paid for.
func (p *Pipeline) idempotency(ctx context.Context, f *flight, next handler) error {
	f.outcome.Call.Ahead = f.request.Operation.LookAhead(ctx, f.outcome.Call, f.arguments)
	if f.counted() {
		free, left, err := p.FreeCalls.Take(ctx, f.outcome.Call.Actor)
		if err != nil {
			return fmt.Errorf("counting a free call: %w", err)
		}
		if left {
			f.free = free
		}
	}
	counts := false
	defer func() { // after a panic too
		if f.free != nil && !counts {
			f.free.Return()
		}
	}()
	err := p.once(ctx, f, next)
	counts = err == nil && !f.outcome.Replayed && f.cost == 0
	return err
}

func (p *Pipeline) once(ctx context.Context, f *flight, next handler) error {
	if !f.request.Key.Given {
		return next(ctx, f)
	}
	claim := f.claim()
	result, replayed, err := p.Replay.Once(ctx, claim, func(ctx context.Context, tx *db.Tx) (operation.Result, error) {
		if claim.Paid {
			if err := p.Credits.Unspent(ctx, tx, claim); err != nil {
				return operation.Result{}, err
			}
		}
		f.outcome.Call.Tx = tx
		defer func() { f.outcome.Call.Tx = nil }() // the call outlives its transaction
		err := next(ctx, f)
		return f.outcome.Result, err
	})
	if err == nil && replayed {
		result, err = f.request.Operation.Repeat(ctx, f.outcome.Call, f.arguments, result)
	}
	if replayed && result.Billing != nil {
		result.Billing.Replayed = true
		if !f.outcome.Call.Role.SeesBalance() {
			result.Billing.Balance = nil // the person who paid may have seen it
		}
	}
	f.outcome.Result, f.outcome.Replayed = result, replayed
	return err
}

func (f *flight) claim() Claim {
	op := f.request.Operation
	return Claim{
		APIKey: f.outcome.Call.Caller(), Key: keyText(f.request.Key.Text), Operation: op.Tool, Arguments: f.arguments,
		Instants: op.Instants(f.arguments, f.outcome.Call.Zone), Paid: op.Paid(),
	}
}

// counted tells whether the call is one of the day's allowance, unless it costs something.
func (f *flight) counted() bool { return !f.request.Operation.Uncounted && !f.outcome.Call.InApp() }

// checkKey holds the Idempotency-Key against the operation's rule (spec, Authentication 8).
func (f *flight) checkKey() error {
	rule, key := f.request.Operation.Key, f.request.Key
	refuse := func(reason, detail string) error { return apierr.Invalid(reason, "", detail) }
	switch text := keyText(key.Text); {
	case rule == operation.KeyRefused && key.Given:
		return refuse(apierr.KeyNotAccepted, "A read takes no Idempotency-Key.")
	case key.Twice:
		return refuse(apierr.KeyGivenTwice, "The Idempotency-Key is there more than once. Send it in one place.")
	case rule == operation.KeyRequired && !key.Given:
		return refuse(apierr.KeyRequired,
			"A paid operation needs an Idempotency-Key, so that a repeat is not charged twice.")
	case !key.Given:
		return nil
	case text == "":
		return refuse(apierr.KeyEmpty, "The Idempotency-Key is empty.")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse(apierr.Malformed, "The Idempotency-Key holds characters that are not text.")
	case apikey.In(text):
		return refuse(apierr.SecretInArgument,
			"The Idempotency-Key holds an API key or an upload secret. Nothing was done; take a key that is none.")
	case utf8.RuneCountInString(text) > rule.MaxKey():
		return refuse(apierr.KeyTooLong, "The Idempotency-Key is longer than this operation takes.")
	}
	return nil
}

// keyText takes the quotes off the form of RFC 8941; both forms are the same key.
func keyText(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var out strings.Builder
	for inner := text[1 : len(text)-1]; inner != ""; {
		if inner[0] == '\\' && len(inner) > 1 && (inner[1] == '"' || inner[1] == '\\') {
			inner = inner[1:]
		} else if inner[0] == '"' {
			return text // a bare key that happens to begin and end with a quote
		}
		out.WriteByte(inner[0])
		inner = inner[1:]
	}
	return out.String()
}
