package post

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/job"
)

func TestStatusOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		states []TargetState
		want   Status
		job    job.State
	}{
		{[]TargetState{TargetPublished}, Published, job.Succeeded},
		{[]TargetState{TargetPublished, TargetPublished}, Published, job.Succeeded},
		{[]TargetState{TargetPublished, TargetFailed}, PartiallyPublished, job.PartiallySucceeded},
		{[]TargetState{TargetPublished, TargetUnconfirmed}, PartiallyPublished, job.PartiallySucceeded},
		{[]TargetState{TargetFailed, TargetUnconfirmed}, Failed, job.Failed},
		{[]TargetState{TargetUnconfirmed}, Failed, job.Failed},
		{[]TargetState{TargetPublished, TargetPending}, Processing, job.PartiallySucceeded},
		{[]TargetState{TargetFailed, TargetSending}, Processing, job.Failed},
	} {
		targets := make([]Target, len(c.states))
		for i, state := range c.states {
			targets[i].State = state
		}
		if got := aggregateStatus(targets); got != c.want {
			t.Errorf("%v: %s, want %s", c.states, got, c.want)
		}
		if got := JobState(c.states); got != c.job {
			t.Errorf("%v: job %s, want %s", c.states, got, c.job)
		}
	}
}

func TestCanRetry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		target Target
		want   string
	}{
		{Target{State: TargetFailed}, ""},
		{Target{State: TargetFailed, RetriesUsed: 3}, "no_retries_left"},
		{Target{State: TargetFailed, RetriesUsed: 2, RetriedAt: now.Add(-time.Minute)}, ""},
		{Target{State: TargetFailed, RetriesUsed: 1, RetriedAt: now.Add(-59 * time.Second)}, "retried_moments_ago"},
		{Target{State: TargetFailed, RetriesUsed: 3, RetriedAt: now.Add(-time.Hour)}, "no_retries_left"},
		{Target{State: TargetFailed, RetriesUsed: 3, RetriedAt: now}, "no_retries_left"},
		{Target{State: TargetUnconfirmed}, "unconfirmed"},
		{Target{State: TargetPublished}, "not_failed"},
		{Target{State: TargetSending}, "not_failed"},
		{Target{State: TargetPending}, "not_failed"},
	} {
		c.target.Active = true
		reason, ok := DefaultLimits.canRetry(c.target, false, now)
		if reason != c.want || ok != (c.want == "") {
			t.Errorf("%+v: %q %t", c.target, reason, ok)
		}
	}
}

// A retry skips a disconnected account, because the attempt would be wasted.
func TestRetriesOfDisconnectedAccount(t *testing.T) {
	t.Parallel()
	if reason, ok := DefaultLimits.canRetry(Target{State: TargetFailed}, false, time.Now()); ok || reason != "account_gone" {
		t.Errorf("%q %t", reason, ok)
	}
}
