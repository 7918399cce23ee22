package postlist

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// searchLimit is the number of a team's newest posts that a text search covers.
const searchLimit = 5000

// Filter selects posts.
type Filter struct {
	Tab      Tab
	Account  int64     // 0 for all
	Text     string    // part of the caption, ignoring case; only the newest posts are searched
	From, To time.Time // range of publication or scheduled times; To is exclusive
}

// IsGrouped reports whether the list is divided into groups, each with its own order. Only a list without filters is
// grouped.
func (f Filter) IsGrouped() bool { return f == Filter{} }

// ByTime reports whether the posts are sorted by time, and whether the earliest post is first. Otherwise they are
// sorted by creation, newest first.
func (f Filter) ByTime() (bool, bool) {
	t := f.definition()
	return t.byTime || f.hasDates(), t.earliestFirst
}

func (f Filter) hasDates() bool { return !f.From.IsZero() || !f.To.IsZero() }

// Entry is a post in the list.
type Entry struct {
	Details

	ID, Excerpt string
	Status      post.Status
	ScheduledAt time.Time // the planned time of a draft; zero if there is none
	PlannedDay  string    // planned day of a draft without a time
	PublishedAt time.Time
	Changed     time.Time // when the post was last changed
	SeriesID    int64
	Accounts    []post.PostEntryAccount
	Group       Tab // the entry's group; empty in a list without groups

	slot int64
}

