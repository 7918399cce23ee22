package credit

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
)

// movement is what a transfer changes in a team's four accounts, in credits. The changes add up to 0.
type movement struct{ granted, available, reserved, spent int64 }

// entry is one account's part of a transfer.
type entry struct {
	account string
	amount  int64
}

// entries are the accounts that change.
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

func granting(credits int64) movement    { return movement{granted: -credits, available: credits} }
func withdrawing(credits int64) movement { return granting(-credits) }
func reserving(credits int64) movement   { return movement{available: -credits, reserved: credits} }
func settling(reserved, charged int64) movement {
	return movement{available: reserved - charged, reserved: -reserved, spent: charged}
}

// The bounds of what the operator books.
const (
	maxCredits   = 1_000_000_000_000     // at once
	maxGranted   = 9_000_000_000_000_000 // in all: a figure that JSON carries exactly in every language
	maxReference = 200                   // characters
	maxNote      = 500                   // characters
)

// invalid refuses what the operator asked for; the text says what to mend.
func invalid(format string, args ...any) error {
	return apierr.OperatorError(fmt.Sprintf(format, args...))
}

// check refuses a booking that cannot be kept, whatever the team has.
func (b booking) check() error {
	switch {
	case b.credits < 1 || b.credits > maxCredits:
		return invalid("the credits have to be a whole number from 1 to %d", int64(maxCredits))
	case b.reference == "":
		return invalid("a reference is needed: a repeat with the same one is not booked twice")
	case !fits(b.reference, maxReference):
		return invalid("the reference has to be one line of at most %d characters", maxReference)
	case !fits(b.note, maxNote):
		return invalid("the note has to be one line of at most %d characters", maxNote)
	}
	return nil
}

func fits(text string, length int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= length && !strings.ContainsFunc(text,
		unicode.IsControl)
}

// against refuses a booking that the team's accounts do not allow.
func (b booking) against(a accounts) error {
	switch {
	case b.kind == Withdrawn && b.credits > a.available:
		return invalid("team %d has %d credits available; %d cannot be withdrawn", b.team, a.available, b.credits)
	case b.kind == Granted && b.credits > maxGranted+a.granted:
		return invalid("team %d was granted %d credits so far; more than %d in all cannot be kept", b.team, -a.granted,
			int64(maxGranted))
	}
	return nil
}

// within refuses an amount that crosses a limit of the team's day: first the key's own, then that of the team's
// keys and assistants together.
func (u Usage) within(limits access.Daily, amount int64, now time.Time) error {
	switch {
	case crosses(limits.KeyCredits, u.countedKey, amount):
		return overDay("connection", "This call would exceed the daily credit limit of this key or connection.",
			u.Ends.Sub(now))
	case crosses(limits.TeamCredits, u.countedKeys, amount):
		return overDay("team", "This call would exceed the team's daily credit limit for keys and assistants.",
			u.Ends.Sub(now))
	}
	return nil
}

// crosses tells whether an amount is too much for a limit, of which -1 is none.
func crosses(limit, counted, amount int64) bool { return limit >= 0 && amount > limit-counted }

func overDay(scope, detail string, wait time.Duration) error {
	return apierr.New(apierr.DailyCreditLimit,
		detail+" Nothing was done or charged. The limit resets at midnight in the team's time zone.").
		With("scope", scope).After(wait)
}

// enough refuses an amount that the team does not have. The text names no figures: not every role may see the balance.
func enough(available, amount int64) error {
	if amount > available {
		return apierr.New(apierr.InsufficientCredits,
			"The team has fewer credits than this call may cost. Nothing was done or charged.")
	}
	return nil
}
