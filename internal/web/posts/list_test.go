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
		post.Draft: "open deletable", post.Scheduled: "open scheduled", post.Published: "", post.Failed: "",
	} {
		one := listedPost{Entry: postlist.Entry{Status: status}, Deletes: status == post.Draft}
		if got := one.BulkActions(); got != want {
			t.Errorf("%s: %q, want %q", status, got, want)
		}
	}
	if got := (listedPost{Entry: postlist.Entry{Status: post.Draft}}).BulkActions(); got != "open" {
		t.Errorf("template of a series: %q", got)
	}
}
