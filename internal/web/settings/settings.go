// Package settings serves the pages of a team's settings: API keys, apps and assistants, the profile, members, the
// plan, credits, and the audit log.
package settings

import (
	"embed"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, nil, words)

// Services are the services that the settings pages use.
type Services struct {
	Credits  *credit.Service
	Calls    *ratelimit.FreeCalls
	Accounts *account.Service
	Media    *media.Service
	Lists    *list.Service
	Reports  *report.Service

	Notifications *notification.Service

	DirectoryOnly bool // people can sign in only with the directory
}

// Handlers serves the settings pages.
type Handlers struct {
	*shell.Shell
	Services
}

// New returns the handlers.
func New(f *shell.Shell, s Services) *Handlers { return &Handlers{f, s} }

// Routes returns the routes of the pages.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /settings", For: shell.Members, Do: p.overview},
		{Pattern: "GET /settings/keys", For: shell.Managers, Do: p.keysPage, Urgent: true},
		{Pattern: "GET /settings/keys/new", For: shell.Owners, Do: p.newKeyPage},
		{Pattern: "POST /settings/keys", For: shell.Owners, Do: p.addKey, Recent: true, RestoresForm: true,
			Page: "/settings/keys/new"},
		{Pattern: "GET /settings/keys/{key}", For: shell.Members, Do: p.keyPage, Urgent: true},
		{Pattern: "POST /settings/keys/{key}", For: shell.Owners, Do: p.changeKey, Recent: true, RestoresForm: true},
		{Pattern: "GET /settings/keys/{key}/revoke", For: shell.Owners, Do: p.revokePage, Urgent: true},
		{Pattern: "POST /settings/keys/{key}/revoke", For: shell.Owners, Do: p.revokeKey, Urgent: true},
		{Pattern: "GET /settings/assistants", For: shell.Members, Do: p.assistantsPage, Urgent: true},
		{Pattern: "GET /settings/assistants/{connection}", For: shell.Members, Do: p.assistantPage, Urgent: true},
		{Pattern: "POST /settings/assistants/{connection}", For: shell.Owners, Do: p.limitAssistant, Recent: true,
			RestoresForm: true},
		{Pattern: "GET /settings/assistants/{connection}/end", For: shell.Members, Do: p.endAssistantPage,
			Urgent: true},
		{Pattern: "POST /settings/assistants/{connection}/end", For: shell.Members, Do: p.endAssistant, Urgent: true},
		{Pattern: "GET /settings/access", For: shell.Managers, Do: p.accessPage, Urgent: true},
		{Pattern: "POST /settings/access", For: shell.Owners, Do: p.switchAccess, Urgent: true},
		{Pattern: "GET /settings/team", For: shell.Members, Do: p.teamPage},
		{Pattern: "POST /settings/team", For: shell.Managers, Do: p.changeTeam, RestoresForm: true},
		{Pattern: "POST /settings/team/tiktok", For: shell.Managers, Do: p.changeTikTok},
		{Pattern: "POST /settings/team/second-factor", For: shell.Owners, Do: p.requireFactor, Recent: true},
		{Pattern: "GET /settings/members", For: shell.Managers, Do: p.membersPage},
		{Pattern: "GET /settings/members/{person}", For: shell.Managers, Do: p.memberPage},
		{Pattern: "POST /settings/members/{person}", For: shell.Managers, Do: p.changeRole, Recent: true},
		{Pattern: "GET /settings/members/{person}/remove", For: shell.Managers, Do: p.removePage},
		{Pattern: "POST /settings/members/{person}/remove", For: shell.Managers, Do: p.removeMember, Recent: true},
		{Pattern: "GET /settings/members/{person}/owner", For: shell.Owners, Do: p.transferPage},
		{Pattern: "POST /settings/members/{person}/owner", For: shell.Owners, Do: p.transfer, Recent: true},
		{Pattern: "POST /settings/invitations", For: shell.Managers, Do: p.invite, Recent: true, RestoresForm: true,
			Page: "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/revoke", For: shell.Managers, Do: p.revokeInvitation},
		{Pattern: "POST /settings/invitations/{invitation}/confirm", For: shell.Managers, Do: p.confirmMember,
			Recent: true, Page: "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/decline", For: shell.Managers, Do: p.declineMember},
		{Pattern: "GET /settings/plan", For: shell.Members, Do: p.planPage},
		{Pattern: "GET /settings/credits", For: shell.Members, Do: p.creditsPage},
		{Pattern: "POST /settings/credits/threshold", For: shell.Owners, Do: p.setThreshold},
		{Pattern: "POST /settings/credits/limit", For: shell.Owners, Do: p.setLimit, Recent: true, RestoresForm: true,
			Page: "/settings/credits"},
		{Pattern: "GET /settings/credits/statement.csv", For: shell.Managers, Do: p.statement, Urgent: true},
		{Pattern: "GET /settings/audit", For: shell.Managers, Do: p.auditPage},
		{Pattern: "GET /settings/audit.csv", For: shell.Managers, Do: p.auditFile, Urgent: true},
	}
}

func (p *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	shell.Redirect(w, r, "/settings/team")
}

// admin returns the visitor's administrative access to the selected team.
func (p *Handlers) admin(r *http.Request) team.Admin {
	v := shell.VisitorOf(r.Context())
	return p.Teams.Admin(v.ID, v.Team.ID)
}

// teamID returns the ID of the selected team.
func teamID(r *http.Request) int64 { return shell.VisitorOf(r.Context()).Team.ID }

// zone returns the time zone of the selected team.
func zone(r *http.Request) *time.Location {
	z, err := time.LoadLocation(shell.VisitorOf(r.Context()).Team.Timezone)
	if err != nil {
		return time.UTC // unreachable: teams have valid zones
	}
	return z
}

// in converts a time to a zone. It returns the zero time unchanged.
func in(at time.Time, zone *time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}

// fieldError is the error of a form, and the name of the field that it is about.
type fieldError struct{ Error, Field string }

// formError returns a client error for display in the form. For a server error or not_found, it writes the error
// response and returns false.
func (p *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (fieldError, bool) {
	f := apierr.FromError(err)
	if f.IsServerError() || f.Code == apierr.NotFound {
		p.ShowError(w, r, err)
		return fieldError{}, false
	}
	field, _ := f.Context["argument"].(string)
	return fieldError{p.Detail(r, err), field}, true
}

// finish redirects to next, which shows a confirmation message.
func (p *Handlers) finish(w http.ResponseWriter, r *http.Request, message locale.Key, next string) {
	p.Flash(r, message)
	shell.Redirect(w, r, next)
}

// creditsIn parses a daily limit in credits. It returns nil, which means no limit, for an empty text.
func creditsIn(text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil means no limit
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, apierr.Invalid(apierr.NotAnInteger, "daily_credits",
			"Enter a daily limit of 0 or more credits. Leave it empty for none.")
	}
	return &n, nil
}
