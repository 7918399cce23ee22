package posts

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
)

// The actions for selected posts that apply to a post depend on its state.
func TestBulkActions(t *testing.T) {
	t.Parallel()
	for status, want := range map[post.Status]string{
		post.Draft: "copyable open deletable", post.Scheduled: "copyable open scheduled",
		post.Published: "copyable", post.Failed: "copyable",
	} {
		one := listedPost{Entry: postlist.Entry{Status: status}, MayDelete: status == post.Draft}
		if got := one.BulkActions(); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
	if got := (listedPost{Entry: postlist.Entry{
		Status: post.Draft, Details: postlist.Details{Template: true},
	}}).BulkActions(); got != "open" {
		t.Errorf("template of a series: %q", got)
	}
}
