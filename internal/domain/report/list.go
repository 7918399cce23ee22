package report

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// ReportEntry is a report in a list.
type ReportEntry struct {
	ID             string           `json:"id"`
	Kind           string           `json:"kind" enum:"profile|hashtag" title:"ReportKind"`
	Subject        string           `json:"subject" jsonschema:"User name or hashtag, without @ or #."`
	Status         Status           `json:"status" enum:"pending|ready|error" title:"ReportStatus"`
	Platform       string           `json:"platform" enum:"instagram|tiktok" title:"AnalysisPlatform"`
	RefreshedAt    *teamtime.Moment `json:"refreshed_at,omitempty" jsonschema:"When its data was last fetched."`
	AvailableUntil *teamtime.Moment `json:"available_until,omitempty" jsonschema:"When it expires. Each refresh extends this."`
	Tracked        bool             `json:"tracked" jsonschema:"Whether it is refreshed automatically."`
}

// ReportList is a page of reports.
type ReportList struct {
	Reports []ReportEntry `json:"reports"`
}

// ListInput is the input of list_reports.
type ListInput struct {
	Type        string  `json:"type,omitempty" enum:"profile|hashtag" title:"ReportKind" jsonschema:"Only reports of this kind."`
	Platform    string  `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform"`
	Status      Status  `json:"status,omitempty" enum:"pending|ready|error" title:"ReportStatus"`
	TrackedOnly bool    `json:"tracked_only,omitempty" jsonschema:"Only reports that are refreshed automatically."`
	Query       string  `json:"query,omitempty" maxLength:"200" jsonschema:"Only reports whose profile name or hashtag contains this."`
	Cursor      *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous page."`
	Limit       int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListInput) Descriptions() map[string]string {
	return map[string]string{
		"platform": "Only reports on this network.",
		"status":   "Only reports with this status.",
	}
}

// list returns a page of the team's reports, newest first.
func (s *Service) list(ctx context.Context, call operation.Call, in ListInput) (operation.Response[ReportList], error) {
	out := operation.Response[ReportList]{App: "/reports", Data: ReportList{Reports: []ReportEntry{}}}
	query, args, err := s.pageQuery(call, in)
	if err != nil {
		return out, err
	}
	records, err := db.AllSized(ctx, s.db, in.Limit+1, func(rows *sql.Rows, r *record) error { return r.scan(rows.Scan) },
		query, args...)
	if err != nil {
		return out, fmt.Errorf("listing reports: %w", err)
	}
	if len(records) > in.Limit {
		records = records[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(records[in.Limit-1].id)}
	}
	for _, r := range records {
		out.Data.Reports = append(out.Data.Reports, newEntry(call, r))
	}
	return out, nil
}

func newEntry(call operation.Call, r record) ReportEntry {
	return ReportEntry{ID: r.id, Kind: r.kind, Subject: r.subject, Status: r.status, Platform: r.platform,
		RefreshedAt: call.MomentOrNil(r.refreshedAt), AvailableUntil: call.MomentOrNil(r.availableUntil), Tracked: r.tracked}
}

// availableCondition selects reports that have not expired. It is a CASE expression, which no index matches. Otherwise,
// PostgreSQL would combine indexes across teams.
const availableCondition = "CASE WHEN available_until = 0 OR tracked = 1 THEN 1 WHEN available_until > ? THEN 1 ELSE " +
	"0 END = 1"

// pageQuery returns the query for a page of the list and its arguments.
func (s *Service) pageQuery(call operation.Call, in ListInput) (string, []any, error) {
	where, args := []string{"team_id = " + db.TeamPlaceholder, availableCondition}, []any{call.TeamID, db.Micros(call.Now)}
	add := func(condition string, value any) { where, args = append(where, condition), append(args, value) }
	if in.Type != "" {
		add("kind = ?", in.Type)
	}
	if in.Platform != "" {
		add("platform = ?", in.Platform)
	}
	if in.Status != "" {
		add("status = ?", string(in.Status))
		if in.Status != Ready {
			where = append(where, "status <> 'ready'") // matches the condition of the partial index
		}
	}
	if in.TrackedOnly {
		where = append(where, "tracked = 1")
	}
	if in.Query != "" {
		add(`subject LIKE ? ESCAPE '\'`, likePattern(in.Query))
	}
	if in.Cursor != nil {
		position, err := call.Position(*in.Cursor)
		if err != nil {
			return "", nil, err
		}
		add("id < ?", position)
	}
	// Rows are large, so the query first finds the page in a covering index.
	pageIDs := `SELECT id FROM reports WHERE ` + strings.Join(where, " AND ") + ` ORDER BY id DESC` + db.LimitClause(in.Limit)
	return `SELECT ` + columns + ` FROM reports WHERE id IN (` + pageIDs + `) ORDER BY id DESC`, args, nil
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// likePattern returns a LIKE pattern for subjects that contain a text, without its leading @ or #.
func likePattern(text string) string {
	return "%" + likeEscaper.Replace(strings.TrimLeft(strings.TrimSpace(provider.NormalizeText(text)), "@#")) + "%"
}
