package report

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/teamtime"
)

// The summary of tracking has state, frequency and price.
func TestTrackingSummary(t *testing.T) {
	t.Parallel()
	next := &teamtime.Moment{Team: "2026-03-29T10:15:00+02:00", UTC: "2026-03-29T08:15:00Z"}
	for want, of := range map[string]ReportTracking{
		"tracking is on. The report is refreshed automatically every 7 days for 2 credits each. " +
			"The next refresh is at 2026-03-29T10:15:00+02:00.": {
			Enabled: true, FrequencyDays: 7, CreditsPerRefresh: 2, NextRefreshAt: next,
		},
		"tracking is on. The report is refreshed automatically every day for 5 credits each.": {
			Enabled: true, FrequencyDays: 1, CreditsPerRefresh: 5,
		},
		"tracking is off. Nothing is refreshed or charged automatically. The frequency remains every 3 days.": {
			FrequencyDays: 3, CreditsPerRefresh: 2,
		},
	} {
		if got := of.summary(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if op := (&Service{}).Operations(); !strings.Contains(op[len(op)-1].Description, "if omitted, it becomes 3") {
		t.Error("the description does not explain an omitted frequency")
	}
}
