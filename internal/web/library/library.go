// Package library is where people look after their team's media: images and videos with their folders, how they come
// in, what each is, where it is used, and how it goes.
package library

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"strconv"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"seconds": seconds})

// Part is these pages.
type Part struct {
	*shell.Frame

	media *media.Service
	posts *post.Service
}

// New makes them.
func New(f *shell.Frame, m *media.Service, p *post.Service) *Part { return &Part{f, m, p} }

// Routes are their addresses.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /media", For: shell.Members, Do: p.shown(p.grid)},
		{Pattern: "GET /media/add", For: shell.Writers, Do: p.addPage},
		{Pattern: "POST /media/uploads", For: shell.Writers, Do: p.upload},
		{Pattern: "POST /media/imports", For: shell.Writers, Do: p.importFile},
		{Pattern: "POST /media/downloads", For: shell.Spenders, Do: p.download},
		{Pattern: "GET /media/folder", For: shell.Writers, Do: p.folderPage},
		{Pattern: "POST /media/folder/new", For: shell.Writers, Do: p.makeFolder},
		{Pattern: "POST /media/folder/rename", For: shell.Writers, Do: p.renameFolder},
		{Pattern: "POST /media/folder/delete", For: shell.Writers, Do: p.deleteFolder},
		{Pattern: "GET /media/{id}", For: shell.Members, Do: p.shown(p.page)},
		{Pattern: "POST /media/{id}/rename", For: shell.Writers, Do: p.of(
			p.rename), Resumes: true, Page: "/media/{id}"},
		{Pattern: "POST /media/{id}/move", For: shell.Writers, Do: p.of(p.move)},
		{Pattern: "GET /media/{id}/delete", For: shell.Writers, Do: p.of(p.deletePage)},
		{Pattern: "POST /media/{id}/delete", For: shell.Writers, Do: p.of(p.delete)},
	}
}

// shown keeps the library from clients, who are shown what they are asked to approve.
func (p *Part) shown(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if shell.VisitorOf(r.Context()).Team.Role == access.Client {
			p.Missing(w, r)
			return
		}
		do(w, r)
	}
}

// asked is a request about one item.
type asked struct {
	*http.Request

	call operation.Call
	id   int64
}

// of reads which item an address is about, and who asks.
func (p *Part) of(do func(http.ResponseWriter, asked)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.IDIn(r, "id")
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		call, err := p.Acting(r, "media")
		if err != nil {
			p.Refuse(w, r, err)
			return
		}
		do(w, asked{r, call, id})
	}
}

// elsewhere shows an item of another of the person's teams, in that team.
func (p *Part) elsewhere(w http.ResponseWriter, r *http.Request, err error, id int64) {
	p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return p.media.Home(ctx, id, teams)
	})
}

// pathOf is where an item is shown.
func pathOf(id int64) string { return "/media/" + strconv.FormatInt(id, 10) }

// seconds is a video's length as people read it: 1:05.
func seconds(n float64) string {
	whole := int(n + 0.5)
	return strconv.Itoa(whole/60) + ":" + strconv.Itoa(100 + whole%60)[1:]
}

// numberOf is a number that a form or an address holds; 0 where it holds none.
func numberOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// fieldNames are what fields are called on the page, by the arguments that refusals name.
var fieldNames = map[string]string{
	"name": "Name", "folder_id": "Folder", "url": "Link", "filename": "Name", "platform": "Network", "type": "What",
	"username": "Profile", "limit": "How many", "query": "Name",
}
