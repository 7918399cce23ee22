// Package hashtags is where people keep hashtag lists, their own and copies of the ready-made ones, and where they
// search for hashtags.
package hashtags

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/domain/job"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"rate": rate, "posts": posts, "drawn": drawn})

// Part is these pages.
type Part struct {
	*shell.Frame

	lists *list.Service
	jobs  *job.Store
}

// New makes them.
func New(f *shell.Frame, lists *list.Service, jobs *job.Store) *Part {
	return &Part{f, lists, jobs}
}

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /hashtags", For: shell.Members, Do: p.all},
		{Pattern: "GET /hashtags/new", For: shell.Writers, Do: p.newPage},
		{Pattern: "POST /hashtags/new", For: shell.Writers, Do: p.create, Resumes: true},
		{Pattern: "GET /hashtags/search", For: shell.Members, Do: p.searchPage},
		{Pattern: "POST /hashtags/search", For: shell.Spenders, Do: p.search},
		{Pattern: "POST /hashtags/search/add", For: shell.Writers, Do: p.addFound},
		{Pattern: "GET /hashtags/{id}", For: shell.Members, Do: p.page},
		{Pattern: "GET /hashtags/{id}/text", For: shell.Members, Do: p.text},
		{Pattern: "POST /hashtags/{id}/add", For: shell.Writers, Do: p.of(
			p.add), Resumes: true, Page: "/hashtags/{id}"},
		{Pattern: "POST /hashtags/{id}/remove", For: shell.Writers, Do: p.of(p.remove)},
		{Pattern: "POST /hashtags/{id}/copy", For: shell.Writers, Do: p.of(p.copyList)},
		{Pattern: "GET /hashtags/{id}/edit", For: shell.Writers, Do: p.of(p.editPage)},
		{Pattern: "POST /hashtags/{id}/edit", For: shell.Writers, Do: p.of(p.change), Resumes: true},
		{Pattern: "GET /hashtags/{id}/delete", For: shell.Writers, Do: p.of(p.deletePage)},
		{Pattern: "POST /hashtags/{id}/delete", For: shell.Writers, Do: p.of(p.delete)},
	}
}

// asked is a request of somebody who may write, about one list.
type asked struct {
	*http.Request

	call operation.Call
	list int64
}

func (a asked) by() auditlog.Actor { return auditlog.By(a.call) }

// of reads which list an address is about, and who asks.
func (p *Part) of(do func(http.ResponseWriter, asked)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.IDIn(r, "id")
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		call, err := p.Acting(r, "hashtag_lists")
		if err == nil {
			err = call.Require(access.Write)
		}
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		do(w, asked{r, call, id})
	}
}

// opened is a list with all that it holds.
func (p *Part) opened(r *http.Request, id int64) (list.HashtagList, error) {
	outcome, err := p.Do(r, "get_hashtag_list", operation.Arguments{"list_id": id})
	if err != nil {
		return list.HashtagList{}, err
	}
	return shell.Read[list.HashtagList](outcome)
}

// elsewhere shows a list of another of the person's teams, in that team.
func (p *Part) elsewhere(w http.ResponseWriter, r *http.Request, err error, id int64) {
	p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return p.lists.Home(ctx, id, teams)
	})
}

// pathOf is where a list is shown.
func pathOf(id int64) string { return "/hashtags/" + strconv.FormatInt(id, 10) }
