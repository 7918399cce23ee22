package shell

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
)

// Audience states who may use a route.
type Audience string

// The audiences. All except Anyone require sign-in. All except Anyone, People and Operators depend on the selected
// team.
const (
	Anyone     Audience = "anyone"     // including signed-out visitors
	People     Audience = "people"     // all signed-in people
	Members    Audience = "members"    // all roles in the team
	Writers    Audience = "writers"    // roles that may create and change items
	Publishers Audience = "publishers" // roles that may schedule and publish posts
	Spenders   Audience = "spenders"   // roles that may spend credits
	Managers   Audience = "managers"   // the team's owner and admins
	Owners     Audience = "owners"     // the team's owner
	Clients    Audience = "clients"    // the team's clients, who approve posts
	Operators  Audience = "operators"  // operators of the service
)

// Route is a route of the app and its audience.
type Route struct {
	Pattern  string // pattern for http.ServeMux
	Audience Audience
	Handler  http.HandlerFunc
	// RestoresForm is true if the page with this route's form calls SavedForm to restore a form that was sent after the
	// session ended or the person switched teams.
	RestoresForm bool
	// Page is the path of the page with this route's form; empty if it is the route's own path. Names in braces refer
	// to path values of Pattern. If a GET route needs a recent sign-in, the visitor continues on that page afterwards.
	Page string
	// AllowsOneFactor is true if the route is open to visitors who still need a second factor. Examples are sign-in,
	// sign-out and the visitor's account.
	AllowsOneFactor bool
	// RequiresRecentAuth is true if the route requires an authentication within the last 15 minutes. Shell.StepUp
	// requests it.
	RequiresRecentAuth bool
	// SkipsSlot is true if the route is served without a slot, even on a full node, and without a timeout. Such a route
	// is cheap, ends something, has its own limit, or sends a file.
	SkipsSlot bool
	// AcceptsFiles is true if the route's form may contain files. The route's handler calls AcquireUploadRequest and,
	// if it needs a page slot, takes the slot after it has read the form.
	AcceptsFiles bool
}

// restorePath returns the path of the page that can restore a submitted form, or "" if none can.
func (route Route) restorePath(r *http.Request) string {
	switch {
	case !route.RestoresForm:
		return ""
	case route.Page == "":
		return r.URL.Path
	}
	return route.pagePath(r)
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// pagePath returns Page with the path values of a request in place of the names in braces.
func (route Route) pagePath(r *http.Request) string {
	return placeholder.ReplaceAllStringFunc(route.Page, func(name string) string {
		return url.PathEscape(r.PathValue(strings.Trim(name, "{}")))
	})
}

// Mount registers routes. It wraps their handlers to ask for sign-in, a second factor or a recent authentication if
// required, to reject visitors outside the audience, to hide operator routes from others, and to reject forms that were
// shown for a team other than the selected one.
func (s *Shell) Mount(mux *http.ServeMux, routes ...Route) {
	for _, r := range routes {
		mux.HandleFunc(r.Pattern, s.guard(r))
		s.routeMux.HandleFunc(r.Pattern, r.Handler)
		s.routes[r.Pattern] = r
	}
}

func (s *Shell) guard(route Route) http.HandlerFunc {
	if route.Audience == Anyone {
		return func(w http.ResponseWriter, r *http.Request) {
			if s.isClosedWithoutFactor(r.Context(), route) {
				s.redirectToFactor(w, r, route)
				return
			}
			route.Handler(w, r)
		}
	}
	return s.requireSignIn(route.restorePath, func(w http.ResponseWriter, r *http.Request) {
		v := VisitorOf(r.Context())
		if s.isClosedWithoutFactor(r.Context(), route) && (route.Audience != Operators || v.Operator) {
			s.redirectToFactor(w, r, route)
			return
		}
		if route.Audience.needsTeam() {
			if form := peekForm(r); HasWrongTeam(r, form) {
				s.RejectWrongTeam(w, r, form, route.restorePath(r))
				return
			}
		}
		switch {
		case v.Is(route.Audience) && route.RequiresRecentAuth && !s.RecentlyAuthenticated(r.Context()):
			s.stepUp(w, r, route)
		case v.Is(route.Audience):
			route.Handler(w, r)
		case route.Audience == Operators:
			s.NotFound(w, r)
		default:
			s.Forbid(w, r, route.Audience)
		}
	})
}

// Is reports whether the visitor belongs to an audience in the selected team.
func (v *Visitor) Is(a Audience) bool {
	may := func(c access.Capability) bool { return slices.Contains(access.RoleCapabilities(v.Team.Role), c) }
	switch a {
	case Anyone, People, Members:
		return true
	case Writers:
		return may(access.Write)
	case Publishers:
		return may(access.Publish)
	case Spenders:
		return may(access.Spend)
	case Managers:
		return v.Team.Role == access.Owner || v.Team.Role == access.Admin
	case Owners:
		return v.Team.Role == access.Owner
	case Clients:
		return v.Team.Role == access.Client
	case Operators:
		return v.Operator
	}
	return false
}
