package post

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// PostList is a page of posts.
type PostList struct {
	Posts []PostEntry `json:"posts"`
}

// listRow is a post in a list.
type listRow struct {
	id, status, excerpt             string
	scheduled, submitted, published int64
	series, template                int64
}

// slot returns the time by which lists are sorted, in microseconds.
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
	return rows.Scan(&r.id, &r.status, &r.excerpt, &r.scheduled, &r.submitted, &r.published, &r.series, &r.template)
}

// recurrence returns the series of a post, or nil if the post belongs to none.
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

// list returns posts, newest first. It sorts by slot if from or to is set, and by creation otherwise, so that each page
// is one index scan.
func (s *Service) list(ctx context.Context, call operation.Call, in ListInput) (operation.Answer[PostList], error) {
	out := operation.Answer[PostList]{App: "/posts", Data: PostList{Posts: []PostEntry{}}}
	q, err := newListQuery(call, in)
	if err != nil {
		return out, err
	}
	if q.emptyRange {
		out.Notes = append(out.Notes, emptyRangeNote)
	}
	text, args := q.sql(in.Limit)
	page, err := db.AllSized(ctx, s.db, in.Limit+1, scanRow, text, args...)
	if err != nil {
		return out, fmt.Errorf("listing posts: %w", err)
	}
	if len(page) > in.Limit {
		page = page[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(q.position(page[in.Limit-1]))}
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
		out.Data.Posts[i] = PostEntry{ID: r.id, Status: Status(r.status), Excerpt: r.excerpt,
			Accounts:    accounts[r.id],
			ScheduledAt: call.MomentOrNil(db.Time(r.scheduled)), PublishedAt: call.MomentOrNil(db.Time(r.published)),
			Recurrence: r.recurrence(paused)}
	}
	return out, nil
}

// emptyRangeNote explains why a list is empty if to is not after from, such as when both are the same date.
const emptyRangeNote = "The range is empty, because `to` is not after `from`. `to` is exclusive, and a date means the " +
	"start of that day. To list one day, set `to` to the day after."

// listQuery builds the SQL query of one page.
type listQuery struct {
	from       string
	where      []string
	args       []any
	order      string
	bySlot     bool
	emptyRange bool // to is not after from
}

func newListQuery(call operation.Call, in ListInput) (*listQuery, error) {
	q := &listQuery{from: "posts p", order: "p.id DESC", bySlot: in.From != nil || in.To != nil}
	q.restrict(call.TeamID, in)
	if in.Status != "" {
		q.add("p.status = ?", in.Status)
	}
	if q.bySlot {
		q.order = "p.slot_at DESC, p.id DESC"
		// Other posts have a slot only because they count toward the monthly limit.
		q.add("(p.scheduled_at > 0 OR p.published_at > 0)")
	}
	var bounds []time.Time
	for _, bound := range []struct {
		name  string
		text  *string
		where string
	}{{"from", in.From, "p.slot_at >= ?"}, {"to", in.To, "p.slot_at < ?"}} {
		if bound.text == nil {
			continue
		}
		at, err := teamtime.ParseBound(*bound.text, call.Zone)
		if err != nil {
			return nil, badTime(bound.name, err)
		}
		q.add(bound.where, db.Micros(at))
		bounds = append(bounds, at)
	}
	q.emptyRange = len(bounds) == 2 && !bounds[1].After(bounds[0])
	if q.bySlot {
		q.add(slotPredicate)
	}
	return q, q.after(call, in.Cursor)
}

// restrict limits a list to the posts of a team or of one of its accounts.
//
// If the account's index is the most selective, the query scans that index. CROSS JOIN forces SQLite to read the tables
// in this order. Otherwise SQLite would sort all posts of the team. The concatenation and the missing condition on
// team_id keep PostgreSQL from scanning all posts of the team.
//
// In other cases, the query scans an index of the team's posts and looks up the account in a subquery. EXISTS would be
// slower, because PostgreSQL turns it into a join with all posts of the account.
func (q *listQuery) restrict(team int64, in ListInput) {
	if in.AccountID != nil && !q.bySlot && (in.Status == "" || Status(in.Status) == Published) {
		q.from, q.order = "post_targets t CROSS JOIN posts p", "t.post_id DESC"
		q.add("t.account_id = (SELECT a.id FROM social_accounts a WHERE a.team_id = ? AND a.id = ?)", team,
			*in.AccountID)
		q.add("p.id = t.post_id || ''")
		return
	}
	q.add("p.team_id = "+db.TeamPlaceholder, team)
	if in.AccountID != nil {
		q.add("(SELECT t.position FROM post_targets t WHERE t.post_id = p.id AND t.account_id = ?) >= 0", *in.AccountID)
	}
}

// slotPredicate is the predicate of the partial index on slot_at. It must follow the bounds in the query. SQLite uses
// the first of two lower bounds, and slotPredicate excludes nothing in the index.
const slotPredicate = "p.slot_at > 0"

func (q *listQuery) add(where string, args ...any) {
	q.where, q.args = append(q.where, where), append(q.args, args...)
}

// after makes the page begin after the cursor. A nil cursor means the first page.
func (q *listQuery) after(call operation.Call, cursor *string) error {
	if cursor == nil {
		return nil
	}
	position, err := call.Position(*cursor)
	if err != nil {
		return err
	}
	slot, id, _ := strings.Cut(position, "|")
	micros, err := strconv.ParseInt(slot, 10, 64)
	if err != nil {
		return apierr.Invalid(apierr.InvalidCursor, "cursor",
			"The cursor does not belong to this list.").Wrap(errors.New("position without a time"))
	}
	switch {
	case q.bySlot:
		q.add("(p.slot_at, p.id) < (?, ?)", micros, id)
	case strings.HasPrefix(q.from, "post_targets"):
		q.add("t.post_id < ?", id)
	default:
		q.add("p.id < ?", id)
	}
	return nil
}

func (q *listQuery) sql(limit int) (string, []any) {
	return `SELECT p.id, p.status, p.excerpt, p.scheduled_at, p.submitted_at, p.published_at, p.series_id,
		p.is_template FROM ` + q.from +
		` WHERE ` + strings.Join(q.where, " AND ") + ` ORDER BY ` + q.order + db.LimitClause(limit), q.args
}

// position returns the position of a post in the list, for a cursor.
func (q *listQuery) position(r listRow) string {
	var slot int64
	if q.bySlot {
		slot = r.slot()
	}
	return strconv.FormatInt(slot, 10) + "|" + r.id
}

// ListAccounts returns the accounts of a team's posts by post ID. The accounts of each post are in the post's order.
// They are sorted in Go, because that is cheaper than sorting in the database. The condition on the team keeps
// PostgreSQL from joining the accounts of all teams.
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
