package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// filledTeam describes a team whose large data was written directly to the database.
type filledTeam struct {
	*crew

	posts   int
	caption string
	now     int64 // in microseconds
}

const (
	manyAccounts = 50
	manyReports  = 300
	day          = int64(24 * time.Hour / time.Microsecond)
)

// fill adds many posts with captions of the given length to the team, half of them in the past. It also adds many
// rows of everything else that pages list.
func (c *crew) fill(tb testing.TB, posts, caption int) *filledTeam {
	tb.Helper()
	long := strings.Repeat("The harbour’s <roastery> opens at eight & ends late. ☕ ", caption/50+1)
	f := &filledTeam{c, posts, string([]rune(long)[:caption]), db.Micros(c.now())}
	must.NoError(tb, c.db.InTx(tb.Context(), "test.fill", func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range f.statements() {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%.200s: %w", statement, err)
			}
		}
		return nil
	}))
	tidy := `ANALYZE`
	if c.db.Postgres() {
		tidy = `VACUUM ANALYZE` // the server does this later
	}
	must.Get(c.db.Writer().ExecContext(tb.Context(), tidy))(tb)
	return f
}

// id returns the ID of the n-th post, and of its parts.
func (f *filledTeam) id(n int) string {
	return fmt.Sprintf("01890000-0000-7000-8000-%d", 100_000_000_000+n)
}

const idOf = `'01890000-0000-7000-8000-' || CAST(100000000000 + i AS TEXT)`

// insertRows returns an INSERT statement for many rows. The values can refer to the row number i, which starts at 0.
func insertRows(table, columns string, many int, values string) string {
	return fmt.Sprintf(`INSERT INTO %s (%s) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
		WHERE i + 1 < %d) SELECT %s FROM n`, table, columns, many, values)
}

