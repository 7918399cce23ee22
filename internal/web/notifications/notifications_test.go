package notifications

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/notification"
)

// Notifications about one post on several accounts are one row, which is unread until all are read. Those of today come
// before the earlier ones.
func TestSectionsOf(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	one := func(id int64, kind notification.Kind, subject string, ago time.Duration, read bool) notification.Notification {
		return notification.Notification{ID: id, Kind: kind, Subject: subject, At: now.Add(-ago), Read: read}
	}
	found := []notification.Notification{
		one(7, notification.PostFailed, "a", time.Minute, true),
		one(6, notification.PostFailed, "a", time.Minute, false),
		one(5, notification.PostFailed, "b", time.Hour, true),
		one(4, notification.KeyChanged, "k", time.Hour, true),
		one(3, notification.KeyChanged, "k", time.Hour, true),
		one(2, notification.PostFailed, "a", 10*time.Hour, true),
		one(1, notification.PostFailed, "c", 10*time.Hour, true),
	}
	type shown struct {
		Section string
		ID      int64
		More    int
		Read    bool
	}
	var got []shown
	for _, s := range sectionsOf(found, now) {
		for _, r := range s.Rows {
			got = append(got, shown{string(s.Name), r.ID, len(r.More), r.Read})
		}
	}
	want := []shown{{"Today", 7, 2, false}, {"Today", 5, 0, true}, {"Today", 4, 0, true}, {"Today", 3, 0, true}, {"Earlier", 1, 0, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
