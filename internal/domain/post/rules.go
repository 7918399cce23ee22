package post

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/job"
)

// MaxCaption is how long a caption may be, in characters; a longer one is refused, never shortened.
const MaxCaption = 10_000

const excerptLength = 140 // characters of a caption that lists show

// excerpt is the start of a caption on one line.
func excerpt(caption string) string {
	return Truncate(strings.Join(strings.Fields(caption), " "), excerptLength)
}

// Truncate returns a text of at most so many characters: the text itself or its start with an ellipsis. What readers
// see as one character, a grapheme cluster (UAX 29), is never cut.
func Truncate(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	end, left, state := 0, most-1, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[end:], state)
		if left -= utf8.RuneCountInString(cluster); left < 0 {
			return strings.TrimRight(text[:end], " ") + "…"
		}
		end, state = end+len(cluster), next
	}
}

// checkEditable refuses what PATCH may not change (spec, Post transitions, rule 1).
func (p Post) checkEditable() error {
	switch {
	case p.IsTemplate:
		return apierr.BadState("recurring_template", "The template of a recurring series is changed in the app.")
	case p.Status == Draft || p.Status == Scheduled:
		return nil
	}
	return apierr.BadState(string(p.Status), "A post that was handed over for publishing cannot be changed.")
}

// checkApproved refuses what the client has not approved (rule 4).
func (p Post) checkApproved() error {
	if p.awaitsApproval() {
		return apierr.New(apierr.AwaitingApproval, "The post waits for the client's approval and cannot be scheduled, published or retried before it.")
	}
	return nil
}

// statusOf is what the accounts' states make of a post; an unconfirmed account counts as failed.
func statusOf(targets []Target) Status {
	var sent, failed int
	for _, t := range targets {
		switch t.State {
		case TargetPublished:
			sent++
		case TargetFailed, TargetUnconfirmed:
			failed++
		default:
			return Processing
		}
	}
	switch {
	case failed == 0:
		return Published
	case sent == 0:
		return Failed
	}
	return PartiallyPublished
}

// JobState is what the accounts of a job make of it.
func JobState(states []TargetState) job.State {
	var sent int
	for _, state := range states {
		if state == TargetPublished {
			sent++
		}
	}
	switch sent {
	case len(states):
		return job.Succeeded
	case 0:
		return job.Failed
	}
	return job.PartiallySucceeded
}

// Skip says why retry leaves an account alone.
type Skip struct {
	AccountID int64  `json:"account_id"`
	Reason    string `json:"reason" enum:"not_failed|no_retries_left|retried_moments_ago|unconfirmed|account_gone"`
}

// retriesLeft returns how often a target can be sent again: never once it is published.
func (l Limits) retriesLeft(t Target) int {
	if t.State == TargetPublished {
		return 0
	}
	return max(0, l.Retries-t.RetriesUsed)
}

// canRetry tells whether a target may be sent again now, and why not.
func (l Limits) canRetry(t Target, now time.Time) (string, bool) {
	switch {
	case t.State == TargetUnconfirmed:
		return "unconfirmed", false
	case t.State != TargetFailed:
		return "not_failed", false
	case !t.Active:
		return "account_gone", false // it would only use up a retry: a person has to connect the account first
	case t.RetriesUsed >= l.Retries:
		return "no_retries_left", false
	case !t.RetriedAt.IsZero() && now.Sub(t.RetriedAt) < l.RetryBetween:
		return "retried_moments_ago", false
	}
	return "", true
}
