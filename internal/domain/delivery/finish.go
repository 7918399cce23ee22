package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/post/warning"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const maxFinishTries = 8 // number of attempts after which a failed step becomes a warning

// isPublished reports whether a delivery in this phase is published and makes further calls.
func (p phase) isPublished() bool { return p == phaseLinking || p == phaseFinishing }

// finishStepNames returns the steps that the post needs after its publication.
func (a *attempt) finishStepNames() []string {
	finisher, ok := a.net.(network.Finisher)
	if !ok {
		return nil
	}
	return finisher.FinishSteps(a.d.Draft)
}

// finisher returns the network of an account if its published posts may need further calls. Otherwise it returns nil.
func (s *Service) finisher(ctx context.Context, q db.Querier, account int64) (network.Finisher, error) {
	var platform string
	if err := q.QueryRow(ctx, `SELECT platform FROM social_accounts WHERE id = ?`, account).Scan(&platform); err != nil {
		return nil, fmt.Errorf("reading the network of account %d: %w", account, err)
	}
	n, err := s.accounts.Network(platform)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // The network is not configured, so it is not called.
	}
	finisher, _ := n.(network.Finisher)
	return finisher, nil
}

// finishSteps makes the remaining calls for a published post. A step that fails permanently becomes a warning.
func (a *attempt) finishSteps(ctx context.Context) error {
	finisher, ok := a.net.(network.Finisher)
	if !ok {
		return a.recordFinished(ctx, nil)
	}
	if len(a.d.Draft) == 0 { // The post was found on the network, but not sent by this delivery.
		if err := a.plan(ctx); err != nil {
			return err
		}
	}
	results, err := listStepResults(ctx, a.s.db, a.d.ID)
	if err != nil {
		return err
	}
	steps := finisher.FinishSteps(a.d.Draft)
	var wait time.Duration
	for _, step := range steps {
		if result, found := results[step]; found && !result.isTemporary() {
			continue
		}
		result, stepWait := a.tryStep(ctx, finisher, step)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		results[step] = result
		wait = max(wait, stepWait)
	}
	a.d.Lookups++
	if a.d.Lookups < maxFinishTries && slices.ContainsFunc(steps, func(step string) bool {
		return results[step].isTemporary()
	}) {
		return a.postpone(ctx, max(wait, backoff(a.d.Lookups+2)))
	}
	return a.recordFinished(ctx, failedSteps(steps, results))
}

// tryStep runs one step, if the post is known and the account is connected. It also returns how long to wait before the
// step is repeated.
func (a *attempt) tryStep(ctx context.Context, finisher network.Finisher, step string) (stepResult, time.Duration) {
	switch {
	case a.d.NetworkID == "":
		return stepResult{string(network.Rejected), network.CodePostUnknown}, 0
	case a.grant.Lost:
		return stepResult{string(network.ReconnectRequired), network.CodeAccountLost}, 0
	}
	err := a.finishStep(ctx, finisher, step)
	result, code, _ := describeCallResult(err)
	if e, ok := errors.AsType[*network.Error](err); ok && e.Class == network.RateLimited {
		return stepResult{result, code}, min(e.RetryAt.Sub(a.s.db.Now()), maxRateLimitWait)
	}
	return stepResult{result, code}, 0
}

// failedSteps returns the steps that did not succeed.
func failedSteps(steps []string, results map[string]stepResult) []warning.FailedStep {
	var out []warning.FailedStep
	for _, step := range steps {
		if result := results[step]; !result.isDone() {
			out = append(out, warning.FailedStep{Step: step, Code: result.code})
		}
	}
	return out
}

// finishStep makes the network call of one step. It repeats the call with a new access token if the network rejects the
// old one.
func (a *attempt) finishStep(ctx context.Context, finisher network.Finisher, step string) error {
	for {
		attemptID, err := a.beginCall(ctx, step)
		if err != nil {
			return err
		}
		callCtx, span := a.startCall(ctx, "network."+step)
		err = finisher.Finish(callCtx, a.grant.Grant, a.d.Draft, a.d.NetworkID, step, a.s.library.Files(a.d.TeamID))
		endCall(span, err)
		a.reportCall(ctx, step, err)
		a.recordCallResult(ctx, attemptID, err)
		if errorClass(err) != network.RefreshRequired || err == nil || a.refreshed {
			return err
		}
		a.refreshed = true
		fresh, err := a.s.accounts.Refresh(ctx, a.d.AccountID, a.grant)
		if err != nil || fresh.Lost {
			return &network.Error{Class: network.ReconnectRequired, Code: network.CodeAccountLost, Err: err}
		}
		a.grant = fresh
	}
}

// stepResult is the last result of a step.
type stepResult struct{ result, code string }

func (s stepResult) isDone() bool { return s.result == "answered" }

// isTemporary reports whether the step may succeed if it is repeated soon. A step without a result was interrupted.
func (s stepResult) isTemporary() bool {
	switch network.ErrorClass(s.result) { //nolint:exhaustive // All other classes are permanent.
	case "", network.Transient, network.RateLimited, network.Processing, network.OutcomeUnknown, network.HostBlocked:
		return true
	}
	return false
}

// listStepResults returns the last result of each call of a delivery, by call.
func listStepResults(ctx context.Context, q db.Querier, id string) (map[string]stepResult, error) {
	out := map[string]stepResult{}
	_, err := db.All(ctx, q, func(rows *sql.Rows, call *string) error {
		var s stepResult
		err := rows.Scan(call, &s.result, &s.code)
		out[*call] = s
		return err
	}, `SELECT call, result, network_code FROM delivery_attempts WHERE delivery_id = ? ORDER BY id`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the calls of delivery %s: %w", id, err)
	}
	return out, nil
}

// recordFinished ends the delivery and stores the failed steps as warnings. The post stays published.
func (a *attempt) recordFinished(ctx context.Context, steps []warning.FailedStep) error {
	a.done = true
	err := a.s.db.InTx(ctx, "delivery.finished", func(ctx context.Context, tx *db.Tx) error {
		if err := updateLeasedTx(ctx, tx, a.d, `UPDATE deliveries SET phase = 'ended', owner = '', lease_until = 0,
			wake_at = 0`); err != nil {
			return err
		}
		return warning.Set(ctx, tx, a.d.PostID, a.d.AccountID, steps)
	})
	if err != nil {
		return fmt.Errorf("storing the warnings of %s: %w", a.d.ID, err)
	}
	return nil
}
