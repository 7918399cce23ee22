package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// searched is how many posts of a team a search for a text reads, the newest.
const searched = 5000

// Filter selects posts.
type Filter struct {
	Tab      Tab
	Account  int64     // 0 for all
	Text     string    // part of the caption, in any case; finds only the newest posts of the team
	From, To time.Time // by the time at which a post went out or will; To is exclusive
}

// ByTime reports whether the posts are sorted by time, and whether the earliest is first. Others are sorted by
// creation, the newest first.
func (f Filter) ByTime() (bool, bool) {
	t := f.Tab.tab()
	return t.time || f.dated(), t.first
}

func (f Filter) dated() bool { return !f.From.IsZero() || !f.To.IsZero() }

// Entry is a post in the list.
type Entry struct {
	Details

	ID, Excerpt string
	Status      post.Status
	ScheduledAt time.Time // the planned time of a draft; zero if there is none
	PlannedDay  string    // of a draft without a time
	PublishedAt time.Time
	Changed     time.Time // when it was last changed
	SeriesID    int64
	Accounts    []post.PostEntryAccount

	slot int64
}

// List returns a page of a team's posts and the cursor of the next page, or "".
func List(ctx context.Context, d *db.DB, team int64, f Filter, cursor string, limit int) ([]Entry, string, error) {
	text, args, err := listQuery(team, f, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	page, err := db.AllSized(ctx, d, limit+1, scanEntry, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing the posts of team %d: %w", team, err)
	}
	next := ""
	if len(page) > limit {
		page = page[:limit]
		last := page[limit-1]
		next = strconv.FormatInt(last.slot, 10) + "." + last.ID
	}
	ids := make([]string, len(page))
	for i, e := range page {
		ids[i] = e.ID
	}
	details, err := DetailsOf(ctx, d, team, ids)
	if err != nil {
		return nil, "", err
	}
	accounts, err := post.AccountsOf(ctx, d, team, ids)
	if err != nil {
		return nil, "", err
	}
	for i := range page {
		page[i].Details, page[i].Accounts = details[page[i].ID], accounts[page[i].ID]
	}
	return page, next, nil
}

func scanEntry(rows *sql.Rows, e *Entry) error {
	var scheduled, published, changed int64
	err := rows.Scan(&e.ID, &e.Status, &e.Excerpt, &scheduled, &e.PlannedDay, &published, &changed, &e.SeriesID, &e.slot)
	e.ScheduledAt, e.PublishedAt, e.Changed = db.Time(scheduled), db.Time(published), db.Time(changed)
	return err
}

// listQuery returns the SQL of a page. Each tab walks its index in order. All posts of an account walk the account's
// index.
func listQuery(team int64, f Filter, cursor string, limit int) (string, []any, error) {
	t := f.Tab.tab()
	byTime, earliest := f.ByTime()
	q := query{from: "posts p", order: "p.id DESC"}
	switch {
	case f.Account > 0 && f.Tab == All && !byTime:
		q.from, q.order = "post_targets t CROSS JOIN posts p", "t.post_id DESC"
		q.add("t.account_id = (SELECT a.id FROM social_accounts a WHERE a.team_id = ? AND a.id = ?)", team, f.Account)
		q.add("p.id = t.post_id || ''") // keeps PostgreSQL from reading all of the team's posts first
	case f.Account > 0:
		q.add("p.team_id = "+db.TeamPlaceholder, team)
		q.add("(SELECT t.position FROM post_targets t WHERE t.post_id = p.id AND t.account_id = ?) >= 0", f.Account)
	default:
		q.add("p.team_id = "+db.TeamPlaceholder, team)
	}
	if f.Text != "" {
		q.add(`p.id >= COALESCE((SELECT n.id FROM posts n WHERE n.team_id = `+db.TeamPlaceholder+
			` ORDER BY n.id DESC LIMIT 1 OFFSET ?), '')`, team, searched-1)
		q.add(`(p.caption LIKE ? ESCAPE '\' OR LOWER(p.caption) LIKE ? ESCAPE '\')`, pattern(f.Text),
			pattern(strings.ToLower(f.Text)))
	}
	if byTime {
		q.order = "p.slot_at DESC, p.id DESC"
		if earliest {
			q.order = "p.slot_at, p.id"
		}
		q.addBounds(f)
	}
	if t.where != "" {
		q.add(t.where)
	}
	if err := q.after(cursor, byTime, earliest); err != nil {
		return "", nil, err
	}
	return `SELECT p.id, p.status, p.excerpt, p.scheduled_at, p.planned_day, p.published_at, p.updated_at, p.series_id,
		p.slot_at FROM ` + q.from + ` WHERE ` + strings.Join(q.where, " AND ") + ` ORDER BY ` + q.order + db.LimitClause(limit), q.args, nil
}

type query struct {
	from, order string
	where       []string
	args        []any
}

func (q *query) add(where string, args ...any) {
	q.where, q.args = append(q.where, where), append(q.args, args...)
}

// addBounds limits the time. The lower bound comes before the predicate of the index, because SQLite uses the first of
// two.
func (q *query) addBounds(f Filter) {
	if !f.From.IsZero() {
		q.add("p.slot_at >= ?", db.Micros(f.From))
	}
	if !f.To.IsZero() {
		q.add("p.slot_at < ?", db.Micros(f.To))
	}
	if f.dated() { // other posts have a slot only to count toward the monthly limit
		q.add("(p.scheduled_at > 0 OR p.published_at > 0)")
	}
	q.add("p.slot_at > 0")
}

// after starts the page after the cursor.
func (q *query) after(cursor string, byTime, earliest bool) error {
	if cursor == "" {
		return nil
	}
	slot, id, _ := strings.Cut(cursor, ".")
	at, err := strconv.ParseInt(slot, 10, 64)
	if err != nil || id == "" {
		return apierr.Invalid(apierr.InvalidCursor, "cursor", "This page of the list does not exist. Start at the first page.")
	}
	switch {
	case byTime && earliest:
		q.add("(p.slot_at, p.id) > (?, ?)", at, id)
	case byTime:
		q.add("(p.slot_at, p.id) < (?, ?)", at, id)
	case strings.HasPrefix(q.order, "t."):
		q.add("t.post_id < ?", id)
	default:
		q.add("p.id < ?", id)
	}
	return nil
}

// pattern returns a LIKE pattern that matches a part of a text.
func pattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}
