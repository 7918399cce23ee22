package post_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/posttest"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// fakeLibrary is a media library with an image (ID 1) and a video of ten seconds (ID 2).
type fakeLibrary struct{}

func (l fakeLibrary) ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error) {
	return l.ForPost(ctx, q, team, ids)
}

func (fakeLibrary) ForPost(_ context.Context, _ db.Querier, _ int64, ids []int64) ([]network.Media, error) {
	out := []network.Media{}
	for _, id := range ids {
		switch id {
		case 1:
			out = append(out, network.Media{ID: 1, Name: "roastery", Kind: network.Image, Type: "image/jpeg"})
		case 2:
			out = append(out, network.Media{ID: 2, Name: "film", Kind: network.Video, Type: "video/mp4",
				Duration: 10 * time.Second})
		default:
			return nil, apierr.ItemNotFound().With("argument", "media_ids")
		}
	}
	return out, nil
}

// networkWithRules is posttest.Network with the documented rules of Bluesky.
type networkWithRules struct{ posttest.Network }

func (networkWithRules) Rules() network.Rules { r, _ := network.DefaultRules("bluesky"); return r }

// eachDatabaseWithMedia runs a test on each database, with fakeLibrary and an actor with all permissions.
func eachDatabaseWithMedia(t *testing.T, run func(t *testing.T, w *env, act *access.Actor)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, w *env) {
		w.SetService(post.New(w.DB, account.New(w.DB, w.Sealer, nil, networkWithRules{}), job.NewStore(w.DB, nil, 100),
			fakeLibrary{}, w.Deliveries, post.DefaultLimits, plan.Default()))
		w.Exec(t, `INSERT INTO media (id, team_id, sha256, blob, name, file_name, search, type, kind, size_bytes,
			width, height, created_at) VALUES (1, ?, 'a', 'a', 'a', 'a', 'a', 'image/jpeg', 'image', 1, 1, 1, 1), (2,
			?, 'b', 'b', 'b', 'b', 'b', 'video/mp4', 'video', 1, 1, 1, 1)`, w.Call.TeamID, w.Call.TeamID)
		run(t, w, w.Call.Actor)
	})
}

func (w *env) getPost(t *testing.T, id string) post.Record {
	t.Helper()
	p := must.Get(w.Load(t.Context(), w.Call.TeamID, id))(t)
	return p
}

// Compose stores all changes with one event. It records no event if nothing differs.
func TestCompose(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.Draft(t, "hello", time.Time{})
		text := "override"
		c := post.Composition{Caption: "another", Accounts: []int64{w.Account}, Media: []int64{2, 1},
			At:        posttest.Noon.Add(time.Hour),
			Overrides: map[int64]override.Override{w.Account: {Caption: &text, Media: []int64{2}}},
			Covers:    map[int64]time.Duration{2: 2500 * time.Millisecond},
			Options:   &network.Options{Bluesky: &network.BlueskyOptions{ReplySettings: []string{"everybody"}}}}
		w.Clock.Advance(time.Second)
		saved := must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		p := w.getPost(t, id)
		if p.Caption != "another" || p.Excerpt != "another" || !p.ScheduledAt.Equal(c.At) || p.Status != post.Draft ||
			*p.Targets[0].Caption != text ||
			len(p.Media) != 2 || p.Media[0].Cover != 2500*time.Millisecond || len(p.Targets[0].Media) != 1 ||
			p.Targets[0].Media[0].Cover != 2500*time.Millisecond {
			t.Errorf("%+v", p)
		}
		if diff := cmp.Diff(saved.UpdatedAt, p.UpdatedAt); diff != "" {
			t.Error(diff)
		}
		w.Clock.Advance(time.Second)
		c.Options = new(network.Options) // a default need not be spelled out
		must.Get(w.Compose(t.Context(), act, id, p.UpdatedAt, c))(t)
		if again := w.getPost(t, id); !again.UpdatedAt.Equal(p.UpdatedAt) || w.CountEvents(t, "post.changed") != 1 {
			t.Errorf("saving the same content changed the post: %v, %d events", again.UpdatedAt, w.CountEvents(t, "post.changed"))
		}
		must.Get(w.Compose(t.Context(), act, id, p.UpdatedAt, post.Composition{Caption: "bare",
			Accounts: []int64{w.Account}}))(t)
		if p = w.getPost(t, id); p.Targets[0].Caption != nil || p.Targets[0].Media != nil || len(p.Media) != 0 ||
			!p.ScheduledAt.IsZero() {
			t.Errorf("removed content is still present: %+v", p)
		}
	})
}

// The second of two concurrent edits is rejected, so that it does not overwrite the first.
func TestComposeConflict(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.Draft(t, "hello", time.Time{})
		seen := w.getPost(t, id).UpdatedAt
		w.Clock.Advance(time.Second)
		_, err := w.Compose(t.Context(), act, id, seen, post.Composition{Caption: "first",
			Accounts: []int64{w.Account}})
		must.NoError(t, err)
		_, err = w.Compose(t.Context(), act, id, seen, post.Composition{Caption: "second",
			Accounts: []int64{w.Account}})
		posttest.CheckError(t, err, apierr.ValidationFailed, "changed")
		if p := w.getPost(t, id); p.Caption != "first" {
			t.Errorf("%q", p.Caption)
		}
	})
}

