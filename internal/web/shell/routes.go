package shell

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pressroom/internal/core/access"
)

// Audience is who an address is for.
type Audience string

// The audiences. All but Anyone are signed in and look at a team that is not closed to them.
const (
	Anyone     Audience = "anyone"     // also signed out
	People     Audience = "people"     // signed in, whatever the team
	Members    Audience = "members"    // of the team, whatever their role
	Writers    Audience = "writers"    // whose role may create and change
	Publishers Audience = "publishers" // whose role may schedule and publish
	Spenders   Audience = "spenders"   // whose role may spend credits
	Managers   Audience = "managers"   // the team's owner and admins
	Owners     Audience = "owners"     // the team's owner
	Clients    Audience = "clients"    // for whom the team's posts are, who approve them
	Operators  Audience = "operators"  // who runs the service
)

// Route is an address of the app with whom it is for.
type Route struct {
	Pattern string // as http.ServeMux takes it
	For     Audience
	Do      http.HandlerFunc
	// Resumes is true of a form whose page takes back by Resumed what was sent by somebody whose session had ended, or
	// who had turned to another team.
	Resumes bool
	// Page is the page with this route's form, if its address differs. Names in braces are those of the pattern. A GET
	// route that needs a recent sign-in continues there as well.
	Page string
	// OneFactor routes are open to a visitor who still needs a second factor: signing in and out, the own account, and
	// what strangers may open too.
	OneFactor bool
	// Recent routes need an authentication within the last 15 minutes; Frame.StepUp asks for one.
	Recent bool
	// Urgent routes get through on a node that is full: what they do is cheap or ends something, or has room of its
	// own, or is a file, which leaves as slowly as somebody takes it. No time bounds them.
	Urgent bool
	// Files is true of a form that may bring files. One that does takes no place: its handler calls EnterUploads.
	Files bool
}

// back is the page that takes back what was sent; empty where none does.
func (route Route) back(r *http.Request) string {
	switch {
	case !route.Resumes:
		return ""
	case route.Page == "":
		return r.URL.Path
	}
	return route.page(r)
}

var pathName = regexp.MustCompile(`\{[a-z]+\}`)

// page returns Page with the request's values in place of the names in braces.
func (route Route) page(r *http.Request) string {
	return pathName.ReplaceAllStringFunc(route.Page, func(name string) string {
		return url.PathEscape(r.PathValue(strings.Trim(name, "{}")))
	})
}

// Mount puts routes at their addresses. Whoever is not signed in is asked to; who is not of the audience is told that
// the role does not allow it, and operators' addresses are not there for others. A form that was shown for another
// team than the one that is looked at by now does nothing.
func (f *Frame) Mount(mux *http.ServeMux, routes ...Route) {
	for _, r := range routes {
		mux.HandleFunc(r.Pattern, f.guarded(r))
		f.known.HandleFunc(r.Pattern, r.Do)
		f.routes[r.Pattern] = r
	}
}

func (f *Frame) guarded(route Route) http.HandlerFunc {
	if route.For == Anyone {
		return func(w http.ResponseWriter, r *http.Request) {
			if f.owes(r.Context(), route) {
				f.toFactor(w, r, route)
				return
			}
			route.Do(w, r)
		}
	}
	return f.forPeople(route.back, func(w http.ResponseWriter, r *http.Request) {
		v := VisitorOf(r.Context())
		if f.owes(r.Context(), route) && (route.For != Operators || v.Operator) {
			f.toFactor(w, r, route)
			return
		}
		if route.For.ofTeam() {
			if form := peek(r); Astray(r, form) {
				f.TurnBack(w, r, form, route.back(r))
				return
			}
		}
		switch {
		case v.Is(route.For) && route.Recent && !f.Fresh(r.Context()):
			f.stepUp(w, r, route)
		case v.Is(route.For):
			route.Do(w, r)
		case route.For == Operators:
			f.Missing(w, r)
		default:
			f.NotAllowed(w, r)
		}
	})
}

// NotAllowed tells a person of the team that their role does not allow what they ask for.
func (f *Frame) NotAllowed(w http.ResponseWriter, r *http.Request) {
	f.Notice(w, r, http.StatusForbidden, "Not allowed",
		"Your role in this team does not allow this. An owner or admin of the team can give you another one.")
}

// Is tells whether the visitor is of an audience, in the team that is looked at.
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
