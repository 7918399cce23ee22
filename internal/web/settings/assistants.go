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

// mcpPath is the path of the MCP server.
const mcpPath = "/mcp"

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

func (h *Handlers) assistantsPage(w http.ResponseWriter, r *http.Request) {
	before, _ := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	owner := assistantOwner(r)
	lines, err := h.Teams.ListConnections(r.Context(), teamID(r), owner, before, keysPerPage+1)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := assistantsView{All: owner == 0}
	if shell.VisitorOf(r.Context()).Team.Role != access.Client {
		out.Address, out.Root = h.PublicURL+mcpPath, h.PublicURL
	}
	if out.Gates, err = h.Teams.KeyGates(r.Context(), teamID(r)); err != nil {
		h.ShowError(w, r, err)
		return
	}
	lines, out.Pages = pageOf(lines, before, "/settings/assistants")
	for _, k := range lines {
		out.Assistants = append(out.Assistants, h.viewOf(r, k))
	}
	h.Show(w, r, http.StatusOK, pages["assistants"], "Apps and assistants", out)
}

// pathConnection returns the connection whose ID is in the path. It returns a not_found error if the visitor may not
// see it.
func (h *Handlers) pathConnection(r *http.Request) (team.ListedKey, error) {
	id, err := shell.PathID(r, "connection")
	if err != nil {
		return team.ListedKey{}, err
	}
	k, err := h.Teams.Connection(r.Context(), teamID(r), id)
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
func (h *Handlers) assistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := h.pathConnection(r)
	if err != nil {
		h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			id, err := shell.PathID(r, "connection")
			if err != nil {
				return 0, err
			}
			return h.Teams.FindConnectionTeam(ctx, shell.VisitorOf(ctx).ID, id, teams)
		})
		return
	}
	view := assistantPageView{}
	if form := h.SavedForm(r); form != nil {
		view.Limit, view.restored = strings.TrimSpace(form.Get("daily_credits")), true
	}
	h.showAssistant(w, r, http.StatusOK, k, view)
}

// showAssistant shows a connection. input holds the rejected or restored input.
func (h *Handlers) showAssistant(
	w http.ResponseWriter, r *http.Request, status int, k team.ListedKey, input assistantPageView,
) {
	out := assistantPageView{
		fieldError: input.fieldError, keyView: h.viewOf(r, k), Limit: input.Limit,
		Own: k.PersonID == shell.VisitorOf(r.Context()).ID,
	}
	if out.Error == "" && !input.restored && k.DailyCredits != plan.Unlimited {
		out.Limit = strconv.FormatInt(k.DailyCredits, 10)
	}
	effective := k.Effective()
	for _, c := range k.Granted {
		if !slices.Contains(effective, c) {
			out.Lacks = append(out.Lacks, c)
		}
	}
	h.Show(w, r, status, pages["assistant"], "Connected app", out)
}

// limitAssistant sets an assistant's daily limit.
func (h *Handlers) limitAssistant(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	k, err := h.pathConnection(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	limitText := strings.TrimSpace(r.PostForm.Get("daily_credits"))
	limit, err := parseCredits(limitText)
	if err == nil {
		credits := int64(plan.Unlimited)
		if limit != nil {
			credits = *limit
		}
		err = h.admin(r).LimitConnection(r.Context(), k.ID, credits)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showAssistant(w, r, shell.StatusOf(err), k, assistantPageView{fieldError: formErr, Limit: limitText})
		}
		return
	}
	h.finish(w, r, "The daily limit was saved. It takes effect within a second.", r.URL.Path)
}

func (h *Handlers) endAssistantPage(w http.ResponseWriter, r *http.Request) {
	k, err := h.pathConnection(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := revokeView{keyView: h.viewOf(r, k)}
	if out.Tracked, err = h.Reports.TrackedByKey(r.Context(), teamID(r), k.ID); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["assistantend"], "Disconnect an app", out)
}

func (h *Handlers) endAssistant(w http.ResponseWriter, r *http.Request) {
	h.endKeyOrConnection(w, r,
		revocation{
			h.pathConnection, team.Admin.EndConnection,
			"The app was disconnected.", "/settings/assistants",
		})
}