func (f *filledTeam) statements() []string {
	team, owner := f.team.ID, f.people[access.Owner].ID
	// Two years of posts, equally many every day. Future posts are scheduled, every tenth post is a draft.
	slot := fmt.Sprintf("(%d + CAST(i AS BIGINT) * %d)", f.now-365*day, 2*365*day/int64(f.posts))
	over := fmt.Sprintf("i < %d", f.posts/2)
	number := func(of int) string { return fmt.Sprintf("'' || CAST(i %% %d AS TEXT)", of) }
	return []string{
		insertRows("social_accounts",
			"team_id, platform, network_id, username, display_name, connection_state, sealed_grant, created_at, updated_at", manyAccounts-1,
			fmt.Sprintf(
				`%d, CASE i %% 3 WHEN 0 THEN 'instagram' WHEN 1 THEN 'bluesky' ELSE 'tiktok' END, `+
					`'filled ' || CAST(i AS TEXT), 'harbour.of.a.long.name.' || CAST(i AS TEXT), `+
					`'The harbour and its people', 'connected', CAST('' AS %s), %d, %d`, team, f.bytes(), f.now, f.now)),
		insertRows("posts",
			"id, team_id, person_id, status, caption, excerpt, scheduled_at, published_at, slot_at, created_at, "+
				"updated_at, job_id, has_media", f.posts,
			fmt.Sprintf(
				`%s, %d, %d, CASE WHEN i %% 10 = 0 THEN 'draft' WHEN %s THEN 'published' ELSE 'scheduled' END, '%s', '%s', `+
					`CASE WHEN %s THEN 0 ELSE %s END, CASE WHEN i %% 10 > 0 AND %s THEN %s ELSE 0 END, %s, %d, %d, `+
					`'social_post:' || %s, CASE WHEN i %% 4 = 0 THEN 1 ELSE 0 END`,
				idOf, team, owner, over, f.caption, string([]rune(f.caption)[:min(80, len([]rune(f.caption)))]), over,
				slot, over, slot, slot, f.now, f.now, idOf)),
		f.targets(0), f.targets(1),
		fmt.Sprintf(`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
		connection_state, sealed_grant, created_at, updated_at)
		VALUES (%d, 'tiktok', 'lonely', 'lonely', '', 'connected', CAST('' AS %s), 1, 1)`, team, f.bytes()), // without posts
		insertRows("media_folders", "team_id, name, created_at", 100,
			fmt.Sprintf(`%d, 'A folder of a long name ' || CAST(i AS TEXT), %d`, team, f.now)),
		insertRows("media",
			"team_id, folder_id, sha256, blob, name, file_name, search, type, kind, size_bytes, width, height, "+
				"created_at, person_id", f.posts/5+10,
			fmt.Sprintf(
				`%d, 0, CAST('filled' || CAST(i AS TEXT) AS %s), 'filled/' || CAST(i AS TEXT), `+
					`'A picture of the quay in the morning ' || CAST(i AS TEXT), 'quay.png', `+
					`'a picture of the quay in the morning ' || CAST(i AS TEXT), 'image/png', 'image', 1000, 40, 30, `+
					`%d + i, %d`, team, f.bytes(), f.now, owner)),
		// One image is used in a hundred times as many posts as the others.
		fmt.Sprintf(`INSERT INTO post_media (post_id, position, media_id) SELECT p.id, 0, (SELECT MIN(id) FROM media
		WHERE team_id = %d AND blob LIKE 'filled/%%') + CASE WHEN CAST(substr(p.id, 25) AS BIGINT) %% 100 = 0 THEN 0
		ELSE CAST(substr(p.id, 25) AS BIGINT) %% %d END
			FROM posts p WHERE p.team_id = %d AND p.id LIKE '01890000-0000-7000-8000-%%' AND p.has_media = 1`, team, f.posts/5, team),
		insertRows("jobs", "id, team_id, type, state, subject, done, total, created_at, finished_at", f.posts/2,
			fmt.Sprintf(`'social_post:' || %s, %d, 'social_post', 'succeeded', %s, 2, 2, %d + i, %d + i`, idOf, team,
				idOf, f.now-100*day, f.now-100*day)),
		fmt.Sprintf(`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, outcome, created_at, ended_at)
			SELECT 'filled-' || t.post_id || '-' || CAST(t.account_id AS TEXT), %d, t.post_id, t.account_id,
		p.job_id, 'ended', p.slot_at, 'published', p.slot_at, p.slot_at FROM post_targets t
		JOIN posts p ON p.id = t.post_id WHERE p.team_id = %d AND p.status = 'published'`, team, team),
		insertRows("events", "team_id, at, person_id, kind, subject, detail", f.posts,
			fmt.Sprintf(`%d, %d + i, %d, 'post.updated', %s, '{"fields":["caption"]}'`, team, f.now-100*day, owner, idOf)),
		insertRows("notices", "person_id, team_id, kind, event_id, subject, detail, created_at, read_at", f.posts,
			fmt.Sprintf(
				`%d, %d, 'post_failed', -1 - i, %s, '{"platforms":["bluesky"]}', %d + i, `+
					`CASE WHEN i %% 3 = 0 THEN 0 ELSE 1 END`, owner, team, idOf, f.now-90*day)),
		insertRows("ledger_transfers", "team_id, kind, reference, note, created_at, balance", f.posts/5+10,
			fmt.Sprintf(`%d, 'grant', 'filled ' || CAST(i AS TEXT), 'Bought by the team for its reports', %d + i, 1000`,
				team, f.now-90*day)),
		fmt.Sprintf(`INSERT INTO ledger_entries (transfer_id, account, amount) SELECT id, 'available', 1
		FROM ledger_transfers WHERE team_id = %d AND reference LIKE 'filled %%'`, team),
		insertRows("api_keys", "team_id, person_id, name, level, hash, created_at", manyReports,
			fmt.Sprintf(
				`%d, %d, 'A key of a long name ' || CAST(i AS TEXT), 'full', CAST('filled' || CAST(i AS TEXT) AS %s), `+
					`%d`, team, owner, f.bytes(), f.now)),
		insertRows("api_keys", "team_id, person_id, kind, name, level, capabilities, client_host, hash, created_at",
			manyReports,
			fmt.Sprintf(
				`%d, %d, 'assistant', 'An assistant of a long name ' || CAST(i AS TEXT), 'full', 'read,write,publish,spend', `+
					`'a.long.name.of.a.host.example', CAST('filled assistant' || CAST(i AS TEXT) AS %s), `+
					`%d`, team, owner, f.bytes(), f.now)),
		insertRows("people", "name, email, password_hash, created_at", manyReports,
			fmt.Sprintf(
				`'A person of a long name ' || CAST(i AS TEXT), `+
					`'filled' || CAST(i AS TEXT) || '.%d@a.long.name.of.a.host.example', '', %d`, team, f.now)),
		fmt.Sprintf(`INSERT INTO memberships (team_id, person_id, role, created_at) SELECT %d, id, 'editor', %d
		FROM people WHERE email LIKE 'filled%%.%d@%%'`, team, f.now, team),
		insertRows("hashtag_lists", "id, team_id, name, platform, size, last_position, created_at", manyReports,
			fmt.Sprintf(
				`2000000 + %d * 1000 + i, %d, 'A list of a long name ' || CAST(i AS TEXT), 'instagram', 5000, 5000, %d`,
				team, team, f.now)),
		insertRows("hashtag_list_items", "list_id, position, hashtag, subcategory", 5000,
			fmt.Sprintf(
				`2000000 + %d * 1000, i + 1, 'coffeeofthemorningandtheevening' || CAST(i AS TEXT), 'Group ' || %s`, team, number(40))),
		insertRows("brand_voices", "team_id, name, folded, guide, created_at, updated_at", 50,
			fmt.Sprintf(`%d, 'A voice of a long name ' || CAST(i AS TEXT), 'a voice ' || CAST(i AS TEXT), '{}', %d, %d`,
				team, f.now, f.now)),
		insertRows("reports",
			"id, team_id, kind, platform, subject, status, measured_at, refreshed_at, available_until, created_at",
			manyReports,
			fmt.Sprintf(
				`%s, %d, 'profile', 'instagram', 'a.profile.of.a.long.name.' || CAST(i AS TEXT), 'error', %d, %d, 0, `+
					`%d + i`, idOf, team, f.now, f.now, f.now)),
	}
}

// targets returns an INSERT of one target per post, at the given position.
func (f *filledTeam) targets(position int) string {
	return fmt.Sprintf(`INSERT INTO post_targets (post_id, account_id, position, state, published_at, permalink)
		SELECT p.id, a.id, %d, CASE WHEN p.status = 'published' THEN 'published' ELSE 'pending' END, p.published_at,
		CASE WHEN p.status = 'published' THEN 'https://social.example/p/1' ELSE '' END
		FROM posts p JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) - 1 AS nth FROM social_accounts
		WHERE team_id = %d) a ON a.nth = (CAST(substr(p.id, 25) AS BIGINT) + %d) %% %d
		WHERE p.team_id = %d AND p.id LIKE '01890000-0000-7000-8000-%%'`, position, f.team.ID, position, manyAccounts, f.team.ID)
}

// bytes returns the SQL type of binary columns.
func (f *filledTeam) bytes() string {
	if f.db.Postgres() {
		return "BYTEA"
	}
	return "BLOB"
}