func TestComposeRejects(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.Draft(t, "hello", time.Time{})
		seen := w.getPost(t, id).UpdatedAt
		for name, c := range map[string]struct {
			composition post.Composition
			code        apierr.Code
			argument    string
		}{

			"too long": {post.Composition{Caption: strings.Repeat("x", caption.MaxLength+1),
				Accounts: []int64{w.Account}}, apierr.ValidationFailed, "caption"},
			"invalid character": {post.Composition{Caption: "\x00", Accounts: []int64{w.Account}},
				apierr.ValidationFailed, "caption"},
			"time in the past": {post.Composition{Caption: "x", Accounts: []int64{w.Account}, At: posttest.Noon.Add(-time.Hour)},
				apierr.ValidationFailed, "scheduled_at"},
			"unknown media": {post.Composition{Caption: "x", Accounts: []int64{w.Account}, Media: []int64{9}},
				apierr.NotFound, "media_ids"},
			"unknown media in an override": {post.Composition{Caption: "x", Accounts: []int64{w.Account},
				Overrides: map[int64]override.Override{w.Account: {Media: []int64{9}}}}, apierr.NotFound, "media_ids"},
			"cover after the end": {post.Composition{Caption: "x", Accounts: []int64{w.Account}, Media: []int64{2},
				Covers: map[int64]time.Duration{2: 11 * time.Second}}, apierr.ValidationFailed, "cover-2"},
			"unknown account": {post.Composition{Caption: "x", Accounts: []int64{w.Account + 1}}, apierr.NotFound,
				"account_ids"},
			"too many media": {post.Composition{Caption: "x", Accounts: []int64{w.Account}, Media: slices.Repeat([]int64{1},
				51)}, apierr.ValidationFailed, "media_ids"},
		} {
			_, err := w.Compose(t.Context(), act, id, seen, c.composition)
			if f := apierr.FromError(err); err == nil || f.Code != c.code || f.Context["argument"] != c.argument {
				t.Errorf("%s: %v, %v", name, err, f.Context)
			}
		}
		valid := post.Composition{Caption: "x", Accounts: []int64{w.Account}, At: posttest.Noon.Add(time.Hour)}
		viewer := *act
		viewer.Role, viewer.Capabilities = access.Viewer, access.RoleCapabilities(access.Viewer)
		_, err := w.Compose(t.Context(), &viewer, id, seen, valid)
		posttest.CheckError(t, err, apierr.WriteNotAllowed, "")
		stranger := *act
		stranger.TeamID++
		_, err = w.Compose(t.Context(), &stranger, id, seen, valid)
		posttest.CheckError(t, err, apierr.NotFound, "")
		if p := w.getPost(t, id); p.Caption != "hello" || !p.UpdatedAt.Equal(seen) {
			t.Errorf("%+v", p)
		}

		w.Do(t, "schedule_post", map[string]any{"post_id": id,
			"scheduled_at": posttest.Noon.Add(time.Hour).Format(time.RFC3339)})
		seen = w.getPost(t, id).UpdatedAt
		paused := *act
		paused.Capabilities = []access.Capability{access.Read, access.Write}
		_, err = w.Compose(t.Context(), &paused, id, seen, valid)
		posttest.CheckError(t, err, apierr.PublishNotAllowed, "")
		withoutTime := valid
		withoutTime.At = time.Time{}
		if _, err = w.Compose(t.Context(), act, id, seen, withoutTime); apierr.FromError(err).Context["argument"] != "scheduled_at" {
			t.Errorf("a scheduled post without a time: %v", err)
		}
		w.Do(t, "publish_post", map[string]any{"post_id": id})
		_, err = w.Compose(t.Context(), act, id, seen, valid)
		posttest.CheckError(t, err, apierr.ValidationFailed, "published")
	})
}

// A template can be changed while its series is paused, and keeps its time.
func TestComposeTemplate(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		id := w.StartSeries(t, "FREQ=DAILY")
		c := post.Composition{Caption: "anew", Accounts: []int64{w.Account}}
		_, err := w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c)
		posttest.CheckError(t, err, apierr.ValidationFailed, "recurring_template")
		w.Do(t, "cancel_post", map[string]any{"post_id": id})
		must.Get(w.Compose(t.Context(), act, id, w.getPost(t, id).UpdatedAt, c))(t)
		if p := w.getPost(t, id); p.Caption != "anew" || !p.ScheduledAt.Equal(posttest.Noon.Add(time.Hour)) || !p.IsTemplate {
			t.Errorf("%+v", p)
		}
	})
}

// CheckComposition validates unsaved content like validate_post.
func TestCheckComposition(t *testing.T) {
	eachDatabaseWithMedia(t, func(t *testing.T, w *env, act *access.Actor) {
		before := w.CountEvents(t, "post.created")
		text := "forbidden"
		got, err := w.CheckComposition(t.Context(), act, post.Composition{Caption: "fine #one",
			Accounts: []int64{w.Account}, Overrides: map[int64]override.Override{w.Account: {Caption: &text}},
			Media: []int64{1}}, nil)
		must.NoError(t, err)
		check := got.Previews[0]
		if len(check.Problems) != 1 || !check.Problems[0].Blocking || check.Problems[0].AccountID != w.Account ||
			check.Content.Text != text || len(check.Content.Media) != 1 || got.Left == 0 {
			t.Errorf("%+v", got)
		}
		want := []network.Measure{{Unit: "characters", Count: 9, Limit: 300}, {Unit: "bytes", Count: 9, Limit: 3000}}
		if diff := cmp.Diff(want, check.Measures); diff != "" {
			t.Error(diff)
		}
		if _, err = w.CheckComposition(t.Context(), act, post.Composition{Accounts: []int64{w.Account + 1}},
			nil); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another team's account: %v", err)
		}
		none := must.Get(w.CheckComposition(t.Context(), act, post.Composition{}, nil))(t)
		if len(none.Previews) != 0 || w.CountEvents(t, "post.created") != before {
			t.Errorf("%+v", none)
		}
	})
}
