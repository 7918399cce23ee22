package media

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// post inserts a post with a file and returns its ID.
func (w fixture) post(t *testing.T, status string, i Item) string {
	t.Helper()
	id := fmt.Sprintf("%s-%d", status, w.queryInt(t, `SELECT COUNT(*) FROM posts`))
	w.exec(t,
		`INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, has_media, created_at,
		updated_at) VALUES (?, ?, 0, 0, ?, '', '', 1, 1, 1)`, id, w.team, status)
	w.exec(t, `INSERT INTO post_media (post_id, position, media_id) VALUES (?, 0, ?)`, id, i.ID)
	return id
}

// target inserts an account of a post in a state.
func (w fixture) target(t *testing.T, post, state string) {
	t.Helper()
	w.exec(t,
		`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at) VALUES (?, 'bluesky', ?, 'a', 'a', 'connected', ?, 1, 1)`,
		w.team, post, []byte{})
	account := w.queryInt(t, `SELECT MAX(id) FROM social_accounts`)
	w.exec(t, `INSERT INTO post_targets (post_id, account_id, position, state) VALUES (?, ?, 0, ?)`, post, account, state)
}

// TestDeletePublishedFile checks that a published post keeps the file's name, type and size, that the bytes are
// deleted, and that the same file can be added again.
func TestDeletePublishedFile(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		ctx, file := t.Context(), pngOf(noise(1, 900, 700))
		i := w.add(t, file)
		if i.Thumbnail == "" {
			t.Fatal("the file has no thumbnail")
		}
		draft, sent := w.post(t, "draft", i), w.post(t, "published", i)
		must(t, w.Delete(ctx, w.callAs(access.Editor), i.ID))
		if n := w.queryInt(t, `SELECT COUNT(*) FROM post_media WHERE post_id = ?`, draft); n != 0 {
			t.Error("the draft still has the file")
		}
		had, err := w.ForPostWithDeleted(ctx, w.db, w.team, []int64{i.ID})
		if err != nil || len(had) != 1 || !had[0].Gone || had[0].Name != i.Name || had[0].Type != i.Type || had[0].Size != i.Size {
			t.Errorf("the deleted file of post %s is %+v (%v)", sent, had, err)
		}
		if _, err := w.ForPost(ctx, w.db, w.team, []int64{i.ID}); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("the deleted file was accepted in another post: %v", err)
		}
		told, err := w.Deletions(ctx, w.team, []int64{i.ID})
		if err != nil || told[i.ID].By != "Ada" || !told[i.ID].At.Equal(w.clock.Now().Truncate(time.Microsecond)) ||
			told[i.ID].Name != i.Name {
			t.Errorf("deletion record: %+v (%v)", told, err)
		}
		if told, err := w.Deletions(ctx, w.newTeam(t).team, []int64{i.ID}); err != nil || len(told) != 0 {
			t.Errorf("another team sees the deletion record %+v (%v)", told, err)
		}
		if _, err := w.View(ctx, w.callAs(access.Owner), i.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("the deleted file is in the library: %v", err)
		}
		if _, err := w.OpenForTeam(ctx, w.team, i.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("the deleted file was opened: %v", err)
		}
		if err := w.Delete(ctx, w.callAs(access.Editor), i.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("second deletion: %v", err)
		}
		w.sweep(t)
		if left := w.blobs(t); len(left) != 0 {
			t.Errorf("blobs remain: %v", left)
		}
		if used := w.usedBytes(t); used != 0 {
			t.Errorf("%d bytes are counted", used)
		}
		again := w.add(t, file)
		if again.ID == i.ID {
			t.Error("adding the file again returned the deleted item")
		}
		found, err := w.Audit(ctx)
		if err != nil || len(found) != 0 {
			t.Errorf("the audit finds %v (%v)", found, err)
		}
	})
}

// TestDeleteFileInUse checks that posts being sent and scheduled posts block deletion.
func TestDeleteFileInUse(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		ctx := t.Context()
		for name, c := range map[string]struct {
			status, target, more, state string
			kind                        UseKind
		}{
			"being sent":       {status: "processing", state: "sending", kind: UseSending},
			"unconfirmed":      {status: "failed", target: "unconfirmed", state: "sending", kind: UseSending},
			"scheduled":        {status: "scheduled", state: "in_use", kind: UseScheduled},
			"shown to clients": {status: "draft", more: `approval = 'waiting'`, state: "in_use", kind: UseScheduled},
			"of a series":      {status: "draft", more: `is_template = 1`, state: "in_use", kind: UseScheduled},
			"failed":           {status: "failed", target: "failed", kind: UsePublished},
			"published":        {status: "published", target: "published", kind: UsePublished},
			"a draft":          {status: "draft", kind: UseInDraft},
		} {
			t.Run(name, func(t *testing.T) {
				w := w.newTeam(t)
				i := w.add(t, pngOf(noise(2, 20, 20)))
				id := w.post(t, c.status, i)
				if c.target != "" {
					w.target(t, id, c.target)
				}
				if c.more != "" {
					w.exec(t, `UPDATE posts SET `+c.more+` WHERE id = ?`, id)
				}
				used, err := w.Uses(ctx, w.callAs(access.Editor), i.ID)
				if diff := cmp.Diff([]Use{{PostID: id, Status: c.status, Kind: c.kind}}, used); err != nil || diff != "" {
					t.Errorf("it is used by (-want +got):\n%s (%v)", diff, err)
				}
				err = w.Delete(ctx, w.callAs(access.Editor), i.ID)
				if state, _ := apierr.FromError(err).Context["state"].(string); state != c.state {
					t.Errorf("the deletion was rejected with %q, want %q: %v", state, c.state, err)
				}
				if c.state != "" {
					if _, err := w.View(ctx, w.callAs(access.Viewer), i.ID); err != nil {
						t.Errorf("the file was deleted despite the error: %v", err)
					}
				}
			})
		}
	})
}

func TestDeleteFileOfPolledPost(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		i := w.add(t, pngOf(noise(3, 20, 20)))
		id := w.post(t, "published", i)
		w.target(t, id, "published")
		account := w.queryInt(t, `SELECT account_id FROM post_targets WHERE post_id = ?`, id)
		w.exec(t,
			`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, created_at)
		VALUES ('d', ?, ?, ?, 'j', 'planned', 1, ?)`, w.team, id, account, db.Micros(w.clock.Now()))
		if err := w.Delete(t.Context(), w.callAs(access.Editor), i.ID); apierr.FromError(err).Context["state"] != "sending" {
			t.Errorf("a starting delivery lost its file: %v", err)
		}
		w.exec(t, `UPDATE deliveries SET phase = 'linking' WHERE id = 'd'`)
		must(t, w.Delete(t.Context(), w.callAs(access.Editor), i.ID))
	})
}
