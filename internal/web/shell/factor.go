package shell

import (
	"context"
	"net/http"

	"pressroom/internal/domain/team"
)

// Requirement is whom the operator requires to sign in with two factors.
type Requirement string

// The requirements. Owners may require it of their teams' members besides.
const (
	Nobody        Requirement = "nobody"
	OnlyOperators Requirement = "operators" // for the operator's pages
	Everyone      Requirement = "everyone"
)

// FactorPath is where people set up a required second factor.
const FactorPath = "/account/second-factor"

// nextAfterFactor is where a session keeps what somebody asked for who has to set up a second factor first.
const nextAfterFactor = "after factor"

// NeedsFactor reports whether the visitor needs a session with two factors, for the operator or for one of the
// visitor's teams. One such team is enough: people reach items of all their teams at some addresses.
func (f *Frame) NeedsFactor(v *Visitor) bool {
	return f.SecondFactor == Everyone || f.SecondFactor == OnlyOperators && v.Operator || len(v.RequiredBy()) > 0
}

// RequiredBy are the visitor's teams whose members need a second factor.
func (v *Visitor) RequiredBy() []team.OwnTeam {
	var out []team.OwnTeam
	for _, t := range v.Teams {
		if t.SecondFactor && !t.Closed {
			out = append(out, t)
		}
	}
	return out
}

// OwesFactor reports whether the visitor's session lacks a second factor that the visitor needs.
func (f *Frame) OwesFactor(ctx context.Context) bool {
	v := VisitorOf(ctx)
	return v != nil && f.NeedsFactor(v) && !f.Strong(ctx)
}

// owes reports whether a route is closed to the visitor until the session has a second factor. The operator's rule for
// operators is about the operator's pages alone.
func (f *Frame) owes(ctx context.Context, route Route) bool {
	if route.OneFactor || !f.OwesFactor(ctx) {
		return false
	}
	v := VisitorOf(ctx)
	return f.SecondFactor == Everyone || len(v.RequiredBy()) > 0 || route.For == Operators
}

// toFactor leads to where the visitor sets up or uses a second factor, and then back. A form is kept if its page takes
// it back.
func (f *Frame) toFactor(w http.ResponseWriter, r *http.Request, route Route) {
	if byScript(r) {
		f.Notice(w, r, http.StatusForbidden, "Two-factor authentication required",
			"Nothing was changed. Reload the page and set up two-factor authentication first.")
		return
	}
	next := r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		next = f.cameFrom(r)
		if back, form := route.back(r), peek(r); back != "" && form != nil && len(form.Encode()) <= maxResumed {
			f.Resume(r.Context(), back, form)
			next = back
		}
	}
	f.Keep(r.Context(), nextAfterFactor, []byte(next))
	Redirect(w, r, FactorPath)
}

// Proven returns a handler that leads a visitor who has a second factor, and still needs to use it, to do so first. A
// password alone must not add or remove factors, leave a team that requires one, or delete the account.
func (f *Frame) Proven(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if f.OwesFactor(r.Context()) {
			has, err := f.Teams.Factors(r.Context(), VisitorOf(r.Context()).ID)
			if err != nil {
				f.Refuse(w, r, err)
				return
			}
			if has.Any() {
				Redirect(w, r, FactorPath)
				return
			}
		}
		do(w, r)
	}
}

// AfterFactor is where a visitor goes on who has set up or used a second factor, once; the account page by default.
func (f *Frame) AfterFactor(ctx context.Context) string {
	if next := f.Take(ctx, nextAfterFactor); next != nil {
		return OwnPath(string(next))
	}
	return "/account"
}

// Strengthen notes that the visitor has just made a passkey, so that the session has two factors from now on.
func (f *Frame) Strengthen(ctx context.Context) {
	f.sessions.manager.Put(ctx, methodKey, string(Passkey))
}
