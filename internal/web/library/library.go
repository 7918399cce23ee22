// Package library serves the pages of the media library: listing, adding, editing and deleting images and videos, and
// their folders.
package library

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/media/crop"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"add": addView{}, "bulkdelete": deletion{}, "crop": cropView{}, "delete": view{}, "folder": folderView{},
	"grid": gridView{}, "item": view{}, "taken": removal{}, "texts": textsView{},
}, template.FuncMap{
	"seconds": formatSeconds, "length": func(d time.Duration) string { return formatSeconds(d.Seconds()) }, "marks": ariaAttributes,
}, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{"rate": func(n float64) string { return l.LocalizeDecimal(fmt.Sprintf("%.3g", n)) }}
})

// Handlers serves the library pages.
type Handlers struct {
	*shell.Shell

	media    *media.Service
	posts    *post.Service
	crops    *crop.Service
	composer Composer
}

// New returns the handlers.
func New(sh *shell.Shell, m *media.Service, p *post.Service, c Composer) *Handlers {
	return &Handlers{sh, m, p, crop.New(m), c}
}

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /media", Audience: shell.Members, Handler: h.hideFromClients(h.grid)},
		{Pattern: "POST /media/bulk", Audience: shell.Writers, Handler: h.bulk},
		{Pattern: "GET /media/alt", Audience: shell.Writers, Handler: h.textsPage},
		{Pattern: "POST /media/alt", Audience: shell.Writers, Handler: h.saveTexts, RestoresForm: true},
		{Pattern: "GET /media/add", Audience: shell.Writers, Handler: h.addPage},
		{Pattern: "POST /media/uploads", Audience: shell.Writers, Handler: h.upload},
		{Pattern: "POST /media/imports", Audience: shell.Writers, Handler: h.importFile},
		{Pattern: "POST /media/downloads", Audience: shell.Spenders, Handler: h.download},
		{Pattern: "GET /media/folder", Audience: shell.Writers, Handler: h.folderPage},
		{Pattern: "POST /media/folder/new", Audience: shell.Writers, Handler: h.createFolder},
		{Pattern: "POST /media/folder/rename", Audience: shell.Writers, Handler: h.renameFolder},
		{Pattern: "POST /media/folder/delete", Audience: shell.Writers, Handler: h.deleteFolder},
		{Pattern: "GET /media/{id}", Audience: shell.Members, Handler: h.hideFromClients(h.page)},
		{Pattern: "POST /media/{id}", Audience: shell.Writers, Handler: h.withItem(h.save), RestoresForm: true,
			Page: "/media/{id}"},
		{Pattern: "GET /media/{id}/crop", Audience: shell.Writers, Handler: h.withItem(h.cropPage)},
		{Pattern: "POST /media/{id}/crop", Audience: shell.Writers, Handler: h.withItem(h.crop)},
		{Pattern: "GET /media/{id}/delete", Audience: shell.Writers, Handler: h.withItem(h.deletePage)},
		{Pattern: "POST /media/{id}/delete", Audience: shell.Writers, Handler: h.withItem(h.delete)},
	}
}

// hideFromClients returns a handler that shows "not found" to people with the role Client, who are not allowed to see
// the library.
func (h *Handlers) hideFromClients(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if shell.VisitorOf(r.Context()).Team.Role == access.Client {
			h.NotFound(w, r)
			return
		}
		next(w, r)
	}
}

// itemRequest is a request about one media item.
type itemRequest struct {
	*http.Request

	call operation.Call
	id   int64
}

// withItem returns a handler that calls next with the ID of the item in the path.
func (h *Handlers) withItem(next func(http.ResponseWriter, itemRequest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := shell.PathID(r, "id")
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		call, err := h.NewCall(r, "media")
		if err != nil {
			h.ShowError(w, r, err)
			return
		}
		next(w, itemRequest{r, call, id})
	}
}

// switchTeam switches to the team of an item and redirects to the item. If the person does not belong to that team,
// it shows err.
func (h *Handlers) switchTeam(w http.ResponseWriter, r *http.Request, err error, id int64) {
	h.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
		return h.media.FindTeam(ctx, id, teams)
	})
}

// ariaAttributes returns the HTML attributes of a form field that has an error or a hint. hint is the id of the hint's
// element, or "".
func ariaAttributes(hasError bool, hint string) template.HTMLAttr {
	switch {
	case hasError && hint != "":
		return template.HTMLAttr(` aria-invalid="true" autofocus aria-describedby="` + hint + ` error"`) //nolint:gosec // an id
	case hasError:
		return ` aria-invalid="true" autofocus aria-describedby="error"`
	case hint != "":
		return template.HTMLAttr(` aria-describedby="` + hint + `"`) //nolint:gosec // as above
	}
	return ""
}

// pathOf returns the path of an item.
func pathOf(id int64) string { return "/media/" + strconv.FormatInt(id, 10) }

// formatSeconds formats a duration in seconds, such as "1:05".
func formatSeconds(n float64) string {
	total := int(n + 0.5)
	return strconv.Itoa(total/60) + ":" + strconv.Itoa(100 + total%60)[1:]
}

// parseNumber parses a number. It returns 0 if text is not a number or is negative.
func parseNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// fieldNames maps argument names to the labels of their fields.
var fieldNames = map[string]string{
	"name": "Name", "folder_id": "Folder", "url": "Link", "filename": "Name", "platform": "Network", "type": "Media type",
	"username": "Profile", "limit": "How many", "query": "Name", "alt": "Alt text",
	"left": "From the left", "top": "From the top", "width": "Width", "height": "Height", "part": "Crop area in pixels",
	"shape": "Aspect ratio",
}
