package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// steps lists the checks in order. Each check calls the next one or returns an error.
var steps = []step{
	{"authentication", (*Pipeline).authenticate},
	{"request_rate", (*Pipeline).checkRequestRate},
	{"gates", (*Pipeline).checkGates},
	{"capability", (*Pipeline).checkCapability},
	{"arguments", (*Pipeline).readArguments},
	{"room", (*Pipeline).reserveCapacity},
	{"conditional_capability", (*Pipeline).checkConditionalCapability},
	{"idempotency", (*Pipeline).runIdempotently},
	{"action_limits", (*Pipeline).checkActionLimits},
	{"daily_calls", (*Pipeline).checkDailyCalls},
	{"credits", (*Pipeline).reserveCredits},
}

func (p *Pipeline) authenticate(ctx context.Context, cs *callState, next handler) error {
	cs.outcome.Call.Actor = cs.request.Person
	if cs.request.Person == nil {
		actor, err := p.Keys.Authenticate(ctx, cs.request.Credential)
		if err != nil {
			return err
		}
		cs.outcome.Call.Actor = actor
	}
	return next(ctx, cs)
}

func (p *Pipeline) checkCapability(ctx context.Context, cs *callState, next handler) error {
	if err := cs.outcome.Call.Require(cs.request.Operation.Needs); err != nil {
		return err
	}
	return next(ctx, cs)
}

func (p *Pipeline) readArguments(ctx context.Context, cs *callState, next handler) error {
	args, err := cs.request.Arguments()
	if err != nil {
		return err
	}
	if err := cs.checkKey(); err != nil {
		if _, ok := args[keyArgument]; ok && !cs.request.IdempotencyKey.Given {
			_, err = cs.request.Operation.Check(args) // Check reports the key as an unknown argument
		}
		return err
	}
	if cs.arguments, err = cs.request.Operation.Check(args); err != nil {
		return err
	}
	cs.outcome.Call.Filters = cs.arguments
	if cs.request.Operation.Input.Properties["cursor"] != nil {
		cs.outcome.Call.Filters = operation.Without(cs.arguments, "cursor", "limit", "wait_seconds")
	}
	return next(ctx, cs)
}

// reserveCapacity takes one of the node's slots for the call. It runs after the whole request was received, so that
// slow clients do not occupy slots, and before the call's first query. Calls from the app are exempt, because the app's
// pages have their own limit.
func (p *Pipeline) reserveCapacity(ctx context.Context, cs *callState, next handler) error {
	if cs.request.Operation.Urgent || cs.outcome.Call.InApp() {
		return next(ctx, cs)
	}
	if err := p.Slots.Acquire(ctx); errors.Is(err, loadshed.ErrFull) {
		return apierr.AtCapacity(loadshed.RetryAfter())
	} else if err != nil {
		return fmt.Errorf("waiting for capacity: %w", err)
	}
	release := p.Slots.Release
	if cs.request.Operation.MayWait {
		release = sync.OnceFunc(release)
		cs.outcome.Call.ReleaseCapacity = release
	}
	defer release()
	return next(ctx, cs)
}

// keyArgument is the name of an Idempotency-Key that was mistakenly sent as an argument.
const keyArgument = "idempotency_key"

func (p *Pipeline) checkConditionalCapability(ctx context.Context, cs *callState, next handler) error {
	op := cs.request.Operation
	if op.ConditionalCapability == nil || cs.outcome.Call.Can(op.ConditionalCapability.Capability) {
		return next(ctx, cs)
	}
	holds, err := op.NeedsConditionalCapability(ctx, cs.outcome.Call, cs.arguments)
	if err != nil {
		return err
	}
	if holds {
		return cs.outcome.Call.Require(op.ConditionalCapability.Capability)
	}
	return next(ctx, cs)
}

// runIdempotently runs the remaining steps once per key. Before the key's transaction, it runs the operation's BeforeTx
// and takes a free call. It returns the free call if the call is rejected, repeated or paid.
func (p *Pipeline) runIdempotently(ctx context.Context, cs *callState, next handler) error {
	cs.outcome.Call.BeforeTxErr = cs.request.Operation.RunBeforeTx(ctx, cs.outcome.Call, cs.arguments)
	if cs.usesFreeCall() {
		freeCall, ok, err := p.FreeCalls.Take(ctx, cs.outcome.Call.Actor)
		if err != nil {
			return fmt.Errorf("counting a free call: %w", err)
		}
		if ok {
			cs.freeCall = freeCall
		}
	}
	isUsed := false
	defer func() { // deferred so that it also runs after a panic
		if cs.freeCall != nil && !isUsed {
			cs.freeCall.Return()
		}
	}()
	err := p.once(ctx, cs, next)
	isUsed = err == nil && !cs.outcome.Replayed && cs.cost == 0
	return err
}

