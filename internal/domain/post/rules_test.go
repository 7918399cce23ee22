package post

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

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

// An excerpt is the start of the caption, on one line, with at most 140 characters of valid UTF-8.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		caption := rapid.String().Draw(t, "caption") + strings.Repeat(rapid.String().Draw(t, "more"),
			rapid.IntRange(0, 300).Draw(t, "times"))
		got := excerpt(caption)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > excerptLength || strings.ContainsAny(got, "\n\t") {
			t.Fatalf("%q", got)
		}
		line := strings.Join(strings.Fields(caption), " ")
		if (got == line) != (utf8.RuneCountInString(line) <= excerptLength) {
			t.Fatalf("excerpt of %q with %d characters is %q", line, utf8.RuneCountInString(line), got)
		}
		if start := strings.TrimSuffix(got, "…"); !strings.HasPrefix(line, start) {
			t.Fatalf("%q does not begin with %q", line, start)
		}
	})
}

// A truncated excerpt ends between two grapheme clusters and has an ellipsis.
func TestExcerptKeepsGraphemes(t *testing.T) {
	t.Parallel()
	family := "👨‍👩‍👧‍👦" // 7 characters
	for _, c := range []struct{ caption, want string }{
		{strings.Repeat(family, 200), strings.Repeat(family, 19) + "…"},
		{strings.Repeat(family, 20), strings.Repeat(family, 20)},
		{"a" + strings.Repeat("🇩🇪", 100), "a" + strings.Repeat("🇩🇪", 69) + "…"},
		{strings.Repeat("e\u0301", 100), strings.Repeat("e\u0301", 69) + "…"},
		{"a" + strings.Repeat("\u0301", 200), "…"},
		{"a" + strings.Repeat(" ", 5000) + "b", "a b"},
	} {
		if got := excerpt(c.caption); got != c.want {
			t.Errorf("excerpt of %q is %q, want %q", c.caption, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{family, "🇩🇪", "e\u0301", "각", "x", " ", "\u200d",
			"\u0301"})).Draw(t, "parts")
		caption := strings.Repeat(strings.Join(parts, ""), rapid.IntRange(1, 60).Draw(t, "times"))
		line := strings.Join(strings.Fields(caption), " ")
		start, truncated := strings.CutSuffix(excerpt(caption), "…")
		ends := map[string]bool{line: true, "": true}
		for g, prefix := uniseg.NewGraphemes(line), ""; g.Next(); {
			prefix += g.Str()
			ends[prefix], ends[strings.TrimRight(prefix, " ")] = true, true
		}
		if !ends[start] || truncated == (start == line) && line != "" {
			t.Fatalf("excerpt of %q is %q", line, start)
		}
	})
}
