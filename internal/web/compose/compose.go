// Package compose is where people write posts: text, accounts, media, what single accounts show in place of it, the
// time or the rule by which it recurs; with a preview and the networks' own counts of what is not kept yet.
//
// All of a post stands in one form. Whatever a button does but saving only shows the form again, so that it works
// without scripts and nothing is kept that nobody saved.
package compose

import (
	"context"
	"embed"
	"html/template"
	"mime"
	"net/http"

	"github.com/google/uuid"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files,
	template.FuncMap{
		"time": shell.Time, "parts": parts, "seconds": seconds, "clock": clock, "has": has[int64],
		"hasText": has[string], "often": often, "hour": hour,
	})

// Library is what the composer asks of the media library.
type Library interface {
	Of(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
	CheckForm(ctx context.Context, team, length int64) error
	Add(ctx context.Context, by media.Owner, f media.Incoming) (media.Arrived, error)
	Describe(ctx context.Context, person, id int64, alt string) error
}

// Part is these pages.
type Part struct {
	*shell.Frame

	posts     *post.Service
	approvals *post.Approvals
	library   Library
}

// New makes them.
func New(f *shell.Frame, posts *post.Service, approvals *post.Approvals, library Library) *Part {
	return &Part{f, posts, approvals, library}
}

// Routes are their addresses. A post is asked for before the role, as it may be of another of the person's teams.
func (p *Part) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /posts/new", For: shell.Writers, Do: p.newPage},
		{Pattern: "POST /posts/new", For: shell.Members, Do: p.writing(p.sent), Resumes: true, Files: true},
		{Pattern: "POST /posts/preview", For: shell.Writers, Do: p.preview},
		{Pattern: "GET /posts/{id}/edit", For: shell.Members, Do: p.own(p.editPage)},
		{Pattern: "POST /posts/{id}/edit", For: shell.Members, Do: p.own(p.sent), Resumes: true, Files: true},
	}
}

// own is for whoever may write in the team whose post it is. A post of another team of the person's has that team
// looked at.
func (p *Part) own(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if _, err := p.held(r, id); err != nil {
			p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
				return p.posts.FindTeam(ctx, id, teams)
			})
			return
		}
		p.writing(do)(w, r)
	}
}

// writing is for whoever may write in the team that is looked at. Of a form with files its team is known once it is
// read: upload asks again.
func (p *Part) writing(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !hasFiles(r) && !shell.VisitorOf(r.Context()).Is(shell.Writers) {
			p.Notice(w, r, http.StatusForbidden, "Not allowed",
				"Your role in this team does not allow this. An owner or admin of the team can give you another one.")
			return
		}
		do(w, r)
	}
}

func hasFiles(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data"
}

// held is a post of the team that is looked at.
func (p *Part) held(r *http.Request, id string) (post.Record, error) {
	if named, err := uuid.Parse(id); err != nil || named.String() != id {
		return post.Record{}, apierr.Missing()
	}
	return p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
}

// actor is the visitor, as the services know who acts.
func (p *Part) actor(r *http.Request) (*access.Actor, error) {
	v := shell.VisitorOf(r.Context())
	return p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
}
