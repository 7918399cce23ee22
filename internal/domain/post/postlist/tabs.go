package postlist

import (
	"context"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
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

// tab defines the posts of a tab and their order.
type tab struct {
	name          Tab
	where         string // repeats the predicate of the tab's index
	byTime        bool   // sorted by time; otherwise by creation
	earliestFirst bool   // earliest time first
}

// tabs are the tabs in the order of the page. Templates of series are only in All, because they are never published. A
// partially published post is only in Failed, where people look for posts that need action, or in Archived.
var tabs = []tab{
	{All, "", false, false},
	{Drafts, "p.status = 'draft' AND p.is_template = 0", false, false},
	{Scheduled, "p.status = 'scheduled' AND p.is_template = 0 AND p.slot_at > 0", true, true},
	{NeedsApproval, "p.approval = 'waiting' AND p.is_template = 0 AND p.status || '' IN ('draft', 'scheduled', 'failed') " +
		"AND (p.status <> 'failed' OR (SELECT COUNT(*) FROM post_targets m WHERE m.post_id = p.id AND m.error_code = '" +
		post.CodeMissedApproval + "') > 0)", false, false}, // EXISTS would read the accounts of all teams
	// The concatenation preserves the predicate of the index, which includes partially published posts.
	{Published, "p.status IN ('processing', 'published', 'partially_published') AND p.slot_at > 0 " +
		"AND p.status || '' <> 'partially_published'", true, false},
	{Failed, "p.status IN ('failed', 'partially_published') AND p.archived_at = 0 AND p.slot_at > 0", true, false},
	{Archived, "p.archived_at > 0", false, false}, // failed and partly published posts
}

// The groups of the list of all posts, besides Scheduled and Drafts.
const (
	Series Tab = "series" // templates of series
	Past   Tab = "past"   // submitted posts
)

// groups are the parts of the list of all posts, in the list's order. Each post is in exactly one group.
var groups = []tab{
	Scheduled.tab(),
	{Series, "p.is_template = 1", false, false},
	// Without the concatenation, databases would sort the posts of the states instead of reading them by time.
	{Past, "p.status || '' IN ('processing', 'published', 'partially_published', 'failed') AND p.is_template = 0", true, false},
	Drafts.tab(),
}

// aliases are post states that a URL may contain instead of a tab.
var aliases = map[string]Tab{"processing": Published, "partially_published": Failed, "unconfirmed": Failed}

// ParseTab returns the tab for the text of a tab or alias, and false for any other text.
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

// definition returns the tab or group.
func (f Filter) definition() tab {
	for _, g := range groups {
		if g.name == f.Tab {
			return g
		}
	}
	return f.Tab.tab()
}

// MaxCounted is the maximum count of a tab.
const MaxCounted = 1000

// Count is the number of posts in a tab, at most MaxCounted.
type Count struct {
	Tab Tab
	N   int
}

// Counts returns the number of posts in each tab, in the order of the page.
func Counts(ctx context.Context, d *db.DB, team int64) ([]Count, error) {
	text, args := countsQuery(team)
	out := make([]Count, len(tabs))
	destinations := make([]any, len(tabs))
	for i, t := range tabs {
		out[i].Tab, destinations[i] = t.name, &out[i].N
	}
	if err := d.QueryRow(ctx, text, args...).Scan(destinations...); err != nil {
		return nil, fmt.Errorf("counting the posts of team %d: %w", team, err)
	}
	return out, nil
}

// CountOf returns the number of posts in a tab, at most MaxCounted.
func CountOf(ctx context.Context, d *db.DB, team int64, name Tab) (int, error) {
	var n int
	if err := d.QueryRow(ctx, "SELECT "+countExpr(name.tab(), 0), team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the posts of a tab of team %d: %w", team, err)
	}
	return n, nil
}

// countsQuery counts each tab with its index. ORDER BY keeps PostgreSQL from reading the posts of other teams.
func countsQuery(team int64) (string, []any) {
	parts, args := make([]string, len(tabs)), make([]any, len(tabs))
	for i, t := range tabs {
		parts[i] = countExpr(t, i)
		args[i] = team
	}
	return "SELECT " + strings.Join(parts, ", "), args
}

// countExpr returns an SQL expression that counts the posts of a tab. number makes the alias of its subquery unique.
func countExpr(t tab, number int) string {
	where := "p.team_id = " + db.TeamPlaceholder
	if t.where != "" {
		where += " AND " + t.where
	} else {
		where += " ORDER BY p.id DESC"
	}
	return fmt.Sprintf("(SELECT COUNT(*) FROM (SELECT 1 FROM posts p WHERE %s LIMIT %d) c%d)", where, MaxCounted, number)
}
