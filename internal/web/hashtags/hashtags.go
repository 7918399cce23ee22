// Package hashtags serves the pages of hashtag lists and of hashtag searches.
package hashtags

import (
	"context"
	"embed"
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"all": allView{}, "delete": deleteView{}, "form": formView{}, "found": resultsView{}, "list": (*view)(nil),
	"search": searchView{},
}, nil, templateFuncs)

// Handlers serves the hashtag pages.
type Handlers struct {
	*shell.Shell

	lists *list.Service
	jobs  *job.Store
}

// New returns the handlers.
func New(sh *shell.Shell, lists *list.Service, jobs *job.Store) *Handlers {
	return &Handlers{sh, lists, jobs}
}

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /hashtags", Audience: shell.Members, Handler: h.listPage},
		{Pattern: "GET /hashtags/new", Audience: shell.Writers, Handler: h.newPage},
		{Pattern: "POST /hashtags/new", Audience: shell.Writers, Handler: h.create, RestoresForm: true},
		{Pattern: "GET /hashtags/search", Audience: shell.Members, Handler: h.searchPage},
		{Pattern: "POST /hashtags/search", Audience: shell.Spenders, Handler: h.search},
		{Pattern: "POST /hashtags/search/add", Audience: shell.Writers, Handler: h.addResults},
		{Pattern: "GET /hashtags/{id}", Audience: shell.Members, Handler: h.page},
		{Pattern: "GET /hashtags/{id}/use", Audience: shell.Writers, Handler: h.use},
		{Pattern: "GET /hashtags/{id}/text", Audience: shell.Members, Handler: h.text},
		{Pattern: "POST /hashtags/{id}/add", Audience: shell.Writers, Handler: h.withList(
			h.add), RestoresForm: true, Page: "/hashtags/{id}"},
		{Pattern: "POST /hashtags/{id}/remove", Audience: shell.Writers, Handler: h.withList(h.remove)},
		{Pattern: "POST /hashtags/{id}/copy", Audience: shell.Writers, Handler: h.withList(h.copyList)},
		{Pattern: "GET /hashtags/{id}/edit", Audience: shell.Writers, Handler: h.withList(h.editPage)},
		{Pattern: "POST /hashtags/{id}/edit", Audience: shell.Writers, Handler: h.withList(h.change), RestoresForm: true},
		{Pattern: "GET /hashtags/{id}/delete", Audience: shell.Writers, Handler: h.withList(h.deletePage)},
		{Pattern: "POST /hashtags/{id}/delete", Audience: shell.Writers, Handler: h.withList(h.delete)},
	}
}

// listRequest is a request about one list by a person who can write.
type listRequest struct {
	*http.Request

	call operation.Call
	list int64
}

// actor returns the caller as an actor of the audit log.
func (req listRequest) actor() auditlog.Actor { return auditlog.NewActor(req.call) }

// withList returns a handler that calls next with the ID of the list in the path. It rejects visitors who may not
// write.
func (h *Handlers) withList(next func(http.ResponseWriter, listRequest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.PathID(r, "id")
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		call, err := h.NewCall(r, "hashtag_lists")
		if err == nil {
			err = call.Require(access.Write)
		}
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		next(w, listRequest{r, call, id})
	}
}

// readList returns a list with all its hashtags.
func (h *Handlers) readList(r *http.Request, id int64) (list.HashtagList, error) {
	outcome, err := h.Do(r, "get_hashtag_list", operation.Arguments{"list_id": id})
	if err != nil {
		return list.HashtagList{}, err
	}
	return shell.Result[list.HashtagList](outcome)
}

// switchTeam handles an error for a page of a list. If a GET failed with not_found, but the list belongs to another of
// the person's teams, it switches to that team and redirects to the requested page. Otherwise it shows an error page.
func (h *Handlers) switchTeam(w http.ResponseWriter, r *http.Request, err error, id int64) {
	h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return h.lists.FindTeam(ctx, id, teams)
	})
}

// pathOf returns the path of a list.
func pathOf(id int64) string { return "/hashtags/" + strconv.FormatInt(id, 10) }