func (p *Pipeline) once(ctx context.Context, cs *callState, next handler) error {
	if !cs.request.IdempotencyKey.Given {
		return next(ctx, cs)
	}
	claim := cs.newClaim()
	result, replayed, err := p.Idempotency.Once(ctx, claim, func(ctx context.Context, tx *db.Tx) (operation.Result, error) {
		if claim.Paid {
			if err := p.Credits.CheckUnspent(ctx, tx, claim); err != nil {
				return operation.Result{}, err
			}
		}
		cs.outcome.Call.Tx = tx
		defer func() { cs.outcome.Call.Tx = nil }() // the call continues after its transaction
		err := next(ctx, cs)
		return cs.outcome.Result, err
	})
	if err == nil && replayed {
		result, err = cs.request.Operation.Repeat(ctx, cs.outcome.Call, cs.arguments, result)
	}
	if replayed && result.Billing != nil {
		result.Billing.Replayed = true
		if !cs.outcome.Call.Role.CanSeeBalance() {
			result.Billing.Balance = nil // the stored result may come from a person who could see the balance
		}
	}
	cs.outcome.Result, cs.outcome.Replayed = result, replayed
	return err
}

func (cs *callState) newClaim() Claim {
	op := cs.request.Operation
	return Claim{
		APIKey: cs.outcome.Call.CallerID(), Key: unquoteKey(cs.request.IdempotencyKey.Text),
		Operation: op.Tool, Arguments: cs.arguments,
		Instants: op.Instants(cs.arguments, cs.outcome.Call.Zone), Paid: op.IsPaid(),
	}
}

// usesFreeCall reports whether the call uses a free call if it does not cost credits.
func (cs *callState) usesFreeCall() bool {
	return !cs.request.Operation.Unmetered && !cs.outcome.Call.InApp()
}

// checkKey checks the Idempotency-Key against the operation's rule (spec, Authentication 8).
func (cs *callState) checkKey() error {
	rule, key := cs.request.Operation.Key, cs.request.IdempotencyKey
	reject := func(reason, detail string) error { return apierr.Invalid(reason, "", detail) }
	switch text := unquoteKey(key.Text); {
	case rule == operation.KeyRejected && key.Given:
		return reject(apierr.IdempotencyKeyNotAccepted, "Reads do not accept an Idempotency-Key. Remove it.")
	case key.Duplicate:
		return reject(apierr.IdempotencyKeyGivenTwice, "The Idempotency-Key was sent more than once. Send it once.")
	case rule == operation.KeyRequired && !key.Given:
		return reject(apierr.IdempotencyKeyRequired,
			"This operation is paid. Send an Idempotency-Key so that a retry is not charged twice.")
	case !key.Given:
		return nil
	case text == "":
		return reject(apierr.IdempotencyKeyEmpty, "The Idempotency-Key is empty.")
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return reject(apierr.Malformed, "The Idempotency-Key contains control characters or invalid UTF-8.")
	case apikey.ContainsSecret(text):
		return reject(apierr.SecretInArgument,
			"The Idempotency-Key contains an API key or an upload secret. Nothing was done. Use another key.")
	case utf8.RuneCountInString(text) > rule.MaxKey():
		return reject(apierr.IdempotencyKeyTooLong,
			"The Idempotency-Key is too long. The maximum is "+strconv.Itoa(rule.MaxKey())+" characters.")
	}
	return nil
}

// unquoteKey removes the quotes from a key that is a quoted string (RFC 8941). The quoted and the unquoted form are the
// same key.
func unquoteKey(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var out strings.Builder
	for inner := text[1 : len(text)-1]; inner != ""; {
		if inner[0] == '\\' && len(inner) > 1 && (inner[1] == '"' || inner[1] == '\\') {
			inner = inner[1:]
		} else if inner[0] == '"' {
			return text // not a quoted string, although it begins and ends with a quote
		}
		out.WriteByte(inner[0])
		inner = inner[1:]
	}
	return out.String()
}
