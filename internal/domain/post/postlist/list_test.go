package postlist_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/testkit/must"
)

// listExcerpts returns the excerpts of all posts that a filter selects. It reads pages of two posts.
func (w *env) listExcerpts(t *testing.T, f postlist.Filter) string {
	t.Helper()
	out := []string{}
	for cursor := ""; ; {
		page, next, err := postlist.List(t.Context(), w.DB, w.Call.TeamID, f, cursor, 2)
		must.NoError(t, err)
		for _, e := range page {
			out = append(out, e.Excerpt)
		}
		if cursor = next; next == "" {
			return strings.Join(out, " ")
		}
	}
}

func TestTabs(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		day := 24 * time.Hour
		for i, name := range []string{"late", "soon", "middle"} {
			id := w.Draft(t, name, time.Time{})
			at := w.Clock.Now().Add([]time.Duration{9 * day, day, 3 * day}[i]).Format(time.RFC3339)
			w.Do(t, "schedule_post", map[string]any{"post_id": id, "scheduled_at": at})
		}
		w.Draft(t, "idea", time.Time{})
		w.Draft(t, "Übung 100%", w.Clock.Now().Add(2*day))
		for _, name := range []string{"sent", "partly", "failed", "archived"} {
			w.Clock.Advance(time.Minute)
			id := w.Draft(t, name, time.Time{})
			w.Do(t, "publish_post", map[string]any{"post_id": id})
			switch name {
			case "partly":
				w.Exec(t, `UPDATE posts SET status = 'partially_published' WHERE id = ?`, id)
			case "failed", "archived":
				w.Exec(t, `UPDATE posts SET status = 'failed', published_at = 0 WHERE id = ?`, id)
			}
			if name == "archived" {
				w.Do(t, "archive_post", map[string]any{"post_id": id, "archived": true})
			}
		}
		waiting := w.Draft(t, "waiting", time.Time{})
		must.Get(w.Approvals.Request(t.Context(), w.Person, waiting))(t)
		for _, c := range []struct {
			filter postlist.Filter
			want   string
		}{
			{postlist.Filter{}, "soon middle late archived failed partly sent waiting Übung 100% idea"},
			{postlist.Filter{Account: w.Account, Text: "e"}, "archived failed sent idea middle late"},
			{postlist.Filter{Tab: postlist.Drafts}, "waiting Übung 100% idea"},
			{postlist.Filter{Tab: postlist.Scheduled}, "soon middle late"},
			{postlist.Filter{Tab: postlist.NeedsApproval}, "waiting"},
			{postlist.Filter{Tab: postlist.Published}, "sent"},
			{postlist.Filter{Tab: postlist.Failed}, "failed partly"},
			{postlist.Filter{Tab: postlist.Archived}, "archived"},
			{postlist.Filter{Tab: postlist.Drafts, Account: w.Account + 1}, ""},
			{postlist.Filter{Text: "Übung 100%"}, "Übung 100%"},
			{postlist.Filter{Text: "ÜBUNG"}, "Übung 100%"},
			{postlist.Filter{Text: "100_"}, ""},
			{postlist.Filter{Text: "SOON"}, "soon"},
			{postlist.Filter{From: w.Clock.Now(), To: w.Clock.Now().Add(4 * day)}, "middle Übung 100% soon"},
		} {
			if got := w.listExcerpts(t, c.filter); got != c.want {
				t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
			}
		}
		counts := must.Get(postlist.Counts(t.Context(), w.DB, w.Call.TeamID))(t)
		if got := fmt.Sprint(counts); got != "[{ 10} {draft 3} {scheduled 3} {waiting 1} {published 1} {failed 2} {archived 1}]" {
			t.Error(got)
		}
		for _, cursor := range []string{"AQ", "9~", "0~AQ"} {
			if _, _, err := postlist.List(t.Context(), w.DB, w.Call.TeamID, postlist.Filter{}, cursor, 2); !apierr.Is(err,
				apierr.ValidationFailed) {
				t.Errorf("List with the invalid cursor %s: %v", cursor, err)
			}
		}
	})
}
