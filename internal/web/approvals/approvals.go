// Package approvals serves the page where clients approve posts, and the pages where the team sends and manages
// approval requests.
package approvals

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"answer": replyView{}, "ask": newRequestView{}, "client": (*clientView)(nil),
	"deadlink": invalidLinkPage{}, "inbox": inboxView{}, "request": requestView{},
}, nil, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{"longday": func(at time.Time) string { return l.Format(at, locale.LongDay) }}
})

// Handlers serves the pages.
type Handlers struct {
	*shell.Shell

	approvals *approval.Service
	posts     *post.Service
}

// New returns the handlers.
func New(sh *shell.Shell, approvals *approval.Service, posts *post.Service) *Handlers {
	return &Handlers{sh, approvals, posts}
}

// Routes returns the routes of the pages.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /approval/{token}", Audience: shell.Anyone, Handler: h.page, AllowsOneFactor: true},
		{Pattern: "POST /approval/{token}", Audience: shell.Anyone, Handler: h.submitAction, AllowsOneFactor: true},
		{Pattern: "GET /approvals", Audience: shell.Writers, Handler: h.inbox},
		{Pattern: "GET /approvals/new", Audience: shell.Writers, Handler: h.newRequestPage},
		{Pattern: "POST /approvals", Audience: shell.Writers, Handler: h.createRequest},
		{Pattern: "GET /approvals/{id}", Audience: shell.Writers, Handler: h.request},
		{Pattern: "POST /approvals/{id}/resend", Audience: shell.Writers, Handler: h.resend},
		{Pattern: "POST /approvals/{id}/revoke", Audience: shell.Writers, Handler: h.revoke},
		{Pattern: "POST /posts/{id}/comments", Audience: shell.Writers, Handler: h.reply},
	}
}

// zone returns the time zone of the visitor's current team.
func (h *Handlers) zone(r *http.Request) (*time.Location, error) {
	zone, err := time.LoadLocation(shell.VisitorOf(r.Context()).Team.Timezone)
	if err != nil {
		return nil, fmt.Errorf("reading the time zone of a team: %w", err)
	}
	return zone, nil
}
