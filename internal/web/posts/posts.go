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

var pages = shell.Parse(files, shell.Data{
	"account": (*accountPageView)(nil), "bulkconfirm": confirmation{}, "calendar": (*calendarView)(nil),
	"end": (*view)(nil), "job": jobView{}, "job#live": jobView{}, "list": listView{}, "post": (*view)(nil),
	"post#live": (*view)(nil), "publish": (*view)(nil), "quick": quickView{}, "quick#live": quickView{},
}, template.FuncMap{"cut": truncate, "link": webAddress,
	"disabledByPause": disabledByPause, "places": preview.AccountsHTML,
	"sprite": shell.Sprite, "spriteIcon": shell.SpriteIcon, "spriteLogo": shell.SpriteLogo,
	"longestComment": func() int {
		return approval.MaxComment
	}}, templateFuncs)

// templateFuncs returns the template functions that depend on the visitor's language.
func templateFuncs(l *locale.Language) template.FuncMap {
	layout := func(layout locale.Layout) func(time.Time) string {
		return func(at time.Time) string { return l.Format(at, layout) }
	}
	return template.FuncMap{
		"known":         func(text string) string { return shell.TranslateText(l, text) },
		"problem":       func(text string) string { return preview.ProblemText(l, text) },
		"calendarState": func(s calendar.State) string { return l.T(calendarStateName(s)) },
		"moment":        func(m teamtime.Moment) template.HTML { return shell.MomentHTML(l, &m) },
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
	drafts    PostDeleter
	analytics *analytics.Service
}

// New returns the handlers.
func New(
	sh *shell.Shell, p *post.Service, approvals *approval.Service, d *delivery.Service, jobs *job.Store,
	library *media.Service, drafts PostDeleter, stats *analytics.Service,
) *Handlers {
	return &Handlers{sh, p, approvals, d, jobs, library, drafts, stats}
}

// Routes returns the routes of the pages. The operations check the visitor's role again.
func (p *Handlers) Routes() []shell.Route {
	return []shell.Route{
		{Pattern: "GET /posts", Audience: shell.Members, Handler: p.list},
		{Pattern: "POST /posts/bulk", Audience: shell.Writers, Handler: p.bulk},
		{Pattern: "GET /posts/posts.csv", Audience: shell.Members, Handler: p.export},
		{Pattern: "GET /calendar", Audience: shell.Members, Handler: p.calendar},
		{Pattern: "GET /posts/{id}", Audience: shell.Members, Handler: p.page},
		{Pattern: "GET /posts/{id}/quick", Audience: shell.Members, Handler: p.quick},
		{Pattern: "POST /posts/{id}/move", Audience: shell.Writers, Handler: p.move},
		{Pattern: "GET /posts/{id}/live", Audience: shell.Members, Handler: p.live},
		{Pattern: "GET /posts/{id}/accounts/{account}", Audience: shell.Members, Handler: p.account},
		{Pattern: "POST /posts/{id}/accounts/{account}/decision", Audience: shell.Publishers, Handler: p.decide},
		{Pattern: "GET /posts/{id}/publish", Audience: shell.Publishers, Handler: p.publishPage},
		{Pattern: "POST /posts/{id}/publish", Audience: shell.Publishers, Handler: p.publish},
		{Pattern: "POST /posts/{id}/schedule", Audience: shell.Publishers, Handler: p.schedule},
		{Pattern: "POST /posts/{id}/reschedule", Audience: shell.Writers, Handler: p.reschedule},
		{Pattern: "POST /posts/{id}/cancel", Audience: shell.Writers, Handler: p.cancel, SkipsSlot: true},
		{Pattern: "POST /posts/{id}/skip", Audience: shell.Writers, Handler: p.skip, SkipsSlot: true},
		{Pattern: "POST /posts/{id}/retry", Audience: shell.Publishers, Handler: p.retry},
		{Pattern: "POST /posts/{id}/duplicate", Audience: shell.Writers, Handler: p.duplicate},
		{Pattern: "POST /posts/{id}/edit-again", Audience: shell.Writers, Handler: p.editAgain},
		{Pattern: "POST /posts/{id}/archive", Audience: shell.Writers, Handler: p.archive},
		{Pattern: "POST /posts/{id}/approval/revoke", Audience: shell.Writers, Handler: p.revokeLinks},
		{Pattern: "POST /posts/{id}/approval/decision", Audience: shell.Clients, Handler: p.decideAsClient},
		{Pattern: "POST /posts/{id}/approval/comment", Audience: shell.Clients, Handler: p.commentAsClient},
		{Pattern: "POST /posts/{id}/series/resume", Audience: shell.Publishers, Handler: p.resume},
		{Pattern: "GET /posts/{id}/series/end", Audience: shell.Publishers, Handler: p.endPage},
		{Pattern: "POST /posts/{id}/series/end", Audience: shell.Publishers, Handler: p.end},
		{Pattern: "GET /jobs/{id}", Audience: shell.Members, Handler: p.job},
		{Pattern: "GET /jobs/{id}/live", Audience: shell.Members, Handler: p.jobLive},
	}
}
