package account

import (
	"context"
	"html/template"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/web/shell"
)

// factorView is the page of a person who needs a second factor.
type factorView struct {
	Has      bool // the person has a passkey
	Methods  signInMethods
	By       []team.OwnTeam // teams that require it; the operator if empty
	Operator bool           // only the operator pages require it
}

// Teams returns the names of the teams that require a second factor, as a list.
func (v factorView) Teams() template.HTML {
	out := make([]string, len(v.By))
	for i, t := range v.By {
		out[i] = "<bdi>" + template.HTMLEscapeString(t.Name) + "</bdi>"
	}
	return template.HTML(strings.Join(out, ", ")) //nolint:gosec // escaped
}

// factorPage guides a person to a second factor and redirects those who have used one.
func (p *Handlers) factorPage(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !p.LacksFactor(ctx) {
		shell.Redirect(w, r, p.NextAfterFactor(ctx))
		return
	}
	has, err := p.Teams.Factors(ctx, v.ID)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	out := factorView{Has: has.Any(), Methods: p.signInMethods(), By: v.RequiredBy()}
	out.Operator = len(out.By) == 0 && p.SecondFactor == shell.OnlyOperators
	p.Show(w, r, http.StatusOK, pages["secondfactor"], "Second factor", out)
}

// keepsFactor returns a check that a removal leaves a second factor, or nil if the visitor needs none.
func (p *Handlers) keepsFactor(r *http.Request) func(context.Context, *db.Tx, int64) error {
	if !p.NeedsFactor(shell.VisitorOf(r.Context())) {
		return nil
	}
	return team.KeepFactor
}
