// Package erasure kills the deletion of a team at every step and checks the remaining data.
package erasure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// env is a database with a blob store and a network, and the worker that deletes.
type env struct {
	*server.Server

	db                      *db.DB
	box                     *fixture.Sandbox
	worker, url, blobs, key string
}

// home is a team with data of every kind.
type home struct {
	team.Team

	owner int64
}

// plan lists the points at which a deletion is killed, one per start. If again is set, every further start is killed
// at the last point. A plan uses the second pass of a point if the first pass precedes any work.
type plan struct {
	at    []string
	again bool
	least int // minimum number of kills
}

var plans = []plan{
	{at: []string{
		"before leaving.ask", "after leaving.ask", "before social.disconnect", "after social.disconnect",
		"before revoke call", "after revoke call", "before social.revoked", "after social.revoked",
	}, least: 8},
	{at: []string{"after revoke call"}, least: 1},
	{at: []string{"before leaving.remove#2"}, again: true, least: 10},
	{at: []string{"after leaving.remove"}, again: true, least: 10},
	{at: []string{"after media.doom", "before media.forget", "after media.forget", "after media.doom", "before media.forget"}, least: 5},
}

// The deletion of a team completes even if it is killed at every step. Only ledger records remain, without files and
// grants. Another team is not affected.
func TestDeletionKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	worker := program.Build(t, "pressroom.example/pressroom/test/erasure/worker", program.CrashPoints)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		h := open(t, url, worker)
		stays := h.home(t)
		had := h.has(t, stays)
		if len(had) < 15 {
			t.Fatalf("the other team has rows only in %v", had)
		}
		for _, p := range plans {
			goes := h.home(t)
			if n := h.deletion(t, goes, p); n < p.least {
				t.Errorf("%s: killed %d times, want at least %d", p.at[0], n, p.least)
			}
			h.nothingLeft(t, goes, p.at[0])
		}
		for table, n := range h.has(t, stays) {
			if had[table] != n {
				t.Errorf("the other team has %d rows in %s, had %d", n, table, had[table])
			}
		}
		h.mustBeConsistent(t)
	})
}

func open(t *testing.T, url, worker string) *env {
	t.Helper()
	h := &env{worker: worker, url: url, box: fixture.OpenSandbox(t, sandbox.Options{}, nil)}
	cfg := h.box.Config(t, url)
	cfg.PublicURL, cfg.Workers, cfg.BridgeURL, cfg.ImportAllow = "http://press.example", 1, "", nil
	h.blobs, h.key = cfg.Blobs, cfg.SealingKey
	h.Server = must.Get(server.Open(t.Context(), cfg))(t)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("closing the program: %v", err)
		}
	})
	h.db = testkit.Open(t, url, nil)
	return h
}

// homes counts the created teams, for unique names.
var homes int

// home creates a team with data of every kind.
func (h *env) home(t *testing.T) home {
	t.Helper()
	homes++
	name := fmt.Sprint("Harbour ", homes)
	id, owner := fixture.AddTeam(t, h.Server, team.Team{Name: name, Timezone: "UTC"})
	fixture.AddKey(t, h.Server, team.NewKey{Team: id, Level: "full"})
	_, _, err := h.Teams.Invite(t.Context(), owner, id, fmt.Sprintf("bob%d@example.com", homes), "editor")
	must.NoError(t, err)
	must.Get(h.Credits.Grant(t.Context(), id, 100, fmt.Sprint("grant ", homes), ""))(t)
	files := []int64{h.picture(t, id, owner, 1), h.picture(t, id, owner, 2), h.picture(t, id, owner, 3)}
	account := h.connect(t, id)
	must.NoError(t, h.db.InTx(t.Context(), "test.home", func(ctx context.Context, tx *db.Tx) error {
		if _, err := h.Credits.ReserveAutomatic(ctx, tx, id, owner, "refresh_report", 3); err != nil {
			return err
		}
		return h.addTeamData(ctx, tx, id, owner, account, files)
	}))
	return home{team.Team{ID: id, Name: name}, owner}
}

