package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/moment"
	"pressroom/internal/operation"
)

// List is a page of posts.
type List struct {
	Posts []Summary `json:"posts"`
}

// list gives posts, the newest first: by when they were made, or, where from or to bounds it, by the time that
// is bounded, so that each page is one walk along an index.
func (s *Service) list(ctx context.Context, call operation.Call, in ListInput) (operation.Answer[List], error) {
	out := operation.Answer[List]{App: "/posts", Data: List{Posts: []Summary{}}}
	q, err := newListQuery(call, in)
	if err != nil {
		return out, err
	}
	text, args := q.sql(in.Limit + 1)
	posts, err := db.All(ctx, s.db, scanSummary, text, args...)
	if err != nil {
		return out, fmt.Errorf("listing posts: %w", err)
	}
	if len(posts) > in.Limit {
		posts = posts[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(q.position(posts[in.Limit-1]))}
	}
	accounts, err := s.accountsOf(ctx, posts)
	if err != nil {
		return out, err
	}
	for _, p := range posts {
		named := accounts[p.ID]
		if named == nil {
			named = []AccountRef{}
		}
		out.Data.Posts = append(out.Data.Posts, Summary{ID: p.ID, Status: p.Status, ScheduledAt: call.Maybe(p.ScheduledAt), PublishedAt: call.Maybe(p.PublishedAt), Accounts: named, Excerpt: p.Excerpt})
	}
	return out, nil
}

func scanSummary(rows *sql.Rows, p *Post) error {
	var status string
	var scheduled, submitted, published int64
	err := rows.Scan(&p.ID, &status, &p.Excerpt, &scheduled, &submitted, &published)
	p.Status, p.ScheduledAt, p.SubmittedAt, p.PublishedAt = Status(status), db.Time(scheduled), db.Time(submitted), db.Time(published)
	return err
}

// listQuery is one page of a list as SQL.
type listQuery struct {
	from   string
	where  []string
	args   []any
	order  string
	bySlot bool
}

func newListQuery(call operation.Call, in ListInput) (*listQuery, error) {
	q := &listQuery{from: "posts p", order: "p.id DESC", bySlot: in.From != nil || in.To != nil}
	q.add("p.team_id = ?", call.TeamID)
	if in.AccountID != nil {
		q.from, q.order = "post_targets t JOIN posts p ON p.id = t.post_id", "t.post_id DESC"
		q.add("t.account_id = ?", *in.AccountID)
	}
	if in.Status != "" {
		q.add("p.status = ?", in.Status)
	}
	if q.bySlot {
		q.order = "p.slot_at DESC, p.id DESC"
		q.add("p.slot_at > 0")
	}
	for _, bound := range []struct {
		name  string
		text  *string
		where string
	}{{"from", in.From, "p.slot_at >= ?"}, {"to", in.To, "p.slot_at < ?"}} {
		if bound.text == nil {
			continue
		}
		at, err := moment.ParseBound(*bound.text, call.Zone)
		if err != nil {
			return nil, badTime(bound.name, err)
		}
		q.add(bound.where, db.Micros(at))
	}
	return q, q.after(call, in.Cursor)
}

func (q *listQuery) add(where string, args ...any) {
	q.where, q.args = append(q.where, where), append(q.args, args...)
}

// after begins the page behind a cursor's position.
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
		return fault.Invalid(fault.InvalidCursor, "cursor", "The cursor does not belong to this list.").Wrap(errors.New("position without a time"))
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
	return `SELECT p.id, p.status, p.excerpt, p.scheduled_at, p.submitted_at, p.published_at FROM ` + q.from +
		` WHERE ` + strings.Join(q.where, " AND ") + ` ORDER BY ` + q.order + ` LIMIT ?`, append(q.args, limit)
}

// position is where a page ends.
func (q *listQuery) position(p Post) string {
	var slot time.Time
	if q.bySlot {
		slot = p.slot()
	}
	return strconv.FormatInt(db.Micros(slot), 10) + "|" + p.ID
}

// accountsOf names the accounts of a page of posts.
func (s *Service) accountsOf(ctx context.Context, posts []Post) (map[string][]AccountRef, error) {
	out := map[string][]AccountRef{}
	if len(posts) == 0 {
		return out, nil
	}
	args := make([]any, len(posts))
	for i, p := range posts {
		args[i] = p.ID
	}
	rows, err := s.db.Query(ctx, `SELECT t.post_id, t.account_id, a.platform, a.username FROM post_targets t JOIN social_accounts a ON a.id = t.account_id
		WHERE t.post_id IN (`+db.Marks(len(args))+`) ORDER BY t.post_id, t.position`, args...)
	if err != nil {
		return nil, fmt.Errorf("naming the accounts of posts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var a AccountRef
		if err := rows.Scan(&id, &a.ID, &a.Platform, &a.Username); err != nil {
			return nil, fmt.Errorf("naming the accounts of posts: %w", err)
		}
		out[id] = append(out[id], a)
	}
	return out, rows.Err()
}
