package settings

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// toolsPath is where assistants connect.
const toolsPath = "/mcp"

// assistantsView is the list of connections.
type assistantsView struct {
	Assistants []keyView
	All        bool // everybody's, and not the visitor's own alone
	Barriers   team.Barriers
	Pages      *pager
	Address    string // that an assistant is told; empty where the visitor lets none in
}

// whoseAssistants is whose connections the visitor sees: 0 for everybody's.
func whoseAssistants(r *http.Request) int64 {
	v := shell.VisitorOf(r.Context())
	if v.Is(shell.Managers) {
		return 0
	}
	return v.ID
}

func (p *Part) assistantsPage(w http.ResponseWriter, r *http.Request) {
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	whose := whoseAssistants(r)
	lines, err := p.Teams.ConnectionLines(r.Context(), here(r), whose, before, keysAtOnce+1)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	out := assistantsView{All: whose == 0}
	if shell.VisitorOf(r.Context()).Team.Role != access.Client {
		out.Address = p.PublicURL + toolsPath
	}
	if out.Barriers, err = p.Teams.Barriers(r.Context(), here(r)); err != nil {
		p.Refuse(w, r, err)
		return
	}
	lines, out.Pages = pageOf(lines, before, "/settings/assistants")
	for _, k := range lines {
		out.Assistants = append(out.Assistants, p.viewOf(r, k))
	}
	p.Show(w, r, http.StatusOK, pages["assistants"], "Assistants", out)
}

// connectionIn is the connection of the address, where the visitor may see it.
func (p *Part) connectionIn(r *http.Request) (team.KeyLine, error) {
	id, err := numberIn(r, "connection")
	if err != nil {
		return team.KeyLine{}, err
	}
	k, err := p.Teams.ConnectionLine(r.Context(), here(r), id)
	if err == nil && whoseAssistants(r) != 0 && k.PersonID != whoseAssistants(r) {
		return team.KeyLine{}, apierr.Missing()
	}
	return k, err
}

// assistantPageView is one connection's page.
type assistantPageView struct {
	wrong
	keyView

	Lacks []access.Capability // what was granted and the person's role has no more
	Limit string              // as it is typed
	typed bool                // before the person signed in again
	Own   bool
}

// assistantPage shows a connection to whoever let the assistant in, and to the team's owner and admins. One of another
// team of the person's has that team looked at first.
func (p *Part) assistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.connectionIn(r)
	if err != nil {
		p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			id, err := numberIn(r, "connection")
			if err != nil {
				return 0, err
			}
			return p.Teams.ConnectionHome(ctx, shell.VisitorOf(ctx).ID, id, teams)
		})
		return
	}
	view := assistantPageView{}
	if typed := p.Resumed(r); typed != nil {
		view.Limit, view.typed = strings.TrimSpace(typed.Get("daily_credits")), true
	}
	p.showAssistant(w, r, http.StatusOK, k, view)
}

// showAssistant shows a connection, with what was typed where that was refused.
func (p *Part) showAssistant(
	w http.ResponseWriter, r *http.Request, status int, k team.KeyLine, typed assistantPageView,
) {
	out := assistantPageView{
		wrong: typed.wrong, keyView: p.viewOf(r, k), Limit: typed.Limit,
		Own: k.PersonID == shell.VisitorOf(r.Context()).ID,
	}
	if out.Wrong == "" && !typed.typed && k.DailyCredits != plan.Unlimited {
		out.Limit = strconv.FormatInt(k.DailyCredits, 10)
	}
	may := k.May()
	for _, c := range k.Granted {
		if !slices.Contains(may, c) {
			out.Lacks = append(out.Lacks, c)
		}
	}
	p.Show(w, r, status, pages["assistant"], "Assistant", out)
}

// limitAssistant sets what an assistant may spend in a day.
func (p *Part) limitAssistant(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	k, err := p.connectionIn(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	typed := strings.TrimSpace(r.PostForm.Get("daily_credits"))
	limit, err := creditsIn(typed)
	if err == nil {
		credits := int64(plan.Unlimited)
		if limit != nil {
			credits = *limit
		}
		err = p.hand(r).LimitConnection(r.Context(), k.ID, credits)
	}
	if err != nil {
		if told, ok := p.wrongOf(w, r, err); ok {
			p.showAssistant(w, r, shell.StatusOf(err), k, assistantPageView{wrong: told, Limit: typed})
		}
		return
	}
	p.did(w, r, "The daily limit is set. It holds within a second.", r.URL.Path)
}

func (p *Part) endAssistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.connectionIn(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	out := revokeView{keyView: p.viewOf(r, k)}
	if out.Tracked, err = p.Reports.TrackedByKey(r.Context(), here(r), k.ID); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["assistantend"], "End an assistant’s connection", out)
}

func (p *Part) endAssistant(w http.ResponseWriter, r *http.Request) {
	p.endLine(w, r,
		ending{
			p.connectionIn, team.Admin.EndConnection,
			"The connection is ended. The assistant can do nothing here any more. ", "/settings/assistants",
		})
}