// List returns a page of a team's posts and the cursor of the next page, or "" for the last page.
func List(ctx context.Context, d *db.DB, team int64, f Filter, cursor string, limit int) ([]Entry, string, error) {
	read := readPage
	if f.IsGrouped() {
		read = readGroups
	}
	page, next, err := read(ctx, d, team, f, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	return page, next, addDetails(ctx, d, team, page)
}

// addDetails sets the details and accounts of the posts of a page.
func addDetails(ctx context.Context, d *db.DB, team int64, page []Entry) error {
	ids := make([]string, len(page))
	for i, e := range page {
		ids[i] = e.ID
	}
	details, err := ListDetails(ctx, d, team, ids)
	if err != nil {
		return err
	}
	accounts, err := post.ListAccounts(ctx, d, team, ids)
	if err != nil {
		return err
	}
	for i := range page {
		page[i].Details, page[i].Accounts = details[page[i].ID], accounts[page[i].ID]
	}
	return nil
}

// readPage reads a page of posts in one order.
func readPage(ctx context.Context, d *db.DB, team int64, f Filter, cursor string, limit int) ([]Entry, string, error) {
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
	return page, next, nil
}

// readGroups reads a page of all posts, one group after another. The cursor begins with the number of its group.
func readGroups(ctx context.Context, d *db.DB, team int64, _ Filter, cursor string, limit int) ([]Entry, string, error) {
	first, rest := 0, ""
	if cursor != "" {
		number, after, _ := strings.Cut(cursor, "~")
		var err error
		if first, err = strconv.Atoi(number); err != nil || first < 0 || first >= len(groups) {
			return nil, "", errCursor()
		}
		rest = after
	}
	var out []Entry
	for i := first; i < len(groups); i++ {
		room := limit - len(out)
		page, next, err := readPage(ctx, d, team, Filter{Tab: groups[i].name}, rest, max(room, 1))
		if err != nil {
			return nil, "", err
		}
		if room == 0 && len(page) > 0 { // the page is full, and another group begins here
			return out, strconv.Itoa(i) + "~", nil
		}
		for _, e := range page {
			e.Group = groups[i].name
			out = append(out, e)
		}
		if next != "" {
			return out, strconv.Itoa(i) + "~" + next, nil
		}
		rest = ""
	}
	return out, "", nil
}

func errCursor() error {
	return apierr.Invalid(apierr.InvalidCursor, "cursor", "This page of the list does not exist. Start at the first page.")
}

func scanEntry(rows *sql.Rows, e *Entry) error {
	var scheduled, published, changed int64
	err := rows.Scan(&e.ID, &e.Status, &e.Excerpt, &scheduled, &e.PlannedDay, &published, &changed, &e.SeriesID, &e.slot)
	e.ScheduledAt, e.PublishedAt, e.Changed = db.Time(scheduled), db.Time(published), db.Time(changed)
	return err
}

// listQuery returns the SQL of a page. Each tab has an index in the order of its list. The list of all posts of an
// account uses the account's index.
func listQuery(team int64, f Filter, cursor string, limit int) (string, []any, error) {
	t := f.definition()
	byTime, earliestFirst := f.ByTime()
	q := query{from: "posts p", order: "p.id DESC"}
	switch {
	case f.Account > 0 && f.Tab == All && !byTime:
		q.from, q.order = "post_targets t CROSS JOIN posts p", "t.post_id DESC"
		q.add("t.account_id = (SELECT a.id FROM social_accounts a WHERE a.team_id = ? AND a.id = ?)", team, f.Account)
		q.add("p.id = t.post_id || ''") // keeps PostgreSQL from reading all posts of the team first
	case f.Account > 0:
		q.add("p.team_id = "+db.TeamPlaceholder, team)
		q.add("(SELECT t.position FROM post_targets t WHERE t.post_id = p.id AND t.account_id = ?) >= 0", f.Account)
	default:
		q.add("p.team_id = "+db.TeamPlaceholder, team)
	}
	if f.Text != "" {
		q.add(`p.id >= COALESCE((SELECT n.id FROM posts n WHERE n.team_id = `+db.TeamPlaceholder+
			` ORDER BY n.id DESC LIMIT 1 OFFSET ?), '')`, team, searchLimit-1)
		exact, lower := likePattern(f.Text), likePattern(strings.ToLower(f.Text))
		q.add(`(p.caption LIKE ? ESCAPE '\' OR LOWER(p.caption) LIKE ? ESCAPE '\' OR p.title LIKE ? ESCAPE '\'
			OR LOWER(p.title) LIKE ? ESCAPE '\')`, exact, lower, exact, lower)
	}
	if byTime {
		q.order = "p.slot_at DESC, p.id DESC"
		if earliestFirst {
			q.order = "p.slot_at, p.id"
		}
		q.addBounds(f)
	}
	if t.where != "" {
		q.add(t.where)
	}
	if err := q.after(cursor, byTime, earliestFirst); err != nil {
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

// addBounds limits the slot. The lower bound precedes the predicate of the index, because SQLite uses the first of two
// bounds.
func (q *query) addBounds(f Filter) {
	if !f.From.IsZero() {
		q.add("p.slot_at >= ?", db.Micros(f.From))
	}
	if !f.To.IsZero() {
		q.add("p.slot_at < ?", db.Micros(f.To))
	}
	if f.hasDates() { // Other posts have a slot only because they count toward the monthly limit.
		q.add("(p.scheduled_at > 0 OR p.published_at > 0)")
	}
	q.add("p.slot_at > 0")
}

// after makes the page begin after the cursor. An empty cursor means the first page.
func (q *query) after(cursor string, byTime, earliestFirst bool) error {
	if cursor == "" {
		return nil
	}
	slot, id, _ := strings.Cut(cursor, ".")
	at, err := strconv.ParseInt(slot, 10, 64)
	if err != nil || id == "" {
		return errCursor()
	}
	switch {
	case byTime && earliestFirst:
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

// likePattern returns a LIKE pattern for texts that contain the given text.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// LatestTexts returns the texts of a team's newest posts, without overrides, newest first.
func LatestTexts(ctx context.Context, d *db.DB, team int64, limit int) ([]string, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, text *string) error { return rows.Scan(text) },
		`SELECT caption FROM posts WHERE team_id = ? ORDER BY id DESC LIMIT ?`, team, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the texts of the newest posts: %w", err)
	}
	return out, nil
}
