package postlist

import (
	"context"
	"fmt"
	"strings"

	"pressroom/internal/domain/post"
	"pressroom/internal/platform/db"
)

// Tab is a part of the list of posts.
type Tab string

// The tabs.
const (
	All           Tab = ""
	Drafts        Tab = "draft"
	Scheduled     Tab = "scheduled"
	NeedsApproval Tab = "waiting"
	Published     Tab = "published"
	Failed        Tab = "failed"
	Archived      Tab = "archived"
)

// tab is what a tab lists, and how.
type tab struct {
	name  Tab
	where string // uses the same words as the predicate of its index
	time  bool   // sorted by time, else by creation
	first bool   // the earliest first
}

// tabs are the tabs in the order of the page. Templates of series are only among all posts, because they never go out.
var tabs = []tab{
	{All, "", false, false},
	{Drafts, "p.status = 'draft' AND p.is_template = 0", false, false},
	{Scheduled, "p.status = 'scheduled' AND p.is_template = 0 AND p.slot_at > 0", true, true},
	{NeedsApproval, "p.approval = 'waiting' AND p.is_template = 0 AND p.status || '' IN ('draft', 'scheduled', 'failed') " +
		"AND (p.status <> 'failed' OR (SELECT COUNT(*) FROM post_targets m WHERE m.post_id = p.id AND m.error_code = '" +
		post.CodeMissedApproval + "') > 0)", false, false}, // EXISTS would read the accounts of all teams
	{Published, "p.status IN ('processing', 'published', 'partially_published') AND p.slot_at > 0", true, false},
	{Failed, "p.status IN ('failed', 'partially_published') AND p.archived_at = 0 AND p.slot_at > 0", true, false},
	{Archived, "p.archived_at > 0", false, false},
}

// aliases are states of posts that a link may name instead of a tab.
var aliases = map[string]Tab{"processing": Published, "partially_published": Failed, "unconfirmed": Failed}

// ParseTab returns the tab that a text names, or false.
func ParseTab(text string) (Tab, bool) {
	if name, ok := aliases[text]; ok {
		return name, true
	}
	for _, t := range tabs {
		if string(t.name) == text {
			return t.name, true
		}
	}
	return All, false
}

func (name Tab) tab() tab {
	for _, t := range tabs {
		if t.name == name {
			return t
		}
	}
	return tabs[0]
}

// MaxCounted is how far tabs are counted.
const MaxCounted = 1000

// Count is the number of posts in a tab, at most MaxCounted.
type Count struct {
	Tab Tab
	N   int
}

// Counts returns how many posts each tab has, in the order of the page.
func Counts(ctx context.Context, d *db.DB, team int64) ([]Count, error) {
	text, args := countsQuery(team)
	out := make([]Count, len(tabs))
	into := make([]any, len(tabs))
	for i, t := range tabs {
		out[i].Tab, into[i] = t.name, &out[i].N
	}
	if err := d.QueryRow(ctx, text, args...).Scan(into...); err != nil {
		return nil, fmt.Errorf("counting the posts of team %d: %w", team, err)
	}
	return out, nil
}

// countsQuery counts each tab by its index. The order keeps PostgreSQL from reading the posts of other teams.
func countsQuery(team int64) (string, []any) {
	parts, args := make([]string, len(tabs)), make([]any, len(tabs))
	for i, t := range tabs {
		where := "p.team_id = " + db.TeamPlaceholder
		if t.where != "" {
			where += " AND " + t.where
		} else {
			where += " ORDER BY p.id DESC"
		}
		parts[i] = fmt.Sprintf("(SELECT COUNT(*) FROM (SELECT 1 FROM posts p WHERE %s LIMIT %d) c%d)", where, MaxCounted, i)
		args[i] = team
	}
	return "SELECT " + strings.Join(parts, ", "), args
}
