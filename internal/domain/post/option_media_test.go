package post_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A file that only the options of a post use counts as used. If it is removed, the options no longer use it.
func TestOptionMedia(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		cover := func(id string) int64 {
			t.Helper()
			card := w.getPost(t, id).Options.Bluesky.LinkCard
			return card.ThumbnailMediaID
		}
		uses := func() int {
			t.Helper()
			var n int
			must.NoError(t, w.DB.QueryRow(t.Context(), `SELECT COUNT(*) FROM post_media WHERE media_id = 1`).Scan(&n))
			return n
		}
		id := w.Draft(t, "see https://example.test", time.Time{})
		options := &network.Options{Bluesky: &network.BlueskyOptions{LinkCard: &network.BlueskyOptionsLinkCard{ThumbnailMediaID: 1}}}
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, post.Composition{
			Caption: "see https://example.test", Accounts: []int64{w.Account}, Options: options,
		}))(t)
		copied, _, err := w.Duplicate(t.Context(), act, "form", id)
		must.NoError(t, err)
		if p := w.getPost(t, id); uses() != 2 || cover(id) != 1 || cover(copied.ID) != 1 || len(p.Media) != 0 {
			t.Fatalf("%d uses, post %+v", uses(), p)
		}
		call := w.Call
		call.Actor, call.Now = act, w.Clock.Now()
		removed := must.Get(w.RemoveMedia(t.Context(), call, 1))(t)
		if removed.Posts != 2 || uses() != 0 || cover(id) != 0 || cover(copied.ID) != 0 {
			t.Errorf("removed %+v, %d uses, options %+v", removed, uses(), w.getPost(t, id).Options.Bluesky.LinkCard)
		}
	})
}

// The media of options do not change with a copy.
func TestOptionsWithoutMedia(t *testing.T) {
	t.Parallel()
	o := network.Options{
		Instagram: &network.InstagramOptions{CoverMediaID: 1}, YouTube: &network.YouTubeOptions{ThumbnailMediaID: 1},
		Bluesky:  &network.BlueskyOptions{LinkCard: &network.BlueskyOptionsLinkCard{ThumbnailMediaID: 2}},
		LinkedIn: &network.LinkedInOptions{Article: &network.LinkedInOptionsArticle{ThumbnailMediaID: 2}},
	}
	without := o.WithoutMedia(1).WithoutMedia(2)
	if ids := without.MediaIDs(); len(ids) != 0 {
		t.Errorf("%v are left", ids)
	}
	if ids := o.MediaIDs(); len(ids) != 2 || ids[0] != 1 || ids[1] != 2 {
		t.Errorf("%v are used", ids)
	}
}
