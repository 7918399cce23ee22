package credit

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
)

// movement describes how a transfer changes a team's four accounts, in credits. The changes add up to 0.
type movement struct{ granted, available, reserved, spent int64 }

// entry is one account's part of a transfer.
type entry struct {
	account string
	amount  int64
}

// entries returns an entry for each account that changes.
func (m movement) entries() []entry {
	var out []entry
	for _, e := range []entry{
		{"granted", m.granted}, {"available", m.available}, {"reserved", m.reserved}, {"spent", m.spent},
	} {
		if e.amount != 0 {
			out = append(out, e)
		}
	}
	return out
}

func grantMovement(credits int64) movement    { return movement{granted: -credits, available: credits} }
func withdrawMovement(credits int64) movement { return grantMovement(-credits) }
func reserveMovement(credits int64) movement  { return movement{available: -credits, reserved: credits} }
func settleMovement(reserved, charged int64) movement {
	return movement{available: reserved - charged, reserved: -reserved, spent: charged}
}

// Limits on the operator's adjustments.
const (
	maxCredits   = 1_000_000_000_000     // per adjustment
	maxGranted   = 9_000_000_000_000_000 // in total; small enough for every JSON parser to represent exactly
	maxReference = 200                   // characters
	maxNote      = 500                   // characters
)

// operatorErrorf returns an error about an operator's request. Its text says what to change.
func operatorErrorf(format string, args ...any) error {
	return apierr.OperatorErrorf(format, args...)
}

// validate checks the adjustment's own values. checkAccounts compares them with the team's accounts.
func (adj adjustment) validate() error {
	switch {
	case adj.credits < 1 || adj.credits > maxCredits:
		return operatorErrorf("the credits must be a whole number from 1 to %d", int64(maxCredits))
	case adj.reference == "":
		return operatorErrorf("a reference is required; transactions with the same reference are recorded only once")
	case !fits(adj.reference, maxReference):
		return operatorErrorf("the reference must be one line of at most %d characters", maxReference)
	case !fits(adj.note, maxNote):
		return operatorErrorf("the note must be one line of at most %d characters", maxNote)
	}
	return nil
}

// fits reports whether the text is valid UTF-8 and one line of at most length characters.
func fits(text string, length int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= length &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// checkAccounts returns an error if the team's accounts do not allow the adjustment.
func (adj adjustment) checkAccounts(wallet balances) error {
	switch {
	case adj.kind == KindWithdraw && adj.credits > wallet.available:
		return operatorErrorf("team %s has %d credits available; %d cannot be withdrawn", fmt.Sprint(adj.team),
			wallet.available, adj.credits)
	case adj.kind == KindGrant && adj.credits > maxGranted+wallet.granted:
		return operatorErrorf("team %s has already been granted %d credits; the limit is %d in total", fmt.Sprint(adj.team),
			-wallet.granted, int64(maxGranted))
	}
	return nil
}

// checkLimits returns daily_credit_limit_reached if the amount would exceed the key's daily limit, or the common daily
// limit of the team's keys and assistants.
func (u Usage) checkLimits(limits access.Daily, amount int64, now time.Time) error {
	switch {
	case exceeds(limits.KeyCredits, u.countedForKey, amount):
		return dailyLimitError("connection", "This call would exceed the daily credit limit of this key or connection.",
			u.Ends.Sub(now))
	case exceeds(limits.TeamCredits, u.countedForKeys, amount):
		return dailyLimitError("team", "This call would exceed the team's daily credit limit for keys and assistants.",
			u.Ends.Sub(now))
	}
	return nil
}

// exceeds reports whether an amount would exceed the limit. A limit of -1 means no limit.
func exceeds(limit, counted, amount int64) bool { return limit >= 0 && amount > limit-counted }

func dailyLimitError(scope, detail string, wait time.Duration) error {
	return apierr.New(apierr.DailyCreditLimit,
		detail+" Nothing was done or charged. The limit resets at midnight in the team's time zone.").
		With("scope", scope).WithRetryAfter(wait)
}

// checkBalance returns insufficient_credits if the amount exceeds the available credits. The text contains no amounts,
// because not every role may see the balance.
func checkBalance(available, amount int64) error {
	if amount > available {
		return apierr.New(apierr.InsufficientCredits,
			"The team has fewer credits than this call may cost. Nothing was done or charged.")
	}
	return nil
}
