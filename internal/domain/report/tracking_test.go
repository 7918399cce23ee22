package report

import (
	"strings"
	"testing"

	"pressroom/internal/teamtime"
)

// A switch says what it is now, how often, and what each refresh costs.
func TestTrackingIsSaid(t *testing.T) {
	t.Parallel()
	next := &teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	for want, of := range map[string]Tracking{
		"tracking is on. The report is refreshed by itself every 7 days, and each automatic refresh is charged 2 credits. The next one is at 2026-03-29T10:15:00+02:00.": {Enabled: true, FrequencyDays: 7, CreditsPerRefresh: 2, NextRefreshAt: next},
		"tracking is on. The report is refreshed by itself every day, and each automatic refresh is charged 5 credits.":                                                  {Enabled: true, FrequencyDays: 1, CreditsPerRefresh: 5},
		"tracking is off, and nothing is refreshed or charged by itself. Its frequency is kept as every 3 days.":                                                         {FrequencyDays: 3, CreditsPerRefresh: 2},
	} {
		if got := of.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if op := (&Service{}).Operations(); !strings.Contains(op[len(op)-1].Description, "left out it becomes 3") {
		t.Error("the description does not say what is left out")
	}
}
