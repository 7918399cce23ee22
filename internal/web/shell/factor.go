package shell

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/domain/team"
)

// Requirement states who must use two factors.
type Requirement string

// The requirements that an operator can set. In addition, each team can require a second factor.
const (
	Nobody        Requirement = "nobody"
	OnlyOperators Requirement = "operators" // operators, for the operator's pages
	Everyone      Requirement = "everyone"
)

// FactorPath is the path of the page where people set up or use a required second factor.
const FactorPath = "/account/second-factor"

// nextAfterFactorKey is the session key for the path of the page to open after the visitor has set up or used a second
// factor.
const nextAfterFactorKey = "after factor"

// NeedsFactor reports whether the operator or any of the visitor's teams requires a session with two factors. One team
// is enough, because some pages show items from all teams.
func (s *Shell) NeedsFactor(v *Visitor) bool {
	return s.SecondFactor == Everyone || s.SecondFactor == OnlyOperators && v.Operator || len(v.RequiredBy()) > 0
}

// RequiredBy returns the visitor's open teams that require a second factor.
func (v *Visitor) RequiredBy() []team.OwnTeam {
	var out []team.OwnTeam
	for _, t := range v.Teams {
		if t.SecondFactor && !t.Closed {
			out = append(out, t)
		}
	}
	return out
}

// LacksFactor reports whether the visitor's session lacks a required second factor.
func (s *Shell) LacksFactor(ctx context.Context) bool {
	v := VisitorOf(ctx)
	return v != nil && s.NeedsFactor(v) && !s.HasTwoFactors(ctx)
}

// isClosedWithoutFactor reports whether a route is closed until the session has a second factor. The requirement
// OnlyOperators closes only the operator's pages.
func (s *Shell) isClosedWithoutFactor(ctx context.Context, route Route) bool {
	if route.AllowsOneFactor || !s.LacksFactor(ctx) {
		return false
	}
	v := VisitorOf(ctx)
	return s.SecondFactor == Everyone || len(v.RequiredBy()) > 0 || route.Audience == Operators
}

// redirectToFactor redirects to the page where the visitor sets up or uses a second factor. That page later redirects
// back. redirectToFactor saves a submitted form if a page can restore the form. Requests from scripts get an error
// instead.
func (s *Shell) redirectToFactor(w http.ResponseWriter, r *http.Request, route Route) {
	if isFromScript(r) {
		s.ShowMessage(w, r, http.StatusForbidden, "Two-factor authentication required",
			"Nothing was changed. Reload the page and set up two-factor authentication first.")
		return
	}
	next := r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		next = s.refererPath(r)
		form := peekForm(r)
		if SendsFiles(r) {
			form, _ = readFormWithoutFiles(r, maxSavedForm) // an invalid form is not saved
		}
		if back := route.restorePath(r); back != "" && form != nil && len(form.Encode()) <= maxSavedForm {
			s.SaveForm(r.Context(), back, form)
			next = back
		}
	}
	s.Put(r.Context(), nextAfterFactorKey, []byte(next))
	Redirect(w, r, FactorPath)
}

// RequireUsedFactor wraps a handler for which a password is not enough: adding or removing factors, leaving a team that
// requires one, or deleting the account. It redirects visitors who have set up a required second factor but have not
// used it in this session.
func (s *Shell) RequireUsedFactor(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.LacksFactor(r.Context()) {
			factors, err := s.Teams.Factors(r.Context(), VisitorOf(r.Context()).ID)
			if err != nil {
				s.ShowError(w, r, err)
				return
			}
			if factors.Any() {
				Redirect(w, r, FactorPath)
				return
			}
		}
		next(w, r)
	}
}

// NextAfterFactor returns the path of the page to open after the visitor has set up or used a second factor. It forgets
// the path, so further calls return the default, the account page.
func (s *Shell) NextAfterFactor(ctx context.Context) string {
	if next := s.Pop(ctx, nextAfterFactorKey); next != nil {
		return LocalPath(string(next))
	}
	return "/account"
}

// MarkTwoFactors records that the visitor has just created a passkey, which gives the session two factors.
func (s *Shell) MarkTwoFactors(ctx context.Context) {
	s.sessions.manager.Put(ctx, methodKey, string(Passkey))
}
