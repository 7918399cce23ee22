package shell

import (
	"html/template"
	"net/http"
	"strings"
	"sync"

	"pressroom/internal/core/access"
)

var forbiddenPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(layout().Clone()).ParseFS(files, "templates/forbidden.html"))
})

// permissions are what the audiences may do, after "permission to".
var audiencePermissions = map[Audience]string{
	Writers: "create and change drafts", Publishers: "schedule and publish posts", Spenders: "spend credits",
	Managers: "manage the team", Owners: "manage what is reserved for the owner", Clients: "decide on posts for the client",
}

// roleNouns are the roles with their articles and in the plural.
var roleNouns = map[access.Role][2]string{
	access.Owner: {"the owner", "the owner"}, access.Admin: {"an admin", "admins"}, access.Editor: {"an editor", "editors"},
	access.Viewer: {"a viewer", "viewers"}, access.Client: {"a client", "clients"},
}

// maxManagers is how many owners and admins the page for missing permissions names.
const maxManagers = 4

// forbiddenView is the page for a missing permission.
type forbiddenView struct {
	Role       string // of the person, with its article
	Permission string // missing; empty if the role alone decides
	Having     string // the roles that have it
	Managers   []string
}

// Forbid answers that the person's role does not allow the request, which is for an audience. The page names the
// missing permission and who can grant it.
func (f *Frame) Forbid(w http.ResponseWriter, r *http.Request, audience Audience) {
	v := VisitorOf(r.Context())
	managers, err := f.Teams.Managers(r.Context(), v.Team.ID, maxManagers)
	if err != nil {
		f.ServerError(w, r, err)
		return
	}
	view := forbiddenView{
		Role: roleNouns[v.Team.Role][0], Permission: audiencePermissions[audience], Having: rolesOf(audience), Managers: managers,
	}
	f.show(w, r, http.StatusForbidden, forbiddenPage, page{Title: "Not allowed", Body: view})
}

// rolesOf returns the roles of an audience as a list for people.
func rolesOf(a Audience) string {
	var out []string
	for _, role := range access.Roles() {
		v := Visitor{}
		if v.Team.Role = role; v.Is(a) {
			out = append(out, roleNouns[role][1])
		}
	}
	return joinWords(out, "and")
}

// joinWords joins words as in a sentence: "a, b and c".
func joinWords(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
