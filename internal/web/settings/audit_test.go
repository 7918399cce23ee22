package settings

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Lines are grouped by the day in their own time zone, and each group begins with its newest line.
func TestByDay(t *testing.T) {
	t.Parallel()
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	var lines []auditLine
	for _, at := range []string{"2026-11-27T23:30:00Z", "2026-11-27T22:59:59Z", "2026-11-26T23:00:00Z", "2026-11-26T22:59:00Z"} {
		lines = append(lines, auditLine{Event: auditlog.Event{At: must.Get(time.Parse(time.RFC3339, at))(t).In(berlin)}})
	}
	var got []string
	for _, day := range groupByDay(lines) {
		for _, l := range day.Lines {
			got = append(got, day.At.Format("2 15:04")+" "+l.At.Format("2 15:04"))
		}
	}
	want := []string{"28 00:30 28 00:30", "27 23:59 27 23:59", "27 23:59 27 00:00", "26 23:59 26 23:59"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(groupByDay(nil)) != 0 {
		t.Error("an empty log has a day")
	}
}

// A post that was scheduled right after it was created has one line, unless somebody else scheduled it.
func TestCreatedAndScheduled(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	events := []auditlog.Event{
		{ID: 6, At: at, Kind: "post.scheduled", Subject: "c", Person: "Ben"},
		{ID: 5, At: at, Kind: "post.created", Subject: "c", Person: "Ada"},
		{ID: 4, At: at, Kind: "post.scheduled", Subject: "b", Person: "Ada"},
		{ID: 3, At: at, Kind: "post.created", Subject: "a", Person: "Ada"},
		{ID: 2, At: at, Kind: "post.scheduled", Subject: "d", Person: "Ada"},
		{ID: 1, At: at, Kind: "post.created", Subject: "d", Person: "Ada"},
	}
	var got []string
	for _, l := range linesOf(locale.English, events, time.UTC) {
		got = append(got, l.Subject+" "+l.Text)
	}
	want := []string{
		"c scheduled a post", "c created a post", "b scheduled a post", "a created a post", "d created and scheduled a post",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The filter's days begin and end in the team's time zone, and its pages keep the filter.
func TestAuditFilter(t *testing.T) {
	t.Parallel()
	berlin := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	f := filterOf(httptest.NewRequest(http.MethodGet, "/settings/audit?kind=key.created&person=7&from=2026-11-26&to=2026-11-26", nil))
	page := f.page(berlin)
	if !page.Since.Equal(time.Date(2026, 11, 25, 23, 0, 0, 0, time.UTC)) || page.Until.Sub(page.Since) != 24*time.Hour || page.Person != 7 {
		t.Errorf("%+v", page)
	}
	if got := f.path(5); got != "/settings/audit?before=5&from=2026-11-26&kind=key.created&person=7&to=2026-11-26" {
		t.Error(got)
	}
	none := filterOf(httptest.NewRequest(http.MethodGet, "/settings/audit?from=yesterday&person=x", nil))
	if none.Filters() || none.path(0) != "/settings/audit" {
		t.Errorf("%+v", none)
	}
}