// picture adds an image to a team's library. Every second image is large enough for a thumbnail.
func (h *env) picture(t *testing.T, team, person int64, n int) int64 {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 20+300*(n%2)*2, 30))
	img.Set(homes%20, n, color.White)
	var out bytes.Buffer
	must.NoError(t, png.Encode(&out, img))
	arrived := must.Get(h.Media.Add(t.Context(), media.Owner{TeamID: team, PersonID: person},
		media.Incoming{Name: fmt.Sprint("picture ", n), Type: "image/png", Size: int64(out.Len()), Body: &out}))(t)
	fitted := must.Get(h.Media.Files(team).Open(t.Context(), arrived.MediaID, network.FileLimits{Types: []string{"image/jpeg"}}))(t)
	must.NoError(t, fitted.Close())
	return arrived.MediaID
}

// connect connects an account of the sandbox's Bluesky.
func (h *env) connect(t *testing.T, team int64) int64 {
	t.Helper()
	handle := fmt.Sprintf("harbour%d.test", homes)
	return must.Get(h.box.ConnectBluesky(t.Context(), h.Server, team, handle))(t)
}

// addTeamData writes a team's other data directly to the database.
func (h *env) addTeamData(ctx context.Context, tx *db.Tx, team, owner, account int64, files []int64) error {
	id := func(what string) string { return fmt.Sprintf("%s-%d", what, team) }
	for _, row := range []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, has_media, created_at,
		updated_at) VALUES (?, ?, ?, 0, 'published', 'Fish', 'Fish', 1, 1, 1)`, []any{id("post"), team, owner}},
		{`INSERT INTO post_targets (post_id, account_id, position, state) VALUES (?, ?, 0, 'published')`, []any{id("post"), account}},
		{`INSERT INTO post_media (post_id, position, media_id) VALUES (?, 0, ?)`, []any{id("post"), files[0]}},
		{`INSERT INTO post_labels (post_id, position, label) VALUES (?, 0, 'menu')`, []any{id("post")}},
		{`INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, scheduled_at, created_at,
		updated_at) VALUES (?, ?, ?, 0, 'scheduled', 'Bread', 'Bread', 9000000000000000, 1, 1)`, []any{id("later"), team, owner}},
		{`INSERT INTO post_targets (post_id, account_id, position) VALUES (?, ?, 0)`, []any{id("later"), account}},
		{`INSERT INTO post_approvals (post_id, round, opened_at) VALUES (?, 1, 1)`, []any{id("later")}},
		{`INSERT INTO approval_requests (id, team_id, person_id, email, created_at, expires_at)
		VALUES (?, ?, ?, 'client@example.com', 1, 2)`, []any{id("request"), team, owner}},
		{`INSERT INTO approval_request_posts (request_id, post_id, position, round, links) VALUES (?, ?, 0, 1, 0)`,
			[]any{id("request"), id("later")}},
		{`INSERT INTO approval_comments (team_id, post_id, client_name, comment, created_at)
		VALUES (?, ?, 'Cleo', 'Nice.', 1)`, []any{team, id("later")}},
		{`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, created_at)
		VALUES (?, ?, ?, ?, 'j', 'ended', 1, 1)`, []any{id("delivery"), team, id("post"), account}},
		{`INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at) VALUES (?, 1, 'commit', 1)`, []any{id("delivery")}},
		{`INSERT INTO post_series (team_id, rule, template_id, created_at) VALUES (?, 'FREQ=DAILY', ?, 1)`, []any{team, id("post")}},
		{`INSERT INTO media_folders (team_id, name, created_at) VALUES (?, 'Spring', 1)`, []any{team}},
		{`INSERT INTO reports (id, team_id, kind, platform, subject, status, tracked, created_at)
		VALUES (?, ?, 'profile', 'instagram', 'harbour', 'ready', 1, 1)`, []any{id("report"), team}},
		{`INSERT INTO report_posts (report_id, shown, post) VALUES (?, 'posts', 'p')`, []any{id("report")}},
		{`INSERT INTO report_links (team_id, report_id, token_hash, created_by, created_at, expires_at)
		VALUES (?, ?, ?, ?, 1, 9000000000000000)`, []any{team, id("report"), []byte(id("link")), owner}},
		{`INSERT INTO report_subscriptions (report_id, team_id, period, day, hour, next_at, created_by, created_at)
		VALUES (?, ?, 'weekly', 1, 9, 9000000000000000, ?, 1)`, []any{id("report"), team, owner}},
		{`INSERT INTO report_recipients (team_id, report_id, email, added_by, created_at)
		VALUES (?, ?, 'client@quay.example', ?, 1)`, []any{team, id("report"), owner}},
		{`INSERT INTO report_mails (recipient_id, period_at, state, changed_at)
		SELECT id, 1, 'sent', 1 FROM report_recipients WHERE team_id = ?`, []any{team}},
		{`INSERT INTO jobs (id, team_id, type, state, subject, created_at)
		VALUES (?, ?, 'report', 'running', '', 1)`, []any{id("job"), team}},
		{`INSERT INTO brand_voices (team_id, name, folded, guide, created_at, updated_at)
		VALUES (?, 'Ours', 'ours', '{}', 1, 1)`, []any{team}},
		{`INSERT INTO hashtag_lists (team_id, name, created_at) VALUES (?, 'Fish', 1)`, []any{team}},
		{`INSERT INTO hashtag_searches (team_id, platform, keyword) VALUES (?, 'instagram', 'fish')`, []any{team}},
		{`INSERT INTO paid_subjects (reservation_id, team_id, kind, report_id, platform, subject) SELECT id, team_id,
		'profile', '', 'instagram', 'harbour' FROM reservations WHERE team_id = ?`, []any{team}},
		{`INSERT INTO notices (person_id, team_id, kind, event_id, subject, created_at)
		VALUES (?, ?, 'post.failed', ?, 'x', 1)`, []any{owner, team, -team}},
		{`INSERT INTO account_days (account_id, day, followers, measured_at) VALUES (?, '2026-11-20', 7, 1)`, []any{account}},
		{`INSERT INTO account_pictures (account_id, source, type, image, fetched_at) VALUES (?, ?, 'image/png', ?, 1)`,
			[]any{account, []byte("s"), []byte("i")}},
	} {
		if _, err := tx.Exec(ctx, row.statement, row.args...); err != nil {
			return fmt.Errorf("%.60s: %w", row.statement, err)
		}
	}
	return nil
}

// mostKills is more than the number of steps of a deletion.
const mostKills = 80

// deletion runs the worker and kills it according to the plan until it completes. It returns the number of kills.
func (h *env) deletion(t *testing.T, of home, p plan) int {
	t.Helper()
	for n := range mostKills {
		cmd := exec.CommandContext(t.Context(), h.worker, "-database", h.url, "-blobs", h.blobs, "-key", h.key, "-sandbox", h.box.URL,
			"-team", fmt.Sprint(of.ID), "-person", fmt.Sprint(of.owner), "-name", of.Name, "-ahead",
			fmt.Sprint(time.Duration(n)*2*time.Minute))
		point := ""
		if n < len(p.at) {
			point = p.at[n]
		} else if p.again {
			point = p.at[len(p.at)-1]
		}
		cmd.Env = append(os.Environ(), "PRESSROOM_CRASH_AT="+point)
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		if err == nil {
			return n
		}
		died, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			t.Fatal(err)
		}
		if status, _ := died.Sys().(syscall.WaitStatus); !status.Signaled() {
			t.Fatalf("%s: the worker ended unexpectedly: %v\n%s", point, err, said.String())
		}
	}
	t.Fatalf("%s: the deletion did not complete", p.at[0])
	return 0
}

// has returns the number of a team's rows in each table.
func (h *env) has(t *testing.T, of home) map[string]int {
	t.Helper()
	query := `SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'team_id'`
	if h.db.Postgres() {
		query = `SELECT table_name FROM information_schema.columns WHERE column_name = 'team_id' AND table_schema = 'public'`
	}
	rows := must.Get(h.db.Query(t.Context(), query))(t)
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var name string
		must.NoError(t, rows.Scan(&name))
		if n := h.count(t, name+` WHERE team_id = ?`, of.ID); n > 0 {
			out[name] = n
		}
	}
	must.NoError(t, rows.Err())
	return out
}

func (h *env) count(t *testing.T, from string, args ...any) int {
	t.Helper()
	var n int
	must.NoError(t, h.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+from, args...).Scan(&n))
	return n
}

// retainedTables lists the tables that keep a deleted team's ID.
var retainedTables = map[string]bool{
	"events": true, "ledger_transfers": true, "reservations": true, "wallets": true, "team_deletions": true,
}

// orphans lists queries for rows that refer to deleted rows.
var orphans = []string{
	`post_targets WHERE post_id NOT IN (SELECT id FROM posts)`,
	`post_media WHERE post_id NOT IN (SELECT id FROM posts)`,
	`post_labels WHERE post_id NOT IN (SELECT id FROM posts)`,
	`post_approvals WHERE post_id NOT IN (SELECT id FROM posts)`,
	`approval_request_posts WHERE post_id NOT IN (SELECT id FROM posts)`,
	`approval_requests WHERE id NOT IN (SELECT request_id FROM approval_request_posts)`,
	`approval_comments WHERE post_id NOT IN (SELECT id FROM posts)`,
	`delivery_attempts WHERE delivery_id NOT IN (SELECT id FROM deliveries)`,
	`report_posts WHERE report_id NOT IN (SELECT id FROM reports)`,
	`report_mails WHERE recipient_id NOT IN (SELECT id FROM report_recipients)`,
	`account_days WHERE account_id NOT IN (SELECT id FROM social_accounts)`,
	`account_pictures WHERE account_id NOT IN (SELECT id FROM social_accounts)`,
	`media_pending`,
	`grant_revocations WHERE LENGTH(sealed_grant) > 0`,
	`team_deletions WHERE ended_at = 0`,
	`reservations r WHERE r.state = 'open' AND EXISTS (SELECT 1 FROM teams t WHERE t.id = r.team_id AND t.deleted_at > 0)`,
	`people WHERE deleted_at > 0 AND (name <> '' OR email LIKE '%@%' OR password_hash <> '')`,
	`teams WHERE deleted_at > 0 AND name <> ''`,
}

// nothingLeft checks that everything was deleted.
func (h *env) nothingLeft(t *testing.T, of home, at string) {
	t.Helper()
	for table, n := range h.has(t, of) {
		if !retainedTables[table] {
			t.Errorf("%s: %d rows remain in %s", at, n, table)
		}
	}
	for _, orphan := range orphans {
		if n := h.count(t, orphan); n > 0 {
			t.Errorf("%s: %d orphaned rows: %s", at, n, orphan)
		}
	}
	if n := h.count(t, `people WHERE id = ? AND deleted_at > 0`, of.owner); n != 1 {
		t.Errorf("%s: the owner’s account remains", at)
	}
	if n := h.count(t, `ledger_transfers WHERE team_id = ?`, of.ID); n != 3 { // grant, reservation, refund
		t.Errorf("%s: the ledger has %d transfers", at, n)
	}
}

// mustBeConsistent audits the ledger and the library. It checks that the store contains only the files of the remaining
// team.
func (h *env) mustBeConsistent(t *testing.T) {
	t.Helper()
	report, err := h.Credits.Audit(t.Context())
	if err != nil || !report.OK() {
		t.Errorf("ledger audit: %+v (%v)", report, err)
	}
	found, err := h.Media.Audit(t.Context())
	if err != nil || len(found) > 0 {
		t.Errorf("library audit: %v (%v)", found, err)
	}
	store := must.Get(blob.Open(t.Context(), h.blobs, blob.Options{Scratch: t.TempDir()}))(t)
	bytes := 0
	must.NoError(t, store.Each(t.Context(), "", func(b blob.Info) error {
		if !strings.HasPrefix(b.Key, "store/") {
			bytes++
		}
		return nil
	}))
	want := h.count(t, `media`) + h.count(t, `media WHERE thumbnail <> ''`) + h.count(t, `media_derived`)
	if bytes != want || want < 4 {
		t.Errorf("the store has %d files, want %d", bytes, want)
	}
}
