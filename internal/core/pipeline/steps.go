package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
)

// steps are the checks in order. Each calls the next or returns an error.
var steps = []step{
	{"authentication", (*Pipeline).authenticate},
	{"request_rate", (*Pipeline).requestRate},
	{"gates", (*Pipeline).gates},
	{"capability", (*Pipeline).capability},
	{"arguments", (*Pipeline).readArguments},
	{"room", (*Pipeline).reserveCapacity},
	{"conditional_capability", (*Pipeline).conditionalCapability},
	{"idempotency", (*Pipeline).idempotency},
	{"action_limits", (*Pipeline).actionLimits},
	{"daily_calls", (*Pipeline).dailyCalls},
	{"credits", (*Pipeline).credits},
}

func (p *Pipeline) authenticate(ctx context.Context, f *callState, next handler) error {
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

func (p *Pipeline) capability(ctx context.Context, f *callState, next handler) error {
	if err := f.outcome.Call.Require(f.request.Operation.Needs); err != nil {
		return err
	}
	return next(ctx, f)
}

func (p *Pipeline) readArguments(ctx context.Context, f *callState, next handler) error {
	args, err := f.request.Arguments()
	if err != nil {
		return err
	}
	if err := f.checkKey(); err != nil {
		if _, named := args[keyArgument]; named && !f.request.Key.Given {
			_, err = f.request.Operation.Check(args) // reports the key as an unknown argument
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

// reserveCapacity reserves capacity of the node until the call is answered. It runs after the whole request was
// received, so that slow clients take no capacity, and before the first query for this call. The app's pages have their
// own capacity.
func (p *Pipeline) reserveCapacity(ctx context.Context, f *callState, next handler) error {
	if f.request.Operation.Urgent || f.outcome.Call.InApp() {
		return next(ctx, f)
	}
	if err := p.Room.Acquire(ctx); errors.Is(err, loadshed.ErrFull) {
		return apierr.AtCapacity(loadshed.RetryAfter())
	} else if err != nil {
		return fmt.Errorf("waiting for capacity: %w", err)
	}
	leave := p.Room.Release
	if f.request.Operation.Waits {
		leave = sync.OnceFunc(leave)
		f.outcome.Call.ReleaseCapacity = leave
	}
	defer leave()
	return next(ctx, f)
}

// keyArgument is the name of an Idempotency-Key that was sent as an argument by mistake.
const keyArgument = "idempotency_key"

func (p *Pipeline) conditionalCapability(ctx context.Context, f *callState, next handler) error {
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

// idempotency runs the remaining steps once per key. Before the transaction of the key, it runs the operation's
// external checks and takes a free call, which it returns if the call is rejected, repeated or paid.
func (p *Pipeline) idempotency(ctx context.Context, f *callState, next handler) error {
	f.outcome.Call.PrecheckErr = f.request.Operation.RunPrecheck(ctx, f.outcome.Call, f.arguments)
	if f.usesFreeCall() {
		free, left, err := p.FreeCalls.Take(ctx, f.outcome.Call.Actor)
		if err != nil {
			return fmt.Errorf("taking a free call: %w", err)
		}
		if left {
			f.free = free
		}
	}
	used := false
	defer func() { // also after a panic
		if f.free != nil && !used {
			f.free.Return()
		}
	}()
	err := p.once(ctx, f, next)
	used = err == nil && !f.outcome.Replayed && f.cost == 0
	return err
}

func (p *Pipeline) once(ctx context.Context, f *callState, next handler) error {
	if !f.request.Key.Given {
		return next(ctx, f)
	}
	claim := f.claim()
	result, replayed, err := p.Idempotency.Once(ctx, claim, func(ctx context.Context, tx *db.Tx) (operation.Result, error) {
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
		if !f.outcome.Call.Role.CanSeeBalance() {
			result.Billing.Balance = nil // the stored result may be of a person who could see it
		}
	}
	f.outcome.Result, f.outcome.Replayed = result, replayed
	return err
}

func (f *callState) claim() Claim {
	op := f.request.Operation
	return Claim{
		APIKey: f.outcome.Call.CallerID(), Key: keyText(f.request.Key.Text), Operation: op.Tool, Arguments: f.arguments,
		Instants: op.Instants(f.arguments, f.outcome.Call.Zone), Paid: op.IsPaid(),
	}
}

// usesFreeCall reports whether the call needs a free call unless it costs credits.
func (f *callState) usesFreeCall() bool {
	return !f.request.Operation.Unmetered && !f.outcome.Call.InApp()
}

// checkKey checks the Idempotency-Key by the operation's rule (spec, Authentication 8).
func (f *callState) checkKey() error {
	rule, key := f.request.Operation.Key, f.request.Key
	refuse := func(reason, detail string) error { return apierr.Invalid(reason, "", detail) }
	switch text := keyText(key.Text); {
	case rule == operation.KeyRefused && key.Given:
		return refuse(apierr.KeyNotAccepted, "Reads do not accept an Idempotency-Key. Remove it.")
	case key.Twice:
		return refuse(apierr.KeyGivenTwice, "The Idempotency-Key was sent more than once. Send it once.")
	case rule == operation.KeyRequired && !key.Given:
		return refuse(apierr.KeyRequired,
			"This operation is paid. Send an Idempotency-Key so that a retry is not charged twice.")
	case !key.Given:
		return nil
	case text == "":
		return refuse(apierr.KeyEmpty, "The Idempotency-Key is empty.")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse(apierr.Malformed, "The Idempotency-Key contains control characters or invalid UTF-8.")
	case apikey.In(text):
		return refuse(apierr.SecretInArgument,
			"The Idempotency-Key contains an API key or an upload secret. Nothing was done. Use another key.")
	case utf8.RuneCountInString(text) > rule.MaxKey():
		return refuse(apierr.KeyTooLong,
			"The Idempotency-Key is too long. The maximum is "+strconv.Itoa(rule.MaxKey())+" characters.")
	}
	return nil
}

// keyText returns the key without the quotes of a string of RFC 8941. Both forms are the same key.
func keyText(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var out strings.Builder
	for inner := text[1 : len(text)-1]; inner != ""; {
		if inner[0] == '\\' && len(inner) > 1 && (inner[1] == '"' || inner[1] == '\\') {
			inner = inner[1:]
		} else if inner[0] == '"' {
			return text // an unquoted key that begins and ends with a quote
		}
		out.WriteByte(inner[0])
		inner = inner[1:]
	}
	return out.String()
}
