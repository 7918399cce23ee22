// Package erasure serves the pages for deleting teams, people, posts, and revoked API keys and assistants, for
// leaving a team, and for exporting a team's data. It also receives data deletion requests from networks.
package erasure

import (
	"embed"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/erasure"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"assistant": confirmView{}, "draft": confirmView{}, "erased": erasure.ErasureResult{},
	"export": erasure.Contents{}, "key": confirmView{}, "leave": leaveView{}, "person": personView{},
	"team": teamView{},
}, nil)

// Handlers serves the erasure pages.
type Handlers struct {
	*shell.Shell

	erasure *erasure.Service
}

// New returns the handlers.
func New(sh *shell.Shell, s *erasure.Service) *Handlers { return &Handlers{sh, s} }

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /settings/delete", Audience: shell.Owners, Handler: h.teamPage},
		{Pattern: "POST /settings/delete", Audience: shell.Owners, Handler: h.deleteTeam, RequiresRecentAuth: true,
			RestoresForm: true},
		{Pattern: "GET /settings/export", Audience: shell.Managers, Handler: h.exportPage},
		{Pattern: "GET /settings/export.zip", Audience: shell.Managers, Handler: h.export, SkipsSlot: true,
			RequiresRecentAuth: true,
			Page:               "/settings/export"},
		{Pattern: "GET /settings/keys/{key}/forget", Audience: shell.Owners, Handler: h.keyPage},
		{Pattern: "POST /settings/keys/{key}/forget", Audience: shell.Owners, Handler: h.forgetKey},
		{Pattern: "GET /settings/assistants/{connection}/forget", Audience: shell.Owners, Handler: h.assistantPage},
		{Pattern: "POST /settings/assistants/{connection}/forget", Audience: shell.Owners, Handler: h.forgetAssistant},
		{Pattern: "GET /posts/{id}/delete", Audience: shell.Writers, Handler: h.draftPage},
		{Pattern: "POST /posts/{id}/delete", Audience: shell.Writers, Handler: h.deleteDraft},
		{Pattern: "GET /account/teams/{team}/leave", Audience: shell.People, Handler: h.RequireUsedFactor(h.leavePage),
			AllowsOneFactor: true},
		{Pattern: "POST /account/teams/{team}/leave", Audience: shell.People, Handler: h.RequireUsedFactor(h.leave),
			AllowsOneFactor: true},
		{Pattern: "GET /account/delete", Audience: shell.People, Handler: h.RequireUsedFactor(h.personPage),
			AllowsOneFactor: true},
		{Pattern: "POST /account/delete", Audience: shell.People, Handler: h.RequireUsedFactor(
			h.deletePerson), RequiresRecentAuth: true, RestoresForm: true, AllowsOneFactor: true},
		{Pattern: "POST /networks/meta/deletion", Audience: shell.Anyone, Handler: h.receiveMetaRequest, AllowsOneFactor: true},
		{Pattern: "GET /networks/deletions/{code}", Audience: shell.Anyone, Handler: h.erasedPage, AllowsOneFactor: true},
	}
}

// teamView is the page for deleting a team. It shows the progress after the deletion was requested.
type teamView struct {
	erasure.Contents

	Only     bool // it is the visitor's only team
	Progress *erasure.Progress
	Name     string // as entered
	Account  bool   // whether to delete the visitor's account too
	Error    string
}

func (h *Handlers) teamPage(w http.ResponseWriter, r *http.Request) {
	h.showTeam(w, r, http.StatusOK, "", h.SavedForm(r))
}

func (h *Handlers) showTeam(w http.ResponseWriter, r *http.Request, status int, formErr string, input url.Values) {
	v := shell.VisitorOf(r.Context())
	view := teamView{
		Only: len(v.Teams) == 1, Error: formErr, Name: input.Get("name"), Account: input.Get("account") == "yes",
	}
	progress, err := h.erasure.Progress(r.Context(), v.Team.ID)
	switch {
	case err == nil:
		progress.RequestedAt = progress.RequestedAt.In(zone(v))
		view.Progress = &progress
	case !apierr.Is(err, apierr.NotFound):
		h.ShowError(w, r, err)
		return
	}
	if view.Contents, err = h.erasure.CountContents(r.Context(), v.Team.ID); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, status, pages["team"], "Delete team", view)
}

// zone returns the time zone of the selected team.
func zone(v *shell.Visitor) *time.Location {
	loc, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		return time.UTC // unreachable: teams have valid zones
	}
	return loc
}

// onlyTeamText is the message for a person who deletes their only team.
const onlyTeamText = "The team no longer publishes anything, and its API keys no longer work. Its data is deleted in the background, " +
	"usually within minutes. You can close this page. It was your only team, so you will be signed out. If you keep your " +
	"account, you can sign in again once someone invites you to another team."

