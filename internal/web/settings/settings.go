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

var pages = shell.Parse(files, shell.Data{
	"assistant": assistantPageView{}, "assistantend": revokeView{}, "assistants": assistantsView{},
	"audit": auditView{}, "credits": creditsView{}, "invited": invitedView{}, "key": keyPageView{},
	"keymade": createdKeyView{}, "keynew": keyForm{}, "keyrevoke": revokeView{}, "keys": keysView{},
	"member": memberView{}, "memberremove": memberView{}, "members": membersView{}, "plan": planView{},
	"team": teamForm{}, "transfer": memberView{},
}, nil, templateFuncs)

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
func New(sh *shell.Shell, s Services) *Handlers { return &Handlers{sh, s} }

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /settings", Audience: shell.Members, Handler: h.overview},
		{Pattern: "GET /settings/keys", Audience: shell.Managers, Handler: h.keysPage, SkipsSlot: true},
		{Pattern: "GET /settings/keys/new", Audience: shell.Owners, Handler: h.newKeyPage},
		{Pattern: "POST /settings/keys", Audience: shell.Owners, Handler: h.addKey, RequiresRecentAuth: true,
			RestoresForm: true,
			Page:         "/settings/keys/new"},
		{Pattern: "GET /settings/keys/{key}", Audience: shell.Members, Handler: h.keyPage, SkipsSlot: true},
		{Pattern: "POST /settings/keys/{key}", Audience: shell.Owners, Handler: h.changeKey, RequiresRecentAuth: true,
			RestoresForm: true},
		{Pattern: "GET /settings/keys/{key}/revoke", Audience: shell.Owners, Handler: h.revokePage, SkipsSlot: true},
		{Pattern: "POST /settings/keys/{key}/revoke", Audience: shell.Owners, Handler: h.revokeKey, SkipsSlot: true},
		{Pattern: "GET /settings/assistants", Audience: shell.Members, Handler: h.assistantsPage, SkipsSlot: true},
		{Pattern: "GET /settings/assistants/{connection}", Audience: shell.Members, Handler: h.assistantPage, SkipsSlot: true},
		{Pattern: "POST /settings/assistants/{connection}", Audience: shell.Owners, Handler: h.limitAssistant,
			RequiresRecentAuth: true,
			RestoresForm:       true},
		{Pattern: "GET /settings/assistants/{connection}/end", Audience: shell.Members, Handler: h.endAssistantPage,
			SkipsSlot: true},
		{Pattern: "POST /settings/assistants/{connection}/end", Audience: shell.Members, Handler: h.endAssistant,
			SkipsSlot: true},
		{Pattern: "GET /settings/access", Audience: shell.Managers, Handler: h.accessPage, SkipsSlot: true},
		{Pattern: "POST /settings/access", Audience: shell.Owners, Handler: h.switchAccess, SkipsSlot: true},
		{Pattern: "GET /settings/team", Audience: shell.Members, Handler: h.teamPage},
		{Pattern: "POST /settings/team", Audience: shell.Managers, Handler: h.changeTeam, RestoresForm: true},
		{Pattern: "POST /settings/team/tiktok", Audience: shell.Managers, Handler: h.changeTikTok},
		{Pattern: "POST /settings/team/second-factor", Audience: shell.Owners, Handler: h.requireFactor,
			RequiresRecentAuth: true},
		{Pattern: "GET /settings/members", Audience: shell.Managers, Handler: h.membersPage},
		{Pattern: "GET /settings/members/{person}", Audience: shell.Managers, Handler: h.memberPage},
		{Pattern: "POST /settings/members/{person}", Audience: shell.Managers, Handler: h.changeRole, RequiresRecentAuth: true},
		{Pattern: "GET /settings/members/{person}/remove", Audience: shell.Managers, Handler: h.removePage},
		{Pattern: "POST /settings/members/{person}/remove", Audience: shell.Managers, Handler: h.removeMember,
			RequiresRecentAuth: true},
		{Pattern: "GET /settings/members/{person}/owner", Audience: shell.Owners, Handler: h.transferPage},
		{Pattern: "POST /settings/members/{person}/owner", Audience: shell.Owners, Handler: h.transfer,
			RequiresRecentAuth: true},
		{Pattern: "POST /settings/invitations", Audience: shell.Managers, Handler: h.invite, RequiresRecentAuth: true,
			RestoresForm: true,
			Page:         "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/revoke", Audience: shell.Managers, Handler: h.revokeInvitation},
		{Pattern: "POST /settings/invitations/{invitation}/confirm", Audience: shell.Managers, Handler: h.confirmMember,
			RequiresRecentAuth: true, Page: "/settings/members"},
		{Pattern: "POST /settings/invitations/{invitation}/decline", Audience: shell.Managers, Handler: h.declineMember},
		{Pattern: "GET /settings/plan", Audience: shell.Members, Handler: h.planPage},
		{Pattern: "GET /settings/credits", Audience: shell.Members, Handler: h.creditsPage},
		{Pattern: "POST /settings/credits/threshold", Audience: shell.Owners, Handler: h.setThreshold},
		{Pattern: "POST /settings/credits/limit", Audience: shell.Owners, Handler: h.setLimit,
			RequiresRecentAuth: true, RestoresForm: true, Page: "/settings/credits"},
		{Pattern: "GET /settings/credits/statement.csv", Audience: shell.Managers, Handler: h.statement, SkipsSlot: true},
		{Pattern: "GET /settings/audit", Audience: shell.Managers, Handler: h.auditPage},
		{Pattern: "GET /settings/audit.csv", Audience: shell.Managers, Handler: h.auditFile, SkipsSlot: true},
	}
}

func (h *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	shell.Redirect(w, r, "/settings/team")
}

// admin returns the visitor's administrative access to the selected team.
func (h *Handlers) admin(r *http.Request) team.Admin {
	v := shell.VisitorOf(r.Context())
	return h.Teams.Admin(v.ID, v.Team.ID)
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

// inZone converts a time to a zone. It returns the zero time unchanged.
func inZone(at time.Time, zone *time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	return at.In(zone)
}

// fieldError is the error of a form, and the name of the field that it is about.
type fieldError struct{ Error, Field string }

// formError returns a client error for display in the form. For a server error or not_found, it writes the error
// response and returns false.
func (h *Handlers) formError(w http.ResponseWriter, r *http.Request, err error) (fieldError, bool) {
	apiErr := apierr.FromError(err)
	if apiErr.IsServerError() || apiErr.Code == apierr.NotFound {
		h.ShowError(w, r, err)
		return fieldError{}, false
	}
	field, _ := apiErr.Context["argument"].(string)
	return fieldError{h.Detail(r, err), field}, true
}

// finish redirects to next, which shows a confirmation message.
func (h *Handlers) finish(w http.ResponseWriter, r *http.Request, message locale.Key, next string) {
	h.Flash(r, message)
	shell.Redirect(w, r, next)
}

// parseCredits parses a daily limit in credits. It returns nil (no limit) if text is empty.
func parseCredits(text string) (*int64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil means no limit
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, apierr.Invalid(apierr.NotAnInteger, "daily_credits",
			"Enter a daily limit of 0 or more credits. Leave it empty for no limit.")
	}
	return &n, nil
}
