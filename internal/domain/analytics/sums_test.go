package analytics_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/platform/db"
)

// addTwoPosts adds two published posts with metrics. It returns an account of both, and the team.
func (w *env) addTwoPosts() (int64, int64) {
	account := w.connectHarbour()
	team := w.teamOf(account)
	w.must(w.db.InTx(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		for _, s := range []struct {
			text string
			args []any
		}{
			{`INSERT INTO social_accounts (id, team_id, platform, network_id, username, display_name, connection_state,
				sealed_grant, created_at, updated_at) VALUES (900, ?, 'instagram', 'second', 'b', 'b', 'connected', '', 1,
				1)`, []any{team}},
			{`INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, created_at, updated_at) VALUES
				('seen', ?, 1, 'published', '', '', 1, 1), ('unseen', ?, 1, 'published', '', '', 1, 1)`,
				[]any{team, team}},
			{`INSERT INTO post_targets (post_id, account_id, position, network_id) VALUES ('seen', ?, 0, 'n1'),
				('seen', 900, 1, 'n2'), ('unseen', ?, 0, 'n3')`, []any{account, account}},
			{`INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views, likes,
				collected_at) VALUES (?, 'n1', 1, 'image', '', '', 40, 3, 1), (900, 'n2', 1, 'image', '', '', 2, NULL, 1)`,
				[]any{account}},
		} {
			if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
				return err
			}
		}
		return nil
	}))
	return account, team
}

// A post's metrics are summed over its accounts. The sums omit metrics that no network reports.
func TestSumByPost(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account, team := w.addTwoPosts()
		sums, err := w.service.SumByPost(t.Context(), team, []string{"seen", "unseen"})
		w.must(err)
		got := sums["seen"]
		if len(sums) != 1 || got.Views == nil || *got.Views != 42 || got.Likes == nil || *got.Likes != 3 ||
			got.Comments != nil {
			t.Errorf("%+v", sums)
		}
		byAccount, err := w.service.MetricsByAccount(t.Context(), team, "seen")
		w.must(err)
		if first, second := byAccount[account], byAccount[900]; len(byAccount) != 2 || *first.Views != 40 || *first.Likes != 3 ||
			*second.Views != 2 || second.Likes != nil {
			t.Errorf("%+v", byAccount)
		}
		if other, err := w.service.MetricsByAccount(t.Context(), team+1, "seen"); err != nil || len(other) > 0 {
			t.Errorf("another team has %v (%v)", other, err)
		}
		for _, ids := range [][]string{{"seen"}, nil} {
			if other, err := w.service.SumByPost(t.Context(), team+1, ids); err != nil || len(other) > 0 {
				t.Errorf("another team has %v (%v)", other, err)
			}
		}
	})
}

