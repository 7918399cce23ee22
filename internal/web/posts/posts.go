// Package posts serves the list of posts, the calendar, the pages of posts with their delivery attempts, actions on
// posts, and the pages of background jobs.
package posts

import (
	"embed"
	"html/template"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

var pages = shell.Parse(files, template.FuncMap{"cut": cut, "link": webAddress,
	"disabledByPause": disabledByPause, "places": preview.Places,
	"sprite": shell.Sprite, "spriteIcon": shell.SpriteIcon, "spriteLogo": shell.SpriteLogo,
	"longestComment": func() int {
		return approval.MaxComment
	}}, inLanguage)

// inLanguage returns the template functions that depend on the visitor's language.
func inLanguage(l *locale.Language) template.FuncMap {
	layout := func(layout locale.Layout) func(time.Time) string {
		return func(at time.Time) string { return l.Format(at, layout) }
	}
	return template.FuncMap{
		"known":         func(text string) string { return shell.Text(l, text) },
		"problem":       func(text string) string { return preview.ProblemText(l, text) },
		"calendarState": func(s calendar.State) string { return l.T(calendarStateName(s)) },
		"moment":        func(m teamtime.Moment) template.HTML { return shell.WhenIn(l, &m) },
		"date":          layout(locale.Date), "shortTime": layout(locale.ShortTime), "weekday": layout(locale.Weekday),
		"shortWeekday": layout(locale.ShortWeekday), "monthName": layout(locale.ShortName),
		"weekdayDate": layout(locale.WeekdayDate), "shortTimeLayout": func() string { return l.Layout(locale.ShortTime) },
	}
}

// Handlers serves the post pages.
type Handlers struct {
	*shell.Shell

	posts     *post.Service
	approvals *approval.Service
	delivery  *delivery.Service
	jobs      *job.Store
	media     *media.Service
	drafts    Drafts
	analytics *analytics.Service
}

// New returns the handlers.
func New(
	f *shell.Shell, p *post.Service, approvals *approval.Service, d *delivery.Service, jobs *job.Store,
	library *media.Service, drafts Drafts, figures *analytics.Service,
) *Handlers {
	return &Handlers{f, p, approvals, d, jobs, library, drafts, figures}
}

// Routes returns the routes of the pages. The operations check the visitor's role again.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /posts", For: shell.Members, Do: p.list},
		{Pattern: "POST /posts/bulk", For: shell.Writers, Do: p.bulk},
		{Pattern: "GET /posts/posts.csv", For: shell.Members, Do: p.export},
		{Pattern: "GET /calendar", For: shell.Members, Do: p.calendar},
		{Pattern: "GET /posts/{id}", For: shell.Members, Do: p.page},
		{Pattern: "GET /posts/{id}/quick", For: shell.Members, Do: p.quick},
		{Pattern: "POST /posts/{id}/move", For: shell.Writers, Do: p.move},
		{Pattern: "GET /posts/{id}/live", For: shell.Members, Do: p.live},
		{Pattern: "GET /posts/{id}/accounts/{account}", For: shell.Members, Do: p.account},
		{Pattern: "POST /posts/{id}/accounts/{account}/decision", For: shell.Publishers, Do: p.decide},
		{Pattern: "GET /posts/{id}/publish", For: shell.Publishers, Do: p.publishPage},
		{Pattern: "POST /posts/{id}/publish", For: shell.Publishers, Do: p.publish},
		{Pattern: "POST /posts/{id}/schedule", For: shell.Publishers, Do: p.schedule},
		{Pattern: "POST /posts/{id}/reschedule", For: shell.Writers, Do: p.reschedule},
		{Pattern: "POST /posts/{id}/cancel", For: shell.Writers, Do: p.cancel, Urgent: true},
		{Pattern: "POST /posts/{id}/skip", For: shell.Writers, Do: p.skip, Urgent: true},
		{Pattern: "POST /posts/{id}/retry", For: shell.Publishers, Do: p.retry},
		{Pattern: "POST /posts/{id}/duplicate", For: shell.Writers, Do: p.duplicate},
		{Pattern: "POST /posts/{id}/edit-again", For: shell.Writers, Do: p.editAgain},
		{Pattern: "POST /posts/{id}/archive", For: shell.Writers, Do: p.archive},
		{Pattern: "POST /posts/{id}/approval/revoke", For: shell.Writers, Do: p.revokeLinks},
		{Pattern: "POST /posts/{id}/approval/decision", For: shell.Clients, Do: p.decideAsClient},
		{Pattern: "POST /posts/{id}/approval/comment", For: shell.Clients, Do: p.commentAsClient},
		{Pattern: "POST /posts/{id}/series/resume", For: shell.Publishers, Do: p.resume},
		{Pattern: "GET /posts/{id}/series/end", For: shell.Publishers, Do: p.endPage},
		{Pattern: "POST /posts/{id}/series/end", For: shell.Publishers, Do: p.end},
		{Pattern: "GET /jobs/{id}", For: shell.Members, Do: p.job},
		{Pattern: "GET /jobs/{id}/live", For: shell.Members, Do: p.jobLive},
	}
}
