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
	Has        bool // the person has a second factor and must use it
	Methods    signInMethods
	RequiredBy []team.OwnTeam // teams that require a second factor; if empty, the installation does
	Operator   bool           // only the operator pages require it
}

// Teams returns the names of the teams that require a second factor, as a list.
func (v factorView) Teams() template.HTML {
	out := make([]string, len(v.RequiredBy))
	for i, t := range v.RequiredBy {
		out[i] = "<bdi>" + template.HTMLEscapeString(t.Name) + "</bdi>"
	}
	return template.HTML(strings.Join(out, ", ")) //nolint:gosec // escaped
}

// factorPage asks the person to set up or use a second factor. It redirects a person who has used one.
func (h *Handlers) factorPage(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !h.LacksFactor(ctx) {
		shell.Redirect(w, r, h.NextAfterFactor(ctx))
		return
	}
	factors, err := h.Teams.Factors(ctx, v.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := factorView{Has: factors.Any(), Methods: h.signInMethods(), RequiredBy: v.RequiredBy()}
	out.Operator = len(out.RequiredBy) == 0 && h.SecondFactor == shell.OnlyOperators
	h.Show(w, r, http.StatusOK, pages["secondfactor"], "Second factor", out)
}

// factorCheck returns a check that the person still has a second factor after a removal, or nil if the visitor does not
// need one.
func (h *Handlers) factorCheck(r *http.Request) func(context.Context, *db.Tx, int64) error {
	if !h.NeedsFactor(shell.VisitorOf(r.Context())) {
		return nil
	}
	return team.EnsureFactorRemains
}
