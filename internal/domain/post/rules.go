package post

import (
	"cmp"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/job"
)

// checkEditable returns an error if the API cannot change the post.
func (p Record) checkEditable() error {
	switch {
	case p.IsTemplate:
		return apierr.BadState("recurring_template", "A template can only be changed in the app.")
	case p.Status == Draft || p.Status == Scheduled:
		return nil
	}
	return apierr.BadState(string(p.Status), "A submitted post cannot be changed.")
}

// checkApproved returns an error if the post still needs the client's approval.
func (p Record) checkApproved() error {
	if p.needsApproval() {
		return apierr.New(apierr.AwaitingApproval,
			"The post cannot be scheduled, published or retried before the client approves it.")
	}
	return nil
}

// aggregateStatus derives the status of a post from the states of its targets. An unconfirmed target counts as failed.
// A target with an incomplete thread counts as published and as failed.
func aggregateStatus(targets []Target) Status {
	var sent, failed int
	for _, t := range targets {
		switch t.State {
		case TargetPublished:
			sent++
		case TargetFailed, TargetUnconfirmed:
			failed++
			if t.IsIncomplete() {
				sent++
			}
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

// JobState derives the state of a finished job from the states of its targets.
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

// PublicationRetrySkipped is an account that a retry skips, with the reason.
type PublicationRetrySkipped struct {
	AccountID int64  `json:"account_id"`
	Reason    string `json:"reason" enum:"not_failed|no_retries_left|retried_moments_ago|unconfirmed|account_gone|replaced" title:"SkippedReason"`
}

// retriesLeft returns how many more times a target can be retried. It returns 0 for a published target.
func (l Limits) retriesLeft(t Target) int {
	if t.State == TargetPublished {
		return 0
	}
	return max(0, l.MaxRetries-t.RetriesUsed)
}

// canRetryComment is like canRetry, but for the first comment of a published target.
func (l Limits) canRetryComment(t Target, now time.Time) (string, bool) {
	switch reason := t.Comment.RetryBlockReason(l.MaxRetries, l.MinRetryInterval, now); {
	case reason != "", t.NetworkID == "": // Without the post's ID, a comment cannot be sent.
		return cmp.Or(reason, "not_failed"), false
	case !t.Active:
		return "account_gone", false
	}
	return "", true
}

// withRetry returns the target at the start of a retry. If the target is published, only its first comment is retried.
func (t Target) withRetry(now time.Time) Target {
	if t.State == TargetPublished {
		t.Comment = t.Comment.WithRetry(now)
		return t
	}
	t.State, t.ErrorCode, t.NetworkText = TargetPending, "", ""
	t.RetriesUsed, t.RetriedAt = t.RetriesUsed+1, now
	return t
}

// canRetry reports whether a target may be retried now. If not, it returns the reason. replaced is set if another post
// of the family holds the account.
func (l Limits) canRetry(t Target, replaced bool, now time.Time) (string, bool) {
	switch {
	case t.State == TargetUnconfirmed:
		return "unconfirmed", false
	case t.State != TargetFailed:
		return "not_failed", false
	case replaced:
		return "replaced", false
	case !t.Active:
		return "account_gone", false // a retry would be wasted; the account must be reconnected first
	case t.RetriesUsed >= l.MaxRetries:
		return "no_retries_left", false
	case !t.RetriedAt.IsZero() && now.Sub(t.RetriedAt) < l.MinRetryInterval:
		return "retried_moments_ago", false
	}
	return "", true
}
