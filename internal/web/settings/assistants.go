package settings

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/authn"
	"pressroom.example/pressroom/internal/web/shell"
)

// toolsPath is the path of the MCP server.
const toolsPath = "/mcp"

// assistantsView is the page that lists connected apps and assistants.
type assistantsView struct {
	Assistants []keyView
	All        bool // the list contains everybody's assistants, not only the visitor's
	Gates      authn.KeyGates
	Pages      *pager
	Address    string // URL of the MCP server; empty if the visitor may not connect assistants
	Root       string // public URL, without a trailing slash
}

// ClaudeCodeCommand returns the command that adds this service to Claude Code.
func (v assistantsView) ClaudeCodeCommand() string {
	return "claude mcp add --transport http pressroom " + v.Address
}

// LoginCommand returns the command that signs in the command-line client.
func (v assistantsView) LoginCommand() string { return "pressroom login --url " + v.Root }

// assistantOwner returns the ID of the person whose assistants the visitor may see, or 0 for everybody's.
func assistantOwner(r *http.Request) int64 {
	v := shell.VisitorOf(r.Context())
	if v.Is(shell.Managers) {
		return 0
	}
	return v.ID
}

func (p *Handlers) assistantsPage(w http.ResponseWriter, r *http.Request) {
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	owner := assistantOwner(r)
	lines, err := p.Teams.ListConnections(r.Context(), teamID(r), owner, before, keysPerPage+1)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	out := assistantsView{All: owner == 0}
	if shell.VisitorOf(r.Context()).Team.Role != access.Client {
		out.Address, out.Root = p.PublicURL+toolsPath, p.PublicURL
	}
	if out.Gates, err = p.Teams.KeyGates(r.Context(), teamID(r)); err != nil {
		p.ShowError(w, r, err)
		return
	}
	lines, out.Pages = pageOf(lines, before, "/settings/assistants")
	for _, k := range lines {
		out.Assistants = append(out.Assistants, p.viewOf(r, k))
	}
	p.Show(w, r, http.StatusOK, pages["assistants"], "Apps and assistants", out)
}

// connectionIn returns the connection whose ID is in the path. It returns a not_found error if the visitor may not see
// it.
func (p *Handlers) connectionIn(r *http.Request) (team.ListedKey, error) {
	id, err := shell.PathID(r, "connection")
	if err != nil {
		return team.ListedKey{}, err
	}
	k, err := p.Teams.Connection(r.Context(), teamID(r), id)
	if err == nil && assistantOwner(r) != 0 && k.PersonID != assistantOwner(r) {
		return team.ListedKey{}, apierr.ItemNotFound()
	}
	return k, err
}

// assistantPageView is the page of a connection.
type assistantPageView struct {
	fieldError
	keyView

	Lacks    []access.Capability // granted, but not allowed by the person's current role
	Limit    string              // as entered
	restored bool                // Limit was restored after the visitor signed in again
	Own      bool
}

// assistantPage shows a connection to the person who authorized it, and to owners and admins. If it belongs to
// another of the person's teams, it switches to that team first.
func (p *Handlers) assistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.connectionIn(r)
	if err != nil {
		p.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			id, err := shell.PathID(r, "connection")
			if err != nil {
				return 0, err
			}
			return p.Teams.FindConnectionTeam(ctx, shell.VisitorOf(ctx).ID, id, teams)
		})
		return
	}
	view := assistantPageView{}
	if typed := p.SavedForm(r); typed != nil {
		view.Limit, view.restored = strings.TrimSpace(typed.Get("daily_credits")), true
	}
	p.showAssistant(w, r, http.StatusOK, k, view)
}

// showAssistant shows a connection. input holds the rejected or restored input.
func (p *Handlers) showAssistant(
	w http.ResponseWriter, r *http.Request, status int, k team.ListedKey, input assistantPageView,
) {
	out := assistantPageView{
		fieldError: input.fieldError, keyView: p.viewOf(r, k), Limit: input.Limit,
		Own: k.PersonID == shell.VisitorOf(r.Context()).ID,
	}
	if out.Error == "" && !input.restored && k.DailyCredits != plan.Unlimited {
		out.Limit = strconv.FormatInt(k.DailyCredits, 10)
	}
	may := k.Effective()
	for _, c := range k.Granted {
		if !slices.Contains(may, c) {
			out.Lacks = append(out.Lacks, c)
		}
	}
	p.Show(w, r, status, pages["assistant"], "Connected app", out)
}

// limitAssistant sets an assistant's daily limit.
func (p *Handlers) limitAssistant(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	k, err := p.connectionIn(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	typed := strings.TrimSpace(r.PostForm.Get("daily_credits"))
	limit, err := creditsIn(typed)
	if err == nil {
		credits := int64(plan.Unlimited)
		if limit != nil {
			credits = *limit
		}
		err = p.admin(r).LimitConnection(r.Context(), k.ID, credits)
	}
	if err != nil {
		if formErr, ok := p.formError(w, r, err); ok {
			p.showAssistant(w, r, shell.StatusOf(err), k, assistantPageView{fieldError: formErr, Limit: typed})
		}
		return
	}
	p.finish(w, r, "The daily limit was saved. It takes effect within a second.", r.URL.Path)
}

func (p *Handlers) endAssistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := p.connectionIn(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	out := revokeView{keyView: p.viewOf(r, k)}
	if out.Tracked, err = p.Reports.TrackedByKey(r.Context(), teamID(r), k.ID); err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["assistantend"], "Disconnect an app", out)
}

func (p *Handlers) endAssistant(w http.ResponseWriter, r *http.Request) {
	p.endKeyOrConnection(w, r,
		revocation{
			p.connectionIn, team.Admin.EndConnection,
			"The app was disconnected.", "/settings/assistants",
		})
}
