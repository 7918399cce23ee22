// Package settings is where people look after their team: its API keys, its assistants and their switch, its name,
// clock and language, its members, its plan and its credits, and the record of who did what.
package settings

import (
	"embed"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/account"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/domain/ratelimit"
	"pressroom/internal/domain/report"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html zones.txt
var files embed.FS

var pages = shell.Parse(files, words)

// Services are whose figures the settings show.
type Services struct {
	Credits  *credit.Service
	Calls    *ratelimit.Calls
	Accounts *account.Service
	Posts    *post.Service
	Media    *media.Service
	Lists    *list.Service
	Reports  *report.Service

	DirectoryOnly bool // people sign in by the operator's directory alone
}

// Part is these pages.
type Part struct {
	*shell.Frame
	Services
}

// New makes them.
func New(f *shell.Frame, s Services) *Part { return &Part{f, s} }

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /settings", For: shell.Members, Do: p.overview},
		{Pattern: "GET /settings/keys", For: shell.Managers, Do: p.keysPage, Urgent: true},
		{Pattern: "GET /settings/keys/new", For: shell.Owners, Do: p.newKeyPage},
		{Pattern: "POST /settings/keys", For: shell.Owners, Do: p.addKey, Recent: true, Resumes: true, Page: "/settings/keys/new"},
		{Pattern: "GET /settings/keys/{key}", For: shell.Members, Do: p.keyPage, Urgent: true},
		{Pattern: "POST /settings/keys/{key}", For: shell.Owners, Do: p.changeKey, Recent: true, Resumes: true},
		{Pattern: "GET /settings/keys/{key}/revoke", For: shell.Owners, Do: p.revokePage, Urgent: true},
		{Pattern: "POST /settings/keys/{key}/revoke", For: shell.Owners, Do: p.revokeKey, Urgent: true},
		{Pattern: "GET /settings/assistants", For: shell.Members, Do: p.assistantsPage, Urgent: true},
		{Pattern: "GET /settings/assistants/{connection}", For: shell.Members, Do: p.assistantPage, Urgent: true},
		{Pattern: "POST /settings/assistants/{connection}", For: shell.Owners, Do: p.limitAssistant, Recent: true, Resumes: true},
		{Pattern: "GET /settings/assistants/{connection}/end", For: shell.Members, Do: p.endAssistantPage, Urgent: true},
		{Pattern: "POST /settings/assistants/{connection}/end", For: shell.Members, Do: p.endAssistant, Urgent: true},
		{Pattern: "GET /settings/access", For: shell.Managers, Do: p.accessPage, Urgent: true},
		{Pattern: "POST /settings/access", For: shell.Owners, Do: p.switchAccess, Urgent: true},
		{Pattern: "GET /settings/team", For: shell.Members, Do: p.teamPage},
		{Pattern: "POST /settings/team", For: shell.Managers, Do: p.changeTeam, Resumes: true},
		{Pattern: "POST /settings/team/second-factor", For: shell.Owners, Do: p.requireFactor, Recent: true},
		{Pattern: "GET /settings/members", For: shell.Managers, Do: p.membersPage},
		{Pattern: "GET /settings/members/{person}", For: shell.Managers, Do: p.memberPage},
		{Pattern: "POST /settings/members/{person}", For: shell.Managers, Do: p.changeRole, Recent: true},
		{Pattern: "GET /settings/members/{person}/remove", For: shell.Managers, Do: p.removePage},
		{Pattern: "POST /settings/members/{person}/remove", For: shell.Managers, Do: p.removeMember, Recent: true},
		{Pattern: "GET /settings/members/{person}/owner", For: shell.Owners, Do: p.handOnPage},
		{Pattern: "POST /settings/members/{person}/owner", For: shell.Owners, Do: p.handOn, Recent: true},
		{Pattern: "POST /settings/invitations", For: shell.Managers, Do: p.invite, Recent: true, Resumes: true, Page: "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/revoke", For: shell.Managers, Do: p.takeBack},
		{Pattern: "POST /settings/invitations/{invitation}/confirm", For: shell.Managers, Do: p.confirmMember, Recent: true, Page: "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/decline", For: shell.Managers, Do: p.declineMember},
		{Pattern: "GET /settings/plan", For: shell.Members, Do: p.planPage},
		{Pattern: "GET /settings/credits", For: shell.Members, Do: p.creditsPage},
		{Pattern: "POST /settings/credits/limit", For: shell.Owners, Do: p.setLimit, Recent: true, Resumes: true, Page: "/settings/credits"},
		{Pattern: "GET /settings/credits/statement.csv", For: shell.Managers, Do: p.statement, Urgent: true},
		{Pattern: "GET /settings/audit", For: shell.Managers, Do: p.auditPage},
	}
}

func (p *Part) overview(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["overview"], "Settings", nil)
}

// hand is the visitor's in the team that is looked at.
func (p *Part) hand(r *http.Request) team.Admin {
	v := shell.VisitorOf(r.Context())
	return p.Teams.Admin(v.ID, v.Team.ID)
}

// here is the team that is looked at.
func here(r *http.Request) int64 { return shell.VisitorOf(r.Context()).Team.ID }

// zone is the one of the team that is looked at.
func zone(r *http.Request) *time.Location {
	z, err := time.LoadLocation(shell.VisitorOf(r.Context()).Team.Timezone)
	if err != nil {
		return time.UTC // no team has one that there is not
	}
	return z
}

// in is an instant in a zone; none stays none.
func in(at time.Time, zone *time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}

// wrong is what a form was refused for, and the field that it is about.
type wrong struct{ Wrong, Field string }

// wrongOf tells a refusal that the person can mend at the form. It has answered already where that is false.
func (p *Part) wrongOf(w http.ResponseWriter, r *http.Request, err error) (wrong, bool) {
	f := apierr.Of(err)
	if f.IsServerError() || f.Code == apierr.NotFound {
		p.Refuse(w, r, err)
		return wrong{}, false
	}
	field, _ := f.Context["argument"].(string)
	return wrong{f.Detail, field}, true
}

// did ends a form that has done its work.
func (p *Part) did(w http.ResponseWriter, r *http.Request, said, next string) {
	p.Say(r, said)
	shell.Redirect(w, r, next)
}

// numberIn is an id in the address.
func numberIn(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Missing()
	}
	return id, nil
}

// creditsIn reads a number of credits out of a form; nil where it is empty.
func creditsIn(text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no limit is no number
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, apierr.Invalid(apierr.NotAnInteger, "daily_credits",
			"Enter a daily limit of 0 or more credits. Leave it empty for none.")
	}
	return &n, nil
}
