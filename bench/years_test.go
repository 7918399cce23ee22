package main

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The data of years can be filled into both kinds of databases. It has the expected size, and its ledger is consistent.
func TestFillYears(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for _, statement := range []string{
			`INSERT INTO people (name, email, created_at) VALUES ('Ada', 'ada@harbour.example', 1), ('Ben', 'ben@hill.example', 1)`,
			`INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', 'UTC', 'en', 'agency', 1), ('Hill', 'UTC', 'en', 'agency', 1)`,
		} {
			must.Get(d.Writer().ExecContext(t.Context(), statement))(t)
		}
		y := years{Teams: 3, Now: time.Now().UnixMicro(), Postgres: d.Postgres()}
		conn := must.Get(d.Writer().Conn(t.Context()))(t)
		example := sample{
			texts: map[string]string{"account": "{}", "analysis": "{}", "notes": "[]", "guide": "{}"},
			posts: [][]any{{"posts", "1", int64(1), "reel", "a post", "https://network.example/1", int64(5), nil, nil}},
		}
		rows := map[string]int64{}
		must.NoError(t, y.fill(t.Context(), conn, &example, func(name string, n int64, _ time.Duration) { rows[name] = n }))
		must.NoError(t, conn.Close())
		for name, want := range map[string]int64{
			"people": 1, "posts": 15_000, "post_targets": 30_000, "hashtags": 6_000, "hashtag_links": 45_000,
			"media": 600, "wallets": 3, "reports": 60,
		} {
			if rows[name] != want {
				t.Errorf("%s: %d rows, want %d", name, rows[name], want)
			}
		}
		checkYears(t, d)
	})
}

// checkYears checks that the data are consistent.
func checkYears(t *testing.T, d *db.DB) {
	t.Helper()
	report, err := credit.New(d, credit.Options{}).Audit(t.Context())
	if err != nil || len(report.Violations) > 0 {
		t.Errorf("ledger audit: %+v, %v", report.Violations, err)
	}
	for what, query := range map[string]string{
		"posts with another team's account": `SELECT COUNT(*) FROM post_targets t JOIN posts p ON p.id = t.post_id
		JOIN social_accounts a ON a.id = t.account_id WHERE a.team_id <> p.team_id`,
		"posts with another team's file": `SELECT COUNT(*) FROM post_media x JOIN posts p ON p.id = x.post_id
		JOIN media m ON m.id = x.media_id WHERE m.team_id <> p.team_id`,
		"published posts without delivery": `SELECT COUNT(*) FROM posts p
		WHERE p.status = 'published' AND NOT EXISTS (SELECT 1 FROM deliveries x WHERE x.post_id = p.id AND x.team_id = p.team_id)`,
		"posts to come that have gone": `SELECT COUNT(*) FROM posts WHERE status = 'scheduled' AND scheduled_at < 1800000000000000`,
		"posts of the future":          `SELECT COUNT(*) FROM posts WHERE published_at > 1000000 * CAST(` + clockOf(d) + ` AS BIGINT)`,
	} {
		var n int
		if err := d.QueryRow(t.Context(), query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
}

// clockOf returns the SQL expression of the database's clock in seconds.
func clockOf(d *db.DB) string {
	if d.Postgres() {
		return "extract(epoch FROM now())"
	}
	return "strftime('%s', 'now')"
}
