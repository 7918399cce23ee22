// Package listquery builds the SQL query for a page of the list of posts.
package listquery

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Filter selects the posts of a list. Nil and empty fields select all.
type Filter struct {
	Status    string
	AccountID *int64
	From, To  *string // ISO 8601
	Cursor    *string
}

// Query builds the SQL query of one page.
type Query struct {
	from       string
	where      []string
	args       []any
	order      string
	bySlot     bool
	EmptyRange bool // whether to is not after from
}

// New returns the query of a page.
func New(call operation.Call, in Filter) (*Query, error) {
	q := &Query{from: "posts p", order: "p.id DESC", bySlot: in.From != nil || in.To != nil}
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
			return nil, posttime.Invalid(bound.name, err)
		}
		q.add(bound.where, db.Micros(at))
		bounds = append(bounds, at)
	}
	q.EmptyRange = len(bounds) == 2 && !bounds[1].After(bounds[0])
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
func (q *Query) restrict(team int64, in Filter) {
	if in.AccountID != nil && !q.bySlot && (in.Status == "" || in.Status == "published") {
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

// slotPredicate is the predicate of the partial index on slot_at. It must follow the bounds in the query, because
// SQLite uses the first of two lower bounds, and slotPredicate alone would select the whole index.
const slotPredicate = "p.slot_at > 0"

func (q *Query) add(where string, args ...any) {
	q.where, q.args = append(q.where, where), append(q.args, args...)
}

// after makes the page begin after the cursor. A nil cursor means the first page.
func (q *Query) after(call operation.Call, cursor *string) error {
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

// SQL returns the query of a page with its arguments.
func (q *Query) SQL(limit int) (string, []any) {
	return `SELECT p.id, p.status, p.title, p.excerpt, p.scheduled_at, p.submitted_at, p.published_at, p.series_id,
		p.is_template FROM ` + q.from +
		` WHERE ` + strings.Join(q.where, " AND ") + ` ORDER BY ` + q.order + db.LimitClause(limit), q.args
}

// Position returns the position of a post in the list, for a cursor. slot is the time that the list is sorted by, in
// microseconds.
func (q *Query) Position(id string, slot int64) string {
	if !q.bySlot {
		slot = 0
	}
	return strconv.FormatInt(slot, 10) + "|" + id
}
