package post

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/listquery"
	"pressroom.example/pressroom/internal/platform/db"
)

// PostList is a page of posts.
type PostList struct {
	Posts []PostEntry `json:"posts"`
}

// listRow is a post in a list.
type listRow struct {
	id, status, title, excerpt      string
	scheduled, submitted, published int64
	series, template                int64
}

// slot returns the time that lists are sorted by, in microseconds.
func (r listRow) slot() int64 {
	switch {
	case r.published != 0:
		return r.published
	case r.scheduled != 0:
		return r.scheduled
	}
	return r.submitted
}

func scanRow(rows *sql.Rows, r *listRow) error {
	return rows.Scan(&r.id, &r.status, &r.title, &r.excerpt, &r.scheduled, &r.submitted, &r.published, &r.series, &r.template)
}

// recurrence returns the series of a post, or nil if the post does not belong to a series.
func (r listRow) recurrence(paused map[int64]bool) *PostEntryRecurrence {
	if r.series == 0 {
		return nil
	}
	return &PostEntryRecurrence{r.series, r.template != 0, paused[r.series]}
}

// pausedSeries returns the IDs of the series on a page that are paused.
func (s *Service) pausedSeries(ctx context.Context, team int64, page []listRow) (map[int64]bool, error) {
	args := []any{team}
	for _, r := range page {
		if r.series != 0 && !slices.Contains(args[1:], any(r.series)) {
			args = append(args, r.series)
		}
	}
	paused := map[int64]bool{}
	if len(args) == 1 {
		return paused, nil
	}
	ids, err := db.All(ctx, s.db, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`SELECT id FROM post_series WHERE team_id = ? AND paused_at > 0 AND id IN (`+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading which series are paused: %w", err)
	}
	for _, id := range ids {
		paused[id] = true
	}
	return paused, nil
}

// list returns posts, newest first. It sorts by slot if from or to is set, and by creation time otherwise, so that each
// page is one index scan.
func (s *Service) list(ctx context.Context, call operation.Call, in ListInput) (operation.Response[PostList], error) {
	out := operation.Response[PostList]{App: "/posts", Data: PostList{Posts: []PostEntry{}}}
	q, err := listquery.New(call, listquery.Filter{
		Status: in.Status, AccountID: in.AccountID, From: in.From, To: in.To, Cursor: in.Cursor,
	})
	if err != nil {
		return out, err
	}
	if q.EmptyRange {
		out.Notes = append(out.Notes, emptyRangeNote)
	}
	text, args := q.SQL(in.Limit)
	page, err := db.AllSized(ctx, s.db, in.Limit+1, scanRow, text, args...)
	if err != nil {
		return out, fmt.Errorf("listing posts: %w", err)
	}
	if len(page) > in.Limit {
		page = page[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(q.Position(page[in.Limit-1].id, page[in.Limit-1].slot()))}
	}
	ids := make([]string, len(page))
	for i, r := range page {
		ids[i] = r.id
	}
	accounts, err := ListAccounts(ctx, s.db, call.TeamID, ids)
	if err != nil {
		return out, err
	}
	paused, err := s.pausedSeries(ctx, call.TeamID, page)
	if err != nil {
		return out, err
	}
	out.Data.Posts = make([]PostEntry, len(page))
	for i, r := range page {
		out.Data.Posts[i] = PostEntry{ID: r.id, Status: Status(r.status), Title: r.title, Excerpt: r.excerpt,
			Accounts:    accounts[r.id],
			ScheduledAt: call.MomentOrNil(db.Time(r.scheduled)), PublishedAt: call.MomentOrNil(db.Time(r.published)),
			Recurrence: r.recurrence(paused)}
	}
	return out, nil
}

// emptyRangeNote explains why a list is empty if to is not after from, such as when both are the same date.
const emptyRangeNote = "The range is empty, because `to` is not after `from`. `to` is exclusive, and a date means the " +
	"start of that day. To list one day, set `to` to the day after."

// ListAccounts returns the accounts of a team's posts. The keys are post IDs. The accounts of each post are in the
// post's order. They are sorted in Go, because that is cheaper than sorting in the database. The condition on the team
// keeps PostgreSQL from joining the accounts of all teams.
func ListAccounts(ctx context.Context, q db.Querier, team int64, posts []string) (map[string][]PostEntryAccount, error) {
	out := make(map[string][]PostEntryAccount, len(posts))
	if len(posts) == 0 {
		return out, nil
	}
	type row struct {
		PostEntryAccount
		post     string
		position int
	}
	rows, err := db.AllSized(ctx, q, 2*len(posts), func(rows *sql.Rows, r *row) error {
		return rows.Scan(&r.post, &r.position, &r.ID, &r.Platform, &r.Username)
	}, `SELECT t.post_id, t.position, t.account_id, a.platform, a.username FROM post_targets t
		JOIN social_accounts a ON a.id = t.account_id AND a.team_id = ?
		WHERE t.post_id IN (`+db.Placeholders(len(posts))+`)`, db.Args(team, posts)...)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of posts: %w", err)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.position, b.position) })
	for _, id := range posts {
		out[id] = []PostEntryAccount{}
	}
	for _, r := range rows {
		out[r.post] = append(out[r.post], r.PostEntryAccount)
	}
	return out, nil
}
