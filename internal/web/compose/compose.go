// Package compose serves the post editor. A post has a text, accounts, media, overrides per account, and a time or
// recurrence rule. The editor shows a preview and the networks' validation of unsaved input.
//
// The whole post is one form, which works without JavaScript. The buttons that save it are Save, Schedule, Publish and
// Send for approval. Other buttons change the form, but not the post.
package compose

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/web/datepicker"
	"pressroom.example/pressroom/internal/web/emoji"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"compose": (*view)(nil), "compose#creators": view{}, "compose#emoji": []emoji.Category{},
	"compose#fresh": view{}, "compose#hashtags": hashtagPanel{}, "compose#moment": view{},
	"compose#month": datepicker.Month{}, "compose#next": previewView{}, "compose#no threads": previewView{},
	"compose#part lengths": previewView{}, "compose#preview": (*previewView)(nil),
	"compose#split offer": previewView{}, "compose#suggestions": suggestions{},
	"compose#tallies": previewView{}, "compose#thread offer": previewView{}, "compose#twice": view{},
	"compose#voice": voiceCheck{}, "compose#zone": view{}, "confirm": (*confirmation)(nil),
}, template.FuncMap{
	"has": has[int64], "hasText": has[string], "often": frequencies, "anchor": anchor,
	"places": preview.AccountsHTML, "fieldOf": fieldOf, "inc": func(i int) int { return i + 1 },
}, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"clock":        func(at time.Time) string { return l.Format(at, locale.Clock) + at.Format(" (UTC-07:00)") },
		"hour":         func(at time.Time) string { return l.Format(at, locale.Clock) },
		"shortTime":    func(at time.Time) string { return l.Format(at, locale.ShortTime) },
		"factor":       func(f float64) string { return l.Decimal(f, 1) },
		"limits":       func(c creator) string { return limits(l, c) },
		"known":        func(text string) string { return shell.TranslateText(l, text) },
		"problem":      func(text string) string { return preview.ProblemText(l, text) },
		"category":     func(name string) string { return l.T(emoji.CategoryNames[name]) },
		"weekdays":     func() []weekday { return weekdaysOf(l) },
		"shortWeekday": func(code string) string { return shortWeekday(l, code) },
		"seconds":      func(d time.Duration) string { return l.LocalizeDecimal(seconds(d)) },
	}
})

// anchor returns an HTML link for use in a translated sentence.
func anchor(href, text string) template.HTML {
	out := `<a href="` + template.HTMLEscapeString(href) + `">` + template.HTMLEscapeString(text) + `</a>`
	return template.HTML(out) //nolint:gosec // escaped above
}

// Library is the part of the media library that the editor uses.
type Library interface {
	ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
	CheckForm(ctx context.Context, team, length int64) error
	Add(ctx context.Context, by media.Owner, f media.Incoming) (media.AddResult, error)
	Describe(ctx context.Context, person, id int64, alt string) error
}

// Handlers serves the editor.
type Handlers struct {
	*shell.Shell

	posts     *post.Service
	approvals *approval.Service
	library   Library
	creators  NetworkInfo
	readyMade ReadyMadeLists
	times     PostingTimes
}

// NetworkInfo provides what the editor needs to know about the networks: the settings of TikTok accounts, the default
// options of posts, and the rules for content.
type NetworkInfo interface {
	CreatorInfo(ctx context.Context, account int64) appcheck.Creator
	DefaultOptions(platform string) network.Options
	AddsToPlaylists(platform string) bool
	Rules(platform string) (network.Rules, bool)
}

// New returns the handlers.
func New(
	f *shell.Shell, posts *post.Service, approvals *approval.Service, library Library, creators NetworkInfo,
	readyMade ReadyMadeLists, times PostingTimes,
) *Handlers {
	return &Handlers{f, posts, approvals, library, creators, readyMade, times}
}

// Routes returns the routes of the editor. The routes of a post are open to all members: withPost looks up the post
// before it checks the role, because the post may belong to another of the person's teams.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /posts/new", Audience: shell.Writers, Handler: p.newPage},
		{Pattern: "POST /posts/new", Audience: shell.Members, Handler: p.requireWriter(p.submit), RestoresForm: true,
			AcceptsFiles: true},
		{Pattern: "POST /posts/preview", Audience: shell.Writers, Handler: p.preview},
		{Pattern: "GET /posts/hashtags", Audience: shell.Writers, Handler: p.hashtags},
		{Pattern: "GET /posts/month", Audience: shell.Writers, Handler: p.showMonth},
		{Pattern: "GET /posts/times", Audience: shell.Writers, Handler: p.showTimes},
		{Pattern: "GET /posts/emoji", Audience: shell.Writers, Handler: p.emoji},
		{Pattern: "POST /posts/unsaved", Audience: shell.Writers, Handler: p.keepUnsaved},
		{Pattern: "POST /posts/unsaved/discard", Audience: shell.Writers, Handler: p.discardUnsaved},
		{Pattern: "GET /posts/{id}/edit", Audience: shell.Members, Handler: p.withPost(p.editPage)},
		{Pattern: "POST /posts/{id}/edit", Audience: shell.Members, Handler: p.withPost(p.submit), RestoresForm: true,
			AcceptsFiles: true},
	}
}

// withPost wraps a handler for the post in the path. It calls do if the visitor may write in the selected team and the
// post belongs to that team. If a GET request is for a post in another of the visitor's teams, withPost selects that
// team and redirects. If a form with files is for a post in any of the visitor's open teams, withPost calls do, which
// checks the team after it parses the form.
func (p *Handlers) withPost(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		if _, err := p.postOf(r, id); err != nil {
			if shell.SendsFiles(r) && p.isInOwnTeam(r, id) { // receive checks the team in the form
				do(w, r)
				return
			}
			p.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
				return p.posts.FindTeam(ctx, id, teams)
			})
			return
		}
		p.requireWriter(do)(w, r)
	}
}

// isInOwnTeam reports whether a post belongs to one of the visitor's open teams.
func (p *Handlers) isInOwnTeam(r *http.Request, id string) bool {
	teams := []int64{}
	for _, t := range shell.VisitorOf(r.Context()).Teams {
		if !t.Closed {
			teams = append(teams, t.ID)
		}
	}
	_, err := p.posts.FindTeam(r.Context(), id, teams)
	return err == nil
}

// requireWriter wraps a handler for people who may write in the selected team. It does not check requests with files,
// because their team is known only after the form is parsed. The receive method checks these requests.
func (p *Handlers) requireWriter(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !shell.SendsFiles(r) && !shell.VisitorOf(r.Context()).Is(shell.Writers) {
			p.Forbid(w, r, shell.Writers)
			return
		}
		do(w, r)
	}
}

// postOf returns the selected team's post with the given ID, or a not_found error.
func (p *Handlers) postOf(r *http.Request, id string) (post.Record, error) {
	if named, err := uuid.Parse(id); err != nil || named.String() != id {
		return post.Record{}, apierr.ItemNotFound()
	}
	return p.posts.Load(r.Context(), shell.VisitorOf(r.Context()).Team.ID, id)
}

// actor returns the visitor as an actor of operations.
func (p *Handlers) actor(r *http.Request) (*access.Actor, error) {
	v := shell.VisitorOf(r.Context())
	return p.Teams.InApp(r.Context(), v.ID, v.Team.ID)
}
