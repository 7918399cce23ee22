package shell

import (
	"html/template"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
)

var forbiddenPage = ownPage("templates/forbidden.html")

// audiencePermissions are what the audiences may do.
var audiencePermissions = map[Audience]locale.Key{
	Writers: "create and change drafts", Publishers: "schedule and publish posts", Spenders: "spend credits",
	Managers: "manage the team", Owners: "manage owner-only settings", Clients: "decide on posts for the client",
}

// roleSentences say which role somebody has in a team.
var roleSentences = map[access.Role]locale.Key{
	access.Owner:  "You are the owner in <strong><bdi>%s</bdi></strong>.",
	access.Admin:  "You are an admin in <strong><bdi>%s</bdi></strong>.",
	access.Editor: "You are an editor in <strong><bdi>%s</bdi></strong>.",
	access.Viewer: "You are a viewer in <strong><bdi>%s</bdi></strong>.",
	access.Client: "You are a client in <strong><bdi>%s</bdi></strong>.",
}

// roleNouns are the roles in the plural. There is one owner.
var roleNouns = map[access.Role]locale.Key{
	access.Owner: "the owner", access.Admin: "admins", access.Editor: "editors", access.Viewer: "viewers",
	access.Client: "clients",
}

// maxManagers is how many owners and admins the page for missing permissions names.
const maxManagers = 4

// forbiddenView is the page for a missing permission.
type forbiddenView struct {
	Role       locale.Key // a sentence with the name of the team; empty without a role
	Permission string     // a sentence about what is missing; empty if the role alone decides
	Managers   []string
}

// Names returns the names of the managers as a list.
func (v forbiddenView) Names() template.HTML {
	out := make([]string, len(v.Managers))
	for i, name := range v.Managers {
		out[i] = "<strong><bdi>" + template.HTMLEscapeString(name) + "</bdi></strong>"
	}
	return template.HTML(strings.Join(out, ", ")) //nolint:gosec // escaped
}

// Forbid answers that the person's role does not allow the request, which is for an audience. The page names the
// missing permission and who can grant it.
func (s *Shell) Forbid(w http.ResponseWriter, r *http.Request, audience Audience) {
	v := VisitorOf(r.Context())
	managers, err := s.Teams.Managers(r.Context(), v.Team.ID, maxManagers)
	if err != nil {
		s.ServerError(w, r, err)
		return
	}
	view := forbiddenView{
		Role: roleSentences[v.Team.Role], Permission: permissionText(s.Language(r), audience), Managers: managers,
	}
	s.show(w, r, http.StatusForbidden, forbiddenPage, page{Title: s.T(r, "Not allowed"), Body: view})
}

// permissionText says which permission an audience has and who belongs to it.
func permissionText(l *locale.Language, a Audience) string {
	permission, ok := audiencePermissions[a]
	having := rolesOf(a)
	names := make([]string, len(having))
	for i, role := range having {
		names[i] = l.T(roleNouns[role])
	}
	switch {
	case !ok:
		return ""
	case len(having) == 0:
		return l.T("This needs permission to %s.", permission)
	case len(having) == 1 && having[0] == access.Owner:
		return l.T("This needs permission to %s, which %s has.", permission, names[0])
	}
	return l.T("This needs permission to %s, which %s have.", permission, l.And(names))
}

// rolesOf returns the roles of an audience.
func rolesOf(a Audience) []access.Role {
	var out []access.Role
	for _, role := range access.Roles() {
		v := Visitor{}
		if v.Team.Role = role; v.Is(a) {
			out = append(out, role)
		}
	}
	return out
}
