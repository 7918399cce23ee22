package shell

import (
	"html/template"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
)

var forbiddenPage = shellPage("forbidden", forbiddenView{})

// audiencePermissions describes what each audience may do.
var audiencePermissions = map[Audience]locale.Key{
	Writers: "create and change drafts", Publishers: "schedule and publish posts", Spenders: "spend credits",
	Managers: "manage the team", Owners: "manage owner-only settings", Clients: "decide on posts for the client",
}

// roleSentences maps roles to sentences about the visitor's role in a team (%s).
var roleSentences = map[access.Role]locale.Key{
	access.Owner:  "You are the owner in <strong><bdi>%s</bdi></strong>.",
	access.Admin:  "You are an admin in <strong><bdi>%s</bdi></strong>.",
	access.Editor: "You are an editor in <strong><bdi>%s</bdi></strong>.",
	access.Viewer: "You are a viewer in <strong><bdi>%s</bdi></strong>.",
	access.Client: "You are a client in <strong><bdi>%s</bdi></strong>.",
}

// roleNouns maps roles to plural nouns. The owner is singular, because a team has only one owner.
var roleNouns = map[access.Role]locale.Key{
	access.Owner: "the owner", access.Admin: "admins", access.Editor: "editors", access.Viewer: "viewers",
	access.Client: "clients",
}

// maxManagers is the maximum number of people named on the page about a missing permission.
const maxManagers = 4

// forbiddenView is the page about a missing permission.
type forbiddenView struct {
	Role       locale.Key // sentence about the visitor's role, with %s for the team; empty for an unknown role
	Permission string     // sentence about the missing permission; may be empty
	Managers   []string   // names of people who can grant the permission
}

// Names returns the names of the managers as HTML.
func (v forbiddenView) Names() template.HTML {
	out := make([]string, len(v.Managers))
	for i, name := range v.Managers {
		out[i] = "<strong><bdi>" + template.HTMLEscapeString(name) + "</bdi></strong>"
	}
	return template.HTML(strings.Join(out, ", ")) //nolint:gosec // escaped
}

// Forbid writes the error page for a visitor who does not belong to the audience of a route. The page names the missing
// permission and the people who can grant it.
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

// permissionText describes an audience's permission and names the roles that have it. It returns "" if the audience is
// not in audiencePermissions.
func permissionText(l *locale.Language, a Audience) string {
	permission, ok := audiencePermissions[a]
	roles := rolesOf(a)
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = l.T(roleNouns[role])
	}
	switch {
	case !ok:
		return ""
	case len(roles) == 0:
		return l.T("This needs permission to %s.", permission)
	case len(roles) == 1 && roles[0] == access.Owner:
		return l.T("This needs permission to %s, which %s has.", permission, names[0])
	}
	return l.T("This needs permission to %s, which %s have.", permission, l.And(names))
}

// rolesOf returns the roles that belong to an audience.
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