// The usual metrics of an account are the median of its newest posts, if there are enough.
func TestUsualByAccount(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account, team := w.addTwoPosts()
		usual := func() analytics.PostSums {
			t.Helper()
			found, err := w.service.UsualByAccount(t.Context(), team, "seen")
			w.must(err)
			return found[account]
		}
		insert := func(views ...int64) {
			t.Helper()
			w.must(w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				for _, n := range views {
					if _, err := tx.Exec(ctx, `INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views,
						collected_at) VALUES (?, ?, ?, 'image', '', '', ?, 1)`,
						account, fmt.Sprint("other", n), db.Micros(tx.Now())+n, n); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		if insert(10, 90); usual().Any() {
			t.Errorf("two posts are usual: %+v", usual())
		}
		if insert(20); usual().Views == nil || *usual().Views != 20 || usual().Likes != nil {
			t.Errorf("usual: %+v, want 20 views", usual())
		}
		if insert(40); *usual().Views != 30 {
			t.Errorf("usual: %d views, want 30", *usual().Views)
		}
		for n := range int64(200) { // Older posts than the newest 200 do not count.
			insert(1001 + n)
		}
		if *usual().Views != 1100 {
			t.Errorf("usual: %d views, want 1100", *usual().Views)
		}
	})
}

// TopPosts reads only the accounts of one team. A post that the team published has its picture and is listed once.
func TestTopPosts(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		account := w.connectHarbour()
		team := w.teamOf(account)
		other := w.connect(team, "threads", "quiet")
		w.must(w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for _, s := range []struct {
				text string
				args []any
			}{
				{`INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, created_at, updated_at) VALUES
					('own', ?, 1, 'published', '', '', 1, 1)`, []any{team}},
				{`INSERT INTO post_targets (post_id, account_id, position, network_id) VALUES ('own', ?, 0, 'n2'), ('own', ?, 1, 'm2')`,
					[]any{account, other}},
				{`INSERT INTO account_posts (account_id, network_id, posted_at, format, excerpt, url, views, likes, saves,
					collected_at) VALUES (?, 'n1', 5000000, 'text', 'Elsewhere', '', 40, 3, NULL, 1),
					(?, 'n2', 6000000, 'image', 'Own', '', NULL, 3, 4, 1), (?, 'n3', 7000000, 'image', '', '', 9, NULL, 0, 1),
					(?, 'n4', 1000000, 'image', '', '', 9, 99, NULL, 1), (?, 'm2', 6000000, 'image', 'Own', '', NULL, 6, NULL, 1)`,
					[]any{account, account, account, account, other}},
			} {
				if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
					return err
				}
			}
			return nil
		}))
		ids, since := []int64{account}, time.Unix(2, 0)
		top, err := w.service.TopPosts(t.Context(), team, []int64{account, other}, since, time.Unix(8, 0), 5)
		w.must(err)
		if len(top) != 2 || top[0].ID != "n2" || top[0].PostID != "own" || *top[0].Engagement != 13 ||
			*top[0].Counts.Likes != 9 ||
			top[0].Accounts != 2 || len(top[0].Platforms) != 2 || top[1].ID != "n1" ||
			top[1].PostID != "" || top[1].Excerpt != "Elsewhere" || *top[1].Counts.Views != 40 {
			t.Errorf("best posts: %+v", top)
		}
		top, err = w.service.TopPosts(t.Context(), team, ids, since, time.Unix(8, 0), 5)
		if err != nil || *top[0].Engagement != 7 {
			t.Errorf("the best posts of one account have the metrics of another: %+v (%v)", top, err)
		}
		metrics, err := w.service.ListPostMetrics(t.Context(), team, ids, since, time.Unix(7, 0))
		w.must(err)
		if len(metrics) != 2 || metrics[0].Views != nil || *metrics[0].Engagement != 7 || *metrics[1].Views != 40 {
			t.Errorf("metrics: %+v", metrics)
		}
		own, err := w.service.OwnPosts(t.Context(), team, account, []string{"n1", "n2"})
		w.must(err)
		if len(own) != 1 || own["n2"].PostID != "own" || own["n2"].Picture != 0 {
			t.Errorf("own posts: %+v", own)
		}
		if other, err := w.service.TopPosts(t.Context(), team+1, ids, since, time.Unix(7, 0), 5); err != nil || len(other) > 0 {
			t.Errorf("another team has %v (%v)", other, err)
		}
		if other, err := w.service.ListPostMetrics(t.Context(), team+1, ids, since, time.Unix(7, 0)); err != nil || len(other) > 0 {
			t.Errorf("another team has %v (%v)", other, err)
		}
		if other, err := w.service.OwnPosts(t.Context(), team+1, account, []string{"n2"}); err != nil || len(other) > 0 {
			t.Errorf("another team has %v (%v)", other, err)
		}
	})
}

// The rate counts only accounts that report both engagement and views.
func TestEngagementRate(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	metrics := []analytics.PostSums{
		{Views: n(100), Engagement: n(8)}, {Views: n(300)}, {Engagement: n(50)}, {Views: n(100), Engagement: n(2)},
	}
	if rate, known := analytics.EngagementRate(metrics); rate != 0.05 || !known {
		t.Errorf("the rate is %v (%t), want 0.05", rate, known)
	}
	for _, metrics := range [][]analytics.PostSums{nil, {{Engagement: n(5)}}, {{Views: n(0), Engagement: n(5)}}} {
		if rate, known := analytics.EngagementRate(metrics); known {
			t.Errorf("the rate of %v is %v, want none", metrics, rate)
		}
	}
}
