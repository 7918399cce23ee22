// Package approvals serves the page on which clients approve posts, and the pages on which the team sends and manages
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

var pages = shell.Parse(files, nil, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{"longday": func(at time.Time) string { return l.Format(at, locale.LongDay) }}
})

// Handlers serves the pages.
type Handlers struct {
	*shell.Shell

	approvals *approval.Service
	posts     *post.Service
}

// New returns the handlers.
func New(f *shell.Shell, approvals *approval.Service, posts *post.Service) *Handlers {
	return &Handlers{f, approvals, posts}
}

// Routes returns the routes of the pages.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /approval/{token}", For: shell.Anyone, Do: p.page, OneFactor: true},
		{Pattern: "POST /approval/{token}", For: shell.Anyone, Do: p.act, OneFactor: true},
		{Pattern: "GET /approvals", For: shell.Writers, Do: p.inbox},
		{Pattern: "GET /approvals/new", For: shell.Writers, Do: p.askPage},
		{Pattern: "POST /approvals", For: shell.Writers, Do: p.ask},
		{Pattern: "GET /approvals/{id}", For: shell.Writers, Do: p.request},
		{Pattern: "POST /approvals/{id}/resend", For: shell.Writers, Do: p.resend},
		{Pattern: "POST /approvals/{id}/revoke", For: shell.Writers, Do: p.revoke},
		{Pattern: "POST /posts/{id}/comments", For: shell.Writers, Do: p.reply},
	}
}

// zone returns the time zone of the visitor's current team.
func (p *Handlers) zone(r *http.Request) (*time.Location, error) {
	zone, err := time.LoadLocation(shell.VisitorOf(r.Context()).Team.Timezone)
	if err != nil {
		return nil, fmt.Errorf("reading the time zone of a team: %w", err)
	}
	return zone, nil
}
