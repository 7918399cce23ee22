package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// printResumption prints a line for each account of a post, after a note about what the database does not contain.
func TestPrintResumption(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	r := delivery.ResumeReport{Cause: restoreguard.Restored, Since: due, Late: 1, Unconfirmed: 1,
		Accounts: []delivery.ResumedAccount{
			{TeamID: 1, PostID: "p1", AccountID: 2, Platform: "threads", Username: "harbour.coffee",
				Excerpt: "Fresh beans", DueAt: due, Outcome: delivery.OutcomeSendLate},
			{TeamID: 1, PostID: "p2", AccountID: 3, Platform: "linkedin", Username: "ada", Excerpt: "We are hiring",
				DueAt: due, Outcome: delivery.OutcomeUnconfirmed, Reason: "the network never tells"},
		}}
	var out bytes.Buffer
	if err := printResumption(&out, r); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []string{
		"TEAM", "threads harbour.coffee|publish now|p1|Fresh beans",
		"linkedin ada|unconfirmed|p2|We are hiring|the network never tells",
	} {
		line := lines[len(lines)-3+i]
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(line, part) {
				t.Errorf("%q lacks %q", line, part)
			}
		}
	}
	if !strings.Contains(out.String(), "cancellations after 2026-11-22 08:00:00Z are missing from this database") ||
		strings.Contains(out.String(), "{") {
		t.Error(out.String())
	}
	out.Reset()
	r.Cause = restoreguard.Manual
	if err := printResumption(&out, r); err != nil || strings.Contains(out.String(), "missing from this database") {
		t.Errorf("a manual hold: %s, %v", &out, err)
	}
}
