package account

import (
	"context"
	"net/http"

	"pressroom/internal/domain/team"
	"pressroom/internal/platform/db"
	"pressroom/internal/web/shell"
)

// factorView is the page of somebody who needs a second factor.
type factorView struct {
	Has      bool // a passkey to sign in with
	Ways     ways
	By       []team.OwnTeam // whose rule it is; the operator's if empty
	Operator bool           // only the operator's pages are closed
}

// factorPage leads somebody who needs a second factor to one, and others on.
func (p *Part) factorPage(w http.ResponseWriter, r *http.Request) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	if !p.OwesFactor(ctx) {
		shell.Redirect(w, r, p.AfterFactor(ctx))
		return
	}
	has, err := p.Teams.Factors(ctx, v.ID)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	out := factorView{Has: has.Any(), Ways: p.ways(), By: v.RequiredBy()}
	out.Operator = len(out.By) == 0 && p.SecondFactor == shell.OnlyOperators
	p.Show(w, r, http.StatusOK, pages["secondfactor"], "Second factor", out)
}

// keepsFactor is what removing a second factor has to leave; nil if the visitor needs none.
func (p *Part) keepsFactor(r *http.Request) func(context.Context, *db.Tx, int64) error {
	if !p.NeedsFactor(shell.VisitorOf(r.Context())) {
		return nil
	}
	return team.KeepFactor
}
