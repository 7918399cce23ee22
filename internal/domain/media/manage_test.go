package media

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// callAs returns a call by a person with a role, in the app.
func (w fixture) callAs(role access.Role) operation.Call {
	return operation.Call{
		Actor: &access.Actor{
			TeamID: w.team, PersonID: w.person, Role: role, Capabilities: access.RoleCapabilities(role), Zone: time.UTC, Plan: "team",
		}, RequestID: "r1", Now: w.clock.Now(),
	}
}

// TestPermissions checks that only people with write access change a library.
func TestPermissions(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		ctx, id := t.Context(), w.add(t, pngOf(noise(1, 20, 20))).ID
		f, err := w.CreateFolder(ctx, w.callAs(access.Editor), "Spring")
		must(t, err)
		stranger := w.newTeam(t)
		for name, do := range map[string]func(operation.Call) error{
			"rename":        func(c operation.Call) error { return w.Rename(ctx, c, id, "n") },
			"move":          func(c operation.Call) error { return w.Move(ctx, c, id, 0) },
			"delete":        func(c operation.Call) error { return w.Delete(ctx, c, id) },
			"rename folder": func(c operation.Call) error { return w.RenameFolder(ctx, c, f.ID, "n") },
			"delete folder": func(c operation.Call) error { return w.DeleteFolder(ctx, c, f.ID) },
		} {
			if err := do(w.callAs(access.Viewer)); !apierr.Is(err, apierr.WriteNotAllowed) {
				t.Errorf("viewer: %s: %v", name, err)
			}
			if err := do(stranger.callAs(access.Owner)); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("person outside the team: %s: %v", name, err)
			}
		}
		if _, err := w.View(ctx, w.callAs(access.Client), id); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("a client can see the item: %v", err)
		}
		if _, err := w.View(ctx, w.callAs(access.Viewer), id); err != nil {
			t.Error(err)
		}
		if err := w.Move(ctx, w.callAs(access.Editor), id, stranger.folderOf(t)); !apierr.Is(err, apierr.FolderNotFound) {
			t.Errorf("the item was moved into another team's folder: %v", err)
		}
		if home, err := w.FindTeam(ctx, id, []int64{stranger.team, w.team}); err != nil || home != w.team {
			t.Errorf("the item belongs to team %d (%v)", home, err)
		}
		if _, err := w.FindTeam(ctx, id, []int64{stranger.team}); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("found in a team that does not have the item: %v", err)
		}
	})
}

func (w fixture) folderOf(t fatal) int64 {
	t.Helper()
	f, err := w.CreateFolder(t.Context(), w.callAs(access.Owner), "Theirs")
	must(t, err)
	return f.ID
}

func TestDelete(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		ctx, file := t.Context(), pngOf(noise(1, 20, 20))
		id := w.add(t, file).ID
		must(t, w.Delete(ctx, w.callAs(access.Editor), id))
		if used, err := w.UsedBytes(ctx, w.team); err != nil || used != 0 {
			t.Errorf("%d bytes are used (%v)", used, err)
		}
		if err := w.Delete(ctx, w.callAs(access.Editor), id); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("second deletion: %v", err)
		}
		again := w.add(t, file).ID
		if n := w.sweep(t); n != 1 {
			t.Errorf("%d blobs are swept", n)
		}
		if n := len(w.blobs(t)); n != 2 || again == id {
			t.Errorf("%d blobs remain of item %d", n, again)
		}
		if found, err := w.Audit(ctx); err != nil || len(found) != 0 {
			t.Errorf("the audit finds %v (%v)", found, err)
		}
	})
}
