package web

import (
	"context"
	"fmt"
	"net/http"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/web/shell"
)

// checklistDismissed is the kind of the audit log event that hides a team's checklist.
const checklistDismissed = "team.checklist_dismissed"

// step is a step of the checklist of a new team.
type step struct {
	Path, Icon string
	Text, Hint locale.Key
	Done       bool
}

// checklist returns the setup steps of a new team, for its owner and admins. It returns nil once all steps are done or
// somebody has dismissed the checklist.
func (a *App) checklist(ctx context.Context, v *shell.Visitor) ([]step, error) {
	if !v.Is(shell.Managers) {
		return nil, nil
	}
	var hasAccount, hasPost, hasTeammate, hasRequest, dismissed int64
	err := a.DB.QueryRow(ctx, `SELECT
		CASE WHEN EXISTS (SELECT 1 FROM social_accounts WHERE team_id = t.id AND disconnected_at = 0) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM posts WHERE team_id = t.id) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM memberships WHERE team_id = t.id AND person_id <> ?)
			OR EXISTS (SELECT 1 FROM invitations WHERE team_id = t.id) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM approval_requests WHERE team_id = t.id) THEN 1 ELSE 0 END,
		CASE WHEN EXISTS (SELECT 1 FROM events WHERE team_id = t.id AND kind = ?) THEN 1 ELSE 0 END
		FROM teams t WHERE t.id = ?`, v.ID, checklistDismissed, v.Team.ID).
		Scan(&hasAccount, &hasPost, &hasTeammate, &hasRequest, &dismissed)
	if err != nil {
		return nil, fmt.Errorf("reading the checklist of team %d: %w", v.Team.ID, err)
	}
	if dismissed > 0 || hasAccount+hasPost+hasTeammate+hasRequest == 4 {
		return nil, nil
	}
	return []step{
		{"/accounts", "share-line", "Connect an account", "Connect a social account to publish to it.", hasAccount > 0},
		{"/posts/new", "pencil-line", "Write a post", "Publish, schedule, or save it as a draft.", hasPost > 0},
		{"/settings/members", "team-line", "Invite a teammate", "Add them as an admin, editor, viewer, or client.",
			hasTeammate > 0},
		{"/approvals", "checkbox-circle-line", "Send for approval", "Share a link with a client. No account needed.",
			hasRequest > 0},
	}, nil
}

// dismissChecklist removes the checklist from the team's home page.
func (a *App) dismissChecklist(w http.ResponseWriter, r *http.Request) {
	if !a.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	err := a.DB.InTx(r.Context(), "web.dismiss_checklist", func(ctx context.Context, tx *db.Tx) error {
		return auditlog.Record(ctx, tx, v.Team.ID, auditlog.Actor{PersonID: v.ID}, checklistDismissed, fmt.Sprint(v.Team.ID), nil)
	})
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, "/")
}