func (h *Handlers) deleteTeam(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	v := shell.VisitorOf(r.Context())
	if err := h.erasure.RequestDeletion(r.Context(), v.ID, v.Team.ID, r.PostForm.Get("name"),
		r.PostForm.Get("account") == "yes"); err != nil {
		if formErr, ok := h.FormErrorOf(w, r, err, nil); ok {
			h.showTeam(w, r, shell.StatusOf(err), formErr.Text, r.PostForm)
		}
		return
	}
	if len(v.Teams) == 1 { // the person can no longer open any page of a team
		h.ShowMessage(w, r, http.StatusOK, "The team is being deleted", onlyTeamText)
		return
	}
	h.Flash(r, "The team is being deleted. You do not need to do anything else.")
	shell.Redirect(w, r, "/settings/delete")
}

func (h *Handlers) exportPage(w http.ResponseWriter, r *http.Request) {
	contents, err := h.erasure.CountContents(r.Context(), shell.VisitorOf(r.Context()).Team.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.Show(w, r, http.StatusOK, pages["export"], "Export the team’s data", contents)
}

// stallTimeout is the time that a write to the client may block during an export before the connection is closed.
const stallTimeout = time.Minute

func (h *Handlers) export(w http.ResponseWriter, r *http.Request) {
	if _, err := h.NewCall(r, "export"); err != nil {
		h.ShowError(w, r, err)
		return
	}
	team, control := shell.VisitorOf(r.Context()).Team.ID, http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-team-`+strconv.FormatInt(team, 10)+`.zip"`)
	// SetWriteDeadline fails only if the server does not support deadlines
	extendDeadline := func() { _ = control.SetWriteDeadline(time.Now().Add(stallTimeout)) }
	if err := h.erasure.Export(r.Context(), team, w, extendDeadline); err != nil {
		if r.Context().Err() == nil {
			h.Log.ErrorContext(r.Context(), "export interrupted", "team", team, "error", err)
		}
		panic(http.ErrAbortHandler) // the client must notice the truncation
	}
}

// confirmView is the page that asks for confirmation before an item is deleted.
type confirmView struct {
	ID, Error string
	Kept      bool // it cannot be deleted, and Error explains why
}

// keyPage asks for confirmation before deleting a revoked key of the team.
func (h *Handlers) keyPage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "key")
	if err == nil {
		_, err = h.Teams.ListedKey(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.showItem(w, r, "key", "key", nil)
}

// assistantPage asks for confirmation before deleting a revoked assistant of the team.
func (h *Handlers) assistantPage(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "connection")
	if err == nil {
		_, err = h.Teams.Connection(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.showItem(w, r, "assistant", "connection", nil)
}

// draftPage asks for confirmation before deleting a draft of the team.
func (h *Handlers) draftPage(w http.ResponseWriter, r *http.Request) {
	foundPost, _, err := shell.Run[post.Post](h.Shell, r, "get_post", operation.Arguments{"id": r.PathValue("id")})
	if err != nil {
		if apierr.Is(err, apierr.ValidationFailed) {
			err = apierr.ItemNotFound() // not an ID
		}
		h.ShowError(w, r, err)
		return
	}
	if foundPost.Status != post.Draft && foundPost.Status != post.Scheduled {
		h.Show(w, r, http.StatusConflict, pages["draft"], "Delete the post",
			confirmView{ID: foundPost.ID, Error: h.T(r, "Published and failed posts can’t be deleted here."), Kept: true})
		return
	}
	h.showItem(w, r, "draft", "id", nil)
}

// showItem shows the confirmation page for the item whose ID is in the path value name. If err is not nil, the page
// shows it.
func (h *Handlers) showItem(w http.ResponseWriter, r *http.Request, page, name string, err error) {
	status, view := http.StatusOK, confirmView{ID: r.PathValue(name)}
	if err != nil {
		formErr, ok := h.FormErrorOf(w, r, err, nil)
		if !ok {
			return
		}
		status, view.Error = shell.StatusOf(err), formErr.Text
	}
	h.Show(w, r, status, pages[page],
		map[string]locale.Key{
			"key": "Delete API key", "assistant": "Delete the app", "draft": "Delete the post",
		}[page], view)
}

func (h *Handlers) forgetKey(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	id, err := shell.PathID(r, "key")
	if err == nil {
		err = h.erasure.DeleteKey(r.Context(), v.ID, v.Team.ID, id)
	}
	if err != nil {
		h.showItem(w, r, "key", "key", err)
		return
	}
	h.Flash(r, "The key was deleted.")
	shell.Redirect(w, r, "/settings/keys")
}

func (h *Handlers) forgetAssistant(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	id, err := shell.PathID(r, "connection")
	if err == nil {
		err = h.erasure.DeleteAssistant(r.Context(), v.ID, v.Team.ID, id)
	}
	if err != nil {
		h.showItem(w, r, "assistant", "connection", err)
		return
	}
	h.Flash(r, "The app was deleted.")
	shell.Redirect(w, r, "/settings/assistants")
}

func (h *Handlers) deleteDraft(w http.ResponseWriter, r *http.Request) {
	call, err := h.NewCall(r, "delete_draft")
	if err == nil {
		err = h.erasure.DeletePost(r.Context(), call.PersonID, call.TeamID, r.PathValue("id"))
	}
	if err != nil {
		h.showItem(w, r, "draft", "id", err)
		return
	}
	h.Flash(r, "The post was deleted.")
	shell.Redirect(w, r, "/posts")
}
